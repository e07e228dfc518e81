// Package escalation handles requests that no one answers: the steps of
// escalation policies, reminders, snoozes and delegation. It stores them as
// amendments of the request. Package tell decides who is notified, and how, and
// the engine applies the deadline. Start with [Room.Step].
package escalation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/clock"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/tell"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/render"
)

// Room takes the steps of escalation policies, and sends reminders. It is safe for
// concurrent use.
type Room struct {
	engine    *engine.Engine
	records   core.Interactions
	notes     documents.Notes
	platforms map[string]bridge.Platform
	directory bridge.Directory
	watcher   engine.Watcher
	log       *slog.Logger
}

// New returns the room of an engine.
func New(e *engine.Engine, o engine.Options) *Room {
	return &Room{
		engine: e, records: o.Store, notes: e.Notes, platforms: engine.ByName(o.Platforms), directory: o.Directory,
		watcher: engine.Watcher{Observer: o.Observer}, log: o.Log,
	}
}

// Click applies a click on a control that snoozes a reminder or delegates. It
// does not object to other clicks.
func (e *Room) Click(ctx context.Context, a *engine.Click) (*bridge.Verdict, error) {
	if a.Record.State.Final() || a.Form != nil {
		return nil, nil //nolint:nilnil // no objection
	}
	var apply func(context.Context, *engine.Click) (bridge.Verdict, error)
	switch a.Control.Action {
	case bridge.ActionSnooze:
		apply = e.snooze
	case bridge.ActionHandOver:
		apply = e.handOver
	default:
		return nil, nil //nolint:nilnil // no objection
	}
	v, err := apply(ctx, a)
	return &v, err
}

// again is the delay before a step is retried because another change came
// first.
const again = 250 * time.Millisecond

// Step takes the next step of an escalation policy exactly once. The store
// accepts the step only if it is still the next one.
func (e *Room) Step(ctx context.Context, j core.Job) error {
	r, err := e.records.Load(ctx, j.Interaction)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	i := r.Interaction
	if r.State.Final() || r.Step != j.Destination || j.Destination >= len(i.Steps) || !r.Queued.IsZero() {
		return nil
	}
	now, s := time.Now(), i.Steps[j.Destination]
	quiet := i.Quiet
	if s.For != "" {
		quiet = s.Quiet
	}
	if wait := quiet.Until(now, i.Risk).Sub(now); wait > 0 {
		return e.wait(ctx, j, r, wait)
	}
	if s.GiveUp != "" {
		_, _, err = e.records.Resolve(ctx, life.Resolution{ID: i.ID, Nonce: "give up", Expect: &r.Amended, Awaited: true, Response: bridge.Response{
			State: s.GiveUp, Reason: "no one answered, and the escalation policy ended", Annotations: map[string]bridge.Annotation{}, At: now.UTC().Truncate(time.Millisecond), Digest: i.Digest,
		}})
	} else {
		err = e.doStep(ctx, r, s)
	}
	if bridge.ErrorCode(err) == bridge.CodeConflict { // the retry loads the record again
		return engine.Later{In: again}
	}
	if err != nil {
		return err
	}
	e.log.Info("escalated", "id", i.ID, "step", j.Destination)
	return nil
}

// wait postpones a step. In a request for several routes, it does not postpone
// the steps of the other routes.
func (e *Room) wait(ctx context.Context, j core.Job, r bridge.Record, wait time.Duration) error {
	i := r.Interaction
	if len(i.Requirements) > 1 {
		i.Steps = bridge.Postpone(i.Steps, j.Destination, wait)
		wait = time.Duration(i.Steps[j.Destination].After)
		err := engine.Amend(ctx, e.records, r, life.Amendment{Expect: r.Amended, Interaction: i})
		if bridge.ErrorCode(err) == bridge.CodeConflict {
			wait, err = again, nil
		}
		if err != nil {
			return err
		}
	}
	return engine.Later{In: wait}
}

func (e *Room) doStep(ctx context.Context, r bridge.Record, s bridge.Step) error {
	i := r.Interaction
	t := e.engine.Notifier.Telling(ctx, r, &i)
	t.Step = r.Step + 1
	if len(s.Ask) > 0 {
		asked := t.Ask(s.Ask)
		asked.For = s.For
		i.Add(asked)
	}
	if s.Route != "" {
		t.Route(s)
		i.Add(bridge.Addition{For: s.For, Route: s.Route, Responders: s.Responders, Groups: s.Groups})
	}
	if s.AsksMore() && !t.Reached {
		i.Steps = atOnce(i.Steps, r.Step+1)
	}
	i.Unfound = slices.DeleteFunc(slices.Clone(i.Unfound), func(u bridge.Unfound) bool { return slices.Contains(s.Ask, u.Name) })
	i = tell.Look(i, r.Step+1, s, t.Unfound)
	i.Names = e.engine.People.Names(i)
	a := life.Amendment{Expect: r.Amended, Interaction: i, Then: life.StepAt(i, r.Step+1), Wider: s.AsksMore(), Reminders: t.Reminders("")}
	if s.Remind {
		a.Reminders = e.needed(ctx, r)
	}
	return engine.Amend(ctx, e.records, r, a)
}

// atOnce returns the steps of a policy with the step at the index n due
// immediately, because no one was notified who could answer in the meantime. A
// step that gives up keeps its time.
func atOnce(steps []bridge.Step, n int) []bridge.Step {
	if n < len(steps) && steps[n].GiveUp == "" {
		steps = slices.Clone(steps)
		steps[n].After = 0
	}
	return steps
}

// needed returns reminders that mention the responders whose response is
// missing. A destination has none if all of its responders have decided or
// snoozed the request.
func (e *Room) needed(ctx context.Context, r bridge.Record) []bridge.Reminder {
	var out []bridge.Reminder
	for n := range r.Interaction.Destinations {
		if _, posted := r.Messages[n]; !posted {
			continue
		}
		m := bridge.Reminder{Destination: n, Again: true}
		who, others := e.engine.Notifier.Needed(ctx, r, n)
		if len(who) == 0 && others {
			continue
		}
		for _, who := range who {
			if who.Group != "" {
				m.Groups = append(m.Groups, who.Group)
			} else {
				m.Users, m.Names = append(m.Users, who.User), append(m.Names, who.Name)
			}
		}
		out = append(out, m)
	}
	return out
}

// Remind sends a reminder, unless the request was closed in the meantime. If the card
// was deleted or its channel is closed, Remind posts the card again.
func (e *Room) Remind(ctx context.Context, j core.Job) error {
	r, err := e.records.Load(ctx, j.Interaction)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	if err != nil || r.State.Final() {
		return err
	}
	if j.Destination >= len(r.Reminders) {
		return bridge.Errorf(bridge.CodeInternal, "reminder %d of %d does not exist", j.Destination, len(r.Reminders))
	}
	m := r.Reminders[j.Destination]
	p, err := engine.PlatformFor(e.platforms, j, r, m.Destination)
	if err != nil {
		return err
	}
	poster, ok := p.(bridge.ReminderPoster)
	ref, posted := r.Messages[m.Destination]
	switch {
	case !ok || m.Snoozer != "" && tell.Decided(r, m.Snoozer):
		return nil
	case !posted && r.Failures[m.Destination] != "":
		return nil // the card shows this
	case !posted:
		return bridge.Errorf(bridge.CodeUnavailable, "the card is not posted yet")
	}
	done, err := e.engine.Slot(p.Name())
	if err != nil {
		return err
	}
	defer done()
	if m.Text == "" {
		m.Text = words.StillWaiting(r, time.Now())
	}
	key := ""
	if m.Again {
		var first bool
		if key, first, err = e.collect(ctx, r, &m); err != nil || !first {
			return err
		}
	}
	began := time.Now()
	err = poster.Remind(ctx, r.Interaction.Destinations[m.Destination], ref, m)
	if err != nil && key != "" {
		err = errors.Join(err, e.notes.Unclaim(ctx, key))
	}
	e.watcher.Did(j, p.Name(), r, began, err)
	if deleted := errors.Is(err, bridge.ErrDeleted); deleted || errors.Is(err, bridge.ErrClosed) {
		if lost := e.engine.CardGone(ctx, r, m.Destination); deleted || lost != nil {
			return lost
		}
	}
	return err
}

// remindedFor is the time in which reminders of several requests for the same
// people in a channel are combined into one.
const remindedFor = time.Minute

// collect claims the reminder of people in a channel. It returns false if they
// were reminded there recently. The reminder states the number of other pending
// requests in the channel. A request that was opened after the reminder waits
// for its own.
func (e *Room) collect(ctx context.Context, r bridge.Record, m *bridge.Reminder) (key string, first bool, err error) {
	d := r.Interaction.Destinations[m.Destination]
	key = "reminded:" + bridge.HashText(strings.Join(slices.Concat([]string{d.Platform, d.Channel, d.Thread}, m.Users, m.Groups), "\n"))
	now := time.Now()
	note, err := e.notes.PutNote(ctx, key, string(r.Interaction.ID)+" "+now.UTC().Format(time.RFC3339Nano), remindedFor)
	if err != nil {
		return key, false, err
	}
	by, since, _ := strings.Cut(note, " ")
	if by != string(r.Interaction.ID) {
		last, err := time.Parse(time.RFC3339Nano, since)
		wait := last.Add(remindedFor).Sub(now)
		if err != nil || !r.Interaction.Created.After(last) {
			return key, false, nil // the last reminder counted this request
		}
		if now.Add(wait).Before(r.Interaction.Deadline) {
			err := bridge.Errorf(bridge.CodeRateLimited, "these people were reminded here moments ago")
			err.RetryAfter = max(wait, time.Second)
			return key, false, err
		}
		key = "" // the next reminder would be too late, so this one is sent without a claim
	}
	others, _, err := e.engine.Pending(ctx, 0, func(o bridge.Record) (bool, error) {
		return o.Interaction.ID != r.Interaction.ID && o.Interaction.ShownIn(d.Platform, []string{d.Channel}), nil
	})
	if n := len(others.Items); n > 0 {
		m.Text += fmt.Sprintf(" (and %d more in this channel: /%s pending)", n, bridge.CommandName)
	}
	return key, true, err
}

// snooze schedules a reminder for one person. A person has at most one such
// reminder for each request.
func (e *Room) snooze(ctx context.Context, a *engine.Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	if i.Snooze == 0 {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	m := bridge.Reminder{
		Destination: a.Control.Destination, Users: []string{a.Actor.User}, Names: []string{a.Who.Display()}, Text: "you asked to be reminded: " + words.About(a.Record),
		Snoozer: a.Who.Voter(), Due: clock.Snooze(time.Now(), time.Duration(i.Snooze), i.Deadline).UTC().Truncate(time.Millisecond),
	}
	due, waits := tell.Snoozed(a.Record, m.Snoozer)
	if !waits {
		err := engine.AmendNow(ctx, e.records, i.ID, func(r bridge.Record) life.Amendment {
			next := life.Amendment{Expect: r.Amended, Interaction: r.Interaction}
			if due, waits = tell.Snoozed(r, m.Snoozer); !waits { // no other click has already set the reminder
				due, next.Reminders, next.Delay = m.Due, []bridge.Reminder{m}, time.Until(m.Due)
			}
			return next
		})
		if err != nil {
			return bridge.Verdict{}, err
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictNoted, Note: fmt.Sprintf("nod will remind you at %s. The request stays open until %s.", render.When(due), render.When(i.Deadline))}, nil
}

// Untold records that nod gave up a message that notifies people of a request.
func (e *Room) Untold(ctx context.Context, j core.Job, why string) error {
	r, err := e.records.Load(ctx, j.Interaction)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return nil
	case err != nil:
		return err
	case r.State.Final() || j.Destination >= len(r.Reminders) || !r.Reminders[j.Destination].Tells:
		return nil
	}
	err = engine.AmendNow(ctx, e.records, j.Interaction, func(r bridge.Record) life.Amendment {
		a := life.Amendment{Expect: r.Amended, Interaction: r.Interaction}
		a.Interaction.Told = e.engine.Notifier.WithoutMessage(r.Interaction, r.Reminders[j.Destination], why)
		tell.Hurry(&a, r)
		return a
	})
	if bridge.ErrorCode(err) == bridge.CodeConflict {
		return nil
	}
	return err
}
