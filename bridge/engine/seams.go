package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Seams are the extension points of the engine. The engine calls the entries of
// each list in order, and knows nothing else about them. An engine without
// seams opens no requests, and lets no one decide.
type Seams struct {
	Openers   []Opener
	Clicks    []Decider[Click]    // called before a click counts
	Decisions []Decider[Decision] // called before a decision is stored
	Resolvers []Resolver
	Workers   []Worker
	Showers   []Shower
}

// An Opener takes part in the opening of a request. It may refuse the request,
// add to it, or answer it by setting its response. After an answer, only
// Openers with Always are called.
type Opener struct {
	Name   string
	Always bool
	Open   func(context.Context, *Draft) error
}

// Draft is a request that nod is about to open.
type Draft struct {
	life.Opening
	Ruling bridge.Ruling
	// If holds the versions of the documents on which the opening depends. If a
	// document has another version when the request is stored, the openers are
	// called again.
	If []broker.Version
	// Again means that the openers are called again. An Opener that relied on a
	// likely assumption must then read the actual state.
	Again bool
	// OnlyRules means that a request that no rule selects is left to its agent.
	// Now means that the request is undeliverable if no one can be reached now.
	OnlyRules, Now bool
	sameTool       bool // see Openings.alone
}

// A Decider checks an action of a person before it counts. A verdict is the
// reply to the person, and ends the checks.
type Decider[T any] struct {
	Name   string
	Decide func(context.Context, *T) (*bridge.Verdict, error)
}

// A Resolver takes part in a person's decision.
type Resolver struct {
	Name string
	// Also returns additions to the change that stores the decision or the vote; see
	// [core.Also].
	Also core.Also
	// Resolve follows up on the decision once it is stored. The decision is
	// recorded even if Resolve fails, so the failure is only logged. It may be nil.
	Resolve func(context.Context, bridge.Record) error
	// Again means that Resolve is repeated before a caller gets the response.
	Again bool
	// Send checks a closed request before its response is sent to a caller. It
	// may be nil.
	Send func(context.Context, bridge.Record) error
}

// A Worker does jobs of one kind. The engine itself draws cards.
type Worker struct {
	Kind life.JobKind
	// Work does a job. It returns nil if the job is done, Later if it is due
	// again, and Hopeless if it must not be repeated. The engine handles other
	// errors.
	Work func(context.Context, core.Job) error
	// GaveUp is called before a job is given up. It may be nil.
	GaveUp func(ctx context.Context, j core.Job, why string) error
}

// A Shower adds content to cards.
type Shower struct {
	Name string
	// Show adds to the view of a destination for a record.
	Show func(ctx context.Context, r bridge.Record, destination int, v *bridge.View) error
	// Shown is called after a card shows a new request or a closed one.
	Shown func(context.Context, bridge.Interaction)
}

// Later is the error of a job that is due again after a time. Without a reason, the
// attempt does not count.
type Later struct {
	In     time.Duration
	Reason string
}

// Error implements error.
func (l Later) Error() string { return "due again in " + l.In.String() + ": " + l.Reason }

// Hopeless is the error of a job that must not be repeated.
type Hopeless struct{ Err error }

// Error implements error.
func (h Hopeless) Error() string { return h.Err.Error() }

// Unwrap returns the reason.
func (h Hopeless) Unwrap() error { return h.Err }

// Use sets the seams. It must be called before the engine is used.
func (e *Engine) Use(s Seams) { *e.seams = s }

// open calls the openers until one answers the request.
func (s *Seams) open(ctx context.Context, d *Draft) error {
	if len(s.Openers) == 0 {
		return bridge.Errorf(bridge.CodeInternal, "no room opens requests")
	}
	for _, o := range s.Openers {
		if d.Response != nil && !o.Always {
			continue
		}
		if err := o.Open(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// checked calls deciders until one objects.
func checked[T any](ctx context.Context, all []Decider[T], it *T) (*bridge.Verdict, error) {
	if len(all) == 0 {
		return nil, bridge.Errorf(bridge.CodeInternal, "nothing checks what people decide")
	}
	for _, d := range all {
		if v, err := d.Decide(ctx, it); v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil //nolint:nilnil // no objection
}

// also returns the additions of all resolvers to the change that stores a
// person's decision.
func (s *Seams) also(ctx context.Context, r bridge.Record) (broker.Change, error) {
	var c broker.Change
	for _, x := range s.Resolvers {
		more, err := x.Also(ctx, r)
		if err != nil {
			return c, err
		}
		c = c.With(more)
	}
	return c, nil
}

// resolved asks the resolvers after a person's decision is stored.
func (s *Seams) resolved(ctx context.Context, r bridge.Record, log *slog.Logger) {
	for _, x := range s.Resolvers {
		if x.Resolve == nil {
			continue
		}
		if err := x.Resolve(ctx, r); err != nil {
			log.Warn("decision stored, but a step after it failed", "what", x.Name, "id", r.Interaction.ID, "repeated", x.Again, "error", err)
		}
	}
}

// repeated calls the resolvers again that must succeed before a caller gets the
// response.
func (s *Seams) repeated(ctx context.Context, r bridge.Record) error {
	for _, x := range s.Resolvers {
		if !x.Again {
			continue
		}
		if err := x.Resolve(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// send asks the resolvers whether the response of a closed request may be sent to
// a caller.
func (s *Seams) send(ctx context.Context, r bridge.Record) error {
	for _, x := range s.Resolvers {
		if x.Send == nil {
			continue
		}
		if err := x.Send(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// worker returns the worker for a kind of job, or nil if no worker does such
// jobs.
func (s *Seams) worker(kind life.JobKind) *Worker {
	for n := range s.Workers {
		if s.Workers[n].Kind == kind {
			return &s.Workers[n]
		}
	}
	return nil
}

// show lets the showers add to the view of a destination for a record.
func (s *Seams) show(ctx context.Context, r bridge.Record, destination int, v *bridge.View) error {
	for _, x := range s.Showers {
		if err := x.Show(ctx, r, destination, v); err != nil {
			return err
		}
	}
	return nil
}

// shown notifies the showers that a card shows a new request or a closed one.
func (s *Seams) shown(ctx context.Context, i bridge.Interaction) {
	for _, x := range s.Showers {
		x.Shown(ctx, i)
	}
}
