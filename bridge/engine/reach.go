package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// reach determines who can be asked now.
type reach struct {
	openings  bridge.Openings
	presence  bridge.Presence
	platforms platforms
	composer  *composer
}

// findPeople determines who can be reached. If no one can, it sets the response
// undeliverable.
func (w *reach) findPeople(o *bridge.Opening, s bridge.Setting) error {
	i := o.Interaction
	var err error
	if o.Failures, err = w.failures(i); err != nil {
		return err
	}
	o.FrontEnds = s.FrontEnds
	closed := closedIn(i, o.Failures, s.Notes)
	if len(closed) == len(i.Destinations) && !o.FrontEnds {
		o.Failures = closed
		o.Response = &bridge.Response{State: bridge.StateUndeliverable, Reason: failureText(i, closed), Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: i.Digest}
	}
	return nil
}

// inChat reports whether a chat can take the answer to an interaction.
func (w *reach) inChat(ctx context.Context, i bridge.Interaction) (bool, error) {
	failures, err := w.failures(i)
	if err != nil {
		return bridge.ErrorCode(err) != bridge.CodeUnsupported, nil //nolint:nilerr // the interaction fits no chat
	}
	closed, err := w.closed(ctx, i, failures)
	return len(closed) < len(i.Destinations), err
}

// failures returns the reasons why destinations cannot show the interaction. It
// returns CodeUnsupported if the interaction does not fit any destination. A
// platform that is only unreachable does not count toward that. Each platform
// draws the card once, even if several of its channels show it.
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
			continue
		}
		if h, ok := p.(bridge.HealthReporter); ok {
			if s := h.Health(); s.State == bridge.HealthDown {
				failures[n] = d.Platform + ": " + s.Reason
			}
		}
	}
	if refused == len(i.Destinations) {
		return nil, refusal
	}
	return failures, nil
}

// closed returns by destination why no one can answer there: it cannot be
// reached, or it is read-only.
func (w *reach) closed(ctx context.Context, i bridge.Interaction, failures map[int]string) (map[int]string, error) {
	s, err := w.openings.Setting(ctx, bridge.SettingQuery{Notes: muteKeys(i.Destinations)})
	if err != nil {
		return nil, err
	}
	return closedIn(i, failures, s.Notes), nil
}

// closedIn is closed with the notes of muteKeys.
func closedIn(i bridge.Interaction, failures map[int]string, muted []string) map[int]string {
	out := map[int]string{}
	for n, d := range i.Destinations {
		if why := failures[n]; why != "" {
			out[n] = why
		} else if muted[n] != "" {
			out[n] = d.Platform + ": the channel is read-only"
		}
	}
	return out
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
	i, err := w.composer.interaction(agent, bridge.Request{Ask: bridge.Ask{
		Route: route, Session: session, Prompt: "?", Kind: bridge.KindAsk,
		Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText, MaxLength: 1}},
	}}, nil)
	if err != nil {
		return out, err
	}
	failures, err := w.failures(i)
	if err == nil {
		failures, err = w.closed(ctx, i, failures)
	}
	if err != nil {
		return out, err
	}
	for n, d := range i.Destinations {
		why, failed := failures[n]
		out.Destinations = append(out.Destinations, bridge.Reach{Destination: d, Reachable: !failed, Reason: why})
		out.Available = out.Available || !failed
	}
	if session != "" {
		if out.Clients, out.Enabled, err = w.presence.Present(ctx, session); err != nil {
			return out, err
		}
		out.Available = out.Available || out.Enabled > 0
	}
	return out, nil
}
