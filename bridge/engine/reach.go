package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/tell"
)

// reach determines who can be asked now.
type reach struct {
	presence  Presence
	platforms platforms
	composer  *composer
	notifier  *tell.Notifier
}

// findPeople determines the people who can be reached, and how. If no card can
// appear anywhere, or if the reachable people may never approve, it sets the
// response undeliverable. If no one can be reached now, a request with
// [bridge.Request.Now] is undeliverable too. For any other request, findPeople
// makes the first step that asks more people due immediately.
func (w *reach) findPeople(ctx context.Context, o *life.Opening, now bool) error {
	if why := w.composer.people.Impossible(o.Interaction); why != "" {
		o.Response = undeliverable(o.Interaction, why)
		return nil
	}
	unfound, anyone := w.notifier.Opened(ctx, &o.Interaction)
	i := o.Interaction
	var err error
	if o.FrontEnds, err = w.presence.answers(ctx, i.Session); err != nil {
		return err
	}
	if o.Failures, err = w.failures(i); err != nil {
		return err
	}
	down := w.down(i, o.Failures)
	none := len(down) == len(i.Destinations)
	switch {
	case o.FrontEnds:
	case len(o.Failures) == len(i.Destinations) || none && now:
		o.Response = undeliverable(i, failureText(i, down))
		return nil
	case !anyone || none || len(i.Told) > 0 && !tell.Tells(i.Told, down):
		i.Steps, _ = bridge.AskMoreBy(i.Steps, 0)
	}
	o.Interaction = w.notifier.LookAgain(i, unfound)
	return nil
}

func undeliverable(i bridge.Interaction, why string) *bridge.Response {
	return &bridge.Response{State: bridge.StateUndeliverable, Reason: why, Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: i.Digest}
}

// inChat reports whether a chat can take the answer to an interaction.
func (w *reach) inChat(i bridge.Interaction) bool {
	failures, err := w.failures(i)
	if err != nil {
		return bridge.ErrorCode(err) != bridge.CodeUnsupported // no chat can show the interaction
	}
	return len(w.down(i, failures)) < len(i.Destinations)
}

// down adds the destinations whose platform is currently down to the failures.
func (w *reach) down(i bridge.Interaction, failures map[int]string) map[int]string {
	all := maps.Clone(failures)
	for n, d := range i.Destinations {
		if err := bridge.Usable(w.platforms[d.Platform]); err != nil && all[n] == "" {
			all[n] = bridge.PublicError(err).Message
		}
	}
	return all
}

// failures returns the reasons that destinations can never show the
// interaction. It returns CodeUnsupported if no destination can show it. A
// platform that is unreachable or down may show it later. Each platform draws
// the card once, even if several of its channels show it.
func (w *reach) failures(i bridge.Interaction) (map[int]string, error) {
	failures := map[int]string{}
	checked := map[string]error{} // by platform
	var refusal *bridge.Error
	refused := 0
	for n, d := range i.Destinations {
		p, ok := w.platforms[d.Platform]
		if !ok {
			failures[n] = "platform " + d.Platform + " is not configured"
			continue
		}
		err, done := checked[d.Platform]
		if !done {
			err = p.Check(i)
			checked[d.Platform] = err
		}
		if err != nil {
			failures[n] = bridge.PublicError(err).Message
			refusal = bridge.PublicError(err)
			refused++
		}
	}
	if refused == len(i.Destinations) {
		return nil, refusal
	}
	return failures, nil
}

func failureText(i bridge.Interaction, failures map[int]string) string {
	var s []string
	for n := range i.Destinations {
		if f := failures[n]; f != "" && !slices.Contains(s, f) {
			s = append(s, f)
		}
	}
	return strings.Join(s, "; ")
}

// availability implements Engine.Availability.
func (w *reach) availability(ctx context.Context, agent bridge.Agent, route, session string) (bridge.Availability, error) {
	var out bridge.Availability
	i, err := w.composer.interaction(ctx, agent, bridge.Request{Ask: bridge.Ask{
		Route: route, Session: session, Prompt: "?", Kind: bridge.KindAsk,
		Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText, MaxLength: 1}},
	}}, nil)
	if err != nil {
		return out, err
	}
	failures, err := w.failures(i)
	if err != nil {
		return out, err
	}
	failures = w.down(i, failures)
	for n, d := range i.Destinations {
		why, failed := failures[n]
		out.Destinations = append(out.Destinations, bridge.Reach{Destination: d, Reachable: !failed, Reason: why})
		out.Available = out.Available || !failed
	}
	if out.Clients, out.Enabled, err = w.presence.Present(ctx, session); err != nil {
		return out, err
	}
	out.Available = out.Available || out.Enabled > 0
	return out, nil
}
