package console

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// reply is the body that the page sends: a decision, or values by field.
type reply struct {
	Decision bridge.Decision     `json:"decision"`
	Reason   string              `json:"reason"`
	Input    string              `json:"input"`
	Confirm  string              `json:"confirm"`
	Terms    *int                `json:"terms"`
	Seen     string              `json:"seen"` // digest of the card that the page shows
	Values   map[string][]string `json:"values"`
	Others   map[string]string   `json:"others"`
	Decline  bool                `json:"decline"`
}

func (c *Console) answer(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	var in reply
	if err := read(r, &in); err != nil {
		return nil, err
	}
	rec, err := c.shown(r, actor)
	if err != nil {
		return nil, err
	}
	if err := checkSeen(rec, in.Decision, in.Seen); err != nil {
		return nil, err
	}
	full := bridge.Reply{Decision: in.Decision, Reason: in.Reason, Confirm: in.Confirm, Terms: in.Terms, Decline: in.Decline}
	if strings.TrimSpace(in.Input) != "" {
		full.Input = json.RawMessage(in.Input)
	}
	if rec.Interaction.Kind == bridge.KindAsk && !in.Decline {
		problems := fill(&full, rec.Interaction, in)
		if len(problems) > 0 && !rec.State.Final() {
			return map[string]any{"problems": problems}, nil
		}
	}
	rec, err = c.engine.Answer(r.Context(), rec.Interaction.ID, actor, full)
	if link := linkOf(err); link != "" {
		return map[string]any{"sign": link}, nil
	}
	if err != nil {
		return nil, err
	}
	return c.cardFor(r, rec, actor)
}

// checkSeen returns CodeConflict for an approval if the page does not show the
// current content. It accepts every denial, because the engine refuses denials
// of closed requests.
func checkSeen(rec bridge.Record, d bridge.Decision, seen string) error {
	if rec.State.Final() || !d.Approves() || seen != "" && seen == rec.Interaction.Content {
		return nil
	}
	return bridge.Errorf(bridge.CodeConflict, "the page does not show the current content of this request, so nothing was recorded").
		WithHint("read the request again, then decide")
}

// maxTogether is the number of requests that one call decides.
const maxTogether = inboxPage

// several is the body of a call that decides several requests.
type several struct {
	Decision bridge.Decision `json:"decision"`
	Items    []struct {
		ID    bridge.ID `json:"id"`
		Seen  string    `json:"seen"`
		Terms *int      `json:"terms"`
	} `json:"items"`
}

// outcome is the result of a decision for one of several requests.
type outcome struct {
	ID    bridge.ID    `json:"id"`
	State bridge.State `json:"state,omitempty"`
	Error string       `json:"error,omitempty"`
}

// together reports whether a request may be decided together with others. Some
// requests need a separate decision: those with a risk level, a typed
// confirmation or a signature, and those of an agent that does not want
// approval to stand out.
func together(i bridge.Interaction) bool {
	a := i.Approval
	alone := i.StepUp != "" || render.Risk(i) != ""
	return i.Kind == bridge.KindApproval && !alone && a != nil && a.Confirm == "" && !a.DefaultNo
}

// answers decides several requests in the same way. Each request gets its own
// outcome, and each approval must contain the content that the page shows.
func (c *Console) answers(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	var in several
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if in.Decision != bridge.DecideOnce && in.Decision != bridge.DecideDeny {
		return nil, bridge.Errorf(bridge.CodeInvalid, "decision: %q is not allowed for several requests (once or deny)", in.Decision)
	}
	if n := len(in.Items); n == 0 || n > maxTogether {
		return nil, bridge.Errorf(bridge.CodeInvalid, "items: %d requests are out of range (1 to %d)", n, maxTogether)
	}
	out := []outcome{}
	for _, item := range in.Items {
		done := outcome{ID: item.ID}
		rec, err := c.shownID(r, item.ID, actor)
		switch {
		case err != nil:
		case in.Decision.Approves() && !together(rec.Interaction):
			err = bridge.Errorf(bridge.CodeForbidden, "this request must be decided separately")
		default:
			if err = checkSeen(rec, in.Decision, item.Seen); err == nil {
				rec, err = c.engine.Answer(r.Context(), item.ID, actor, bridge.Reply{Decision: in.Decision, Terms: item.Terms})
			}
		}
		if done.State = rec.State; err != nil {
			done.Error = bridge.PublicError(err).Message
		}
		out = append(out, done)
	}
	return map[string]any{"items": out}, nil
}

// fill sets the answers of full from the values of fields. It returns the
// problems by field.
func fill(full *bridge.Reply, i bridge.Interaction, in reply) map[string]string {
	d := bridge.Draft{Answers: map[string]bridge.Answer{}, Others: in.Others}
	fields := i.Fields()
	for _, f := range fields {
		values := in.Values[f.ID]
		switch {
		case f.Multiple():
			d.Answers[f.ID] = bridge.ListAnswer(values...)
		case len(values) > 0:
			d.Answers[f.ID] = bridge.TextAnswer(values[0])
		default:
			d.Answers[f.ID] = bridge.Answer{}
		}
	}
	resp, wrong := i.Respond(&d)
	problems := map[string]string{}
	for n, text := range wrong {
		if n >= 0 && n < len(fields) {
			problems[fields[n].ID] = text
		}
	}
	full.Answers, full.Others = map[string]bridge.Answer{}, map[string]string{}
	for _, q := range i.Questions {
		switch a, given := resp.Answers[q.ID]; {
		case in.Others[q.ID] != "":
			full.Others[q.ID] = in.Others[q.ID]
			full.Answers[q.ID] = d.Answers[q.ID]
		case given:
			full.Answers[q.ID] = a
		}
	}
	return problems
}
