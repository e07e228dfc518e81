package console

import (
	"net/http"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// card is a request in the form that the page shows. Its texts are cleaned, and
// its HTML contains only markup that nod wrote.
type card struct {
	ID         bridge.ID    `json:"id"`
	State      bridge.State `json:"state"`
	Headline   string       `json:"headline"`
	Head       string       `json:"head"` // Headline as HTML
	From       string       `json:"from"`
	Agent      string       `json:"agent"`
	Session    string       `json:"session,omitempty"`
	Route      string       `json:"route,omitempty"`
	Body       string       `json:"body"`    // HTML
	Closing    string       `json:"closing"` // HTML
	Digest     string       `json:"digest,omitempty"`
	Receipt    string       `json:"receipt,omitempty"`
	Created    time.Time    `json:"created"`
	Deadline   time.Time    `json:"deadline"`
	Risk       string       `json:"risk,omitempty"`
	MayAnswer  bool         `json:"may_answer"`
	Decisions  []decision   `json:"decisions"`
	Fields     []field      `json:"fields"`
	Declinable bool         `json:"declinable"`
	Input      string       `json:"input,omitempty"`   // input of an approval, for editing
	Confirm    string       `json:"confirm,omitempty"` // label of the text that an approver must type
	Terms      int          `json:"terms"`             // returned with the decision
	Seen       string       `json:"seen,omitempty"`    // content hash, returned with an approval
	Together   bool         `json:"together"`          // may be decided together with other requests
	Notes      []string     `json:"notes"`
	Asked      []string     `json:"asked"`
	Timeline   []moment     `json:"timeline"`
}

type decision struct {
	ID    bridge.Decision `json:"id"`
	Label string          `json:"label"`
	Tone  string          `json:"tone"`  // "good", "bad" or "plain"
	Wants string          `json:"wants"` // "reason", "input", "confirm" or empty
}

type field struct {
	ID          string          `json:"id"`
	Label       string          `json:"label"`
	Hint        string          `json:"hint,omitempty"`
	Widget      bridge.Widget   `json:"widget"`
	Many        bool            `json:"many"`
	Required    bool            `json:"required"`
	Other       bool            `json:"other"`
	Placeholder string          `json:"placeholder,omitempty"`
	Options     []bridge.Option `json:"options"`
	Value       []string        `json:"value"`
}

// moment is an entry of the timeline.
type moment struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// shown returns the record that the URL of r names, if the actor may read it.
func (c *Console) shown(r *http.Request, actor bridge.Actor) (bridge.Record, error) {
	id, err := bridge.ParseID(r.PathValue("id"))
	if err != nil {
		return bridge.Record{}, err
	}
	return c.shownID(r, id, actor)
}

// shownID returns a record if the actor may read it.
func (c *Console) shownID(r *http.Request, id bridge.ID, actor bridge.Actor) (bridge.Record, error) {
	rec, err := c.engine.Shown(r.Context(), id)
	if err != nil {
		return rec, err
	}
	may, err := c.readable(r, actor)(rec)
	if err == nil && !may {
		err = bridge.NotFound(id)
	}
	if err != nil {
		return bridge.Record{}, err
	}
	return rec, nil
}

func (c *Console) card(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	rec, err := c.shown(r, actor)
	if err != nil {
		return nil, err
	}
	return c.cardFor(r, rec, actor)
}

// cardFor returns a card with the decisions that the actor may make.
func (c *Console) cardFor(r *http.Request, rec bridge.Record, actor bridge.Actor) (card, error) {
	i := rec.Interaction
	may := c.engine.People.MayAnswer(r.Context(), i, actor)
	deny := !may && i.Kind == bridge.KindApproval && c.engine.People.MayDeny(r.Context(), i, actor)
	out := newCard(rec, (may || deny) && !rec.State.Final() && i.Kind != bridge.KindNotice)
	if deny {
		out.Decisions = slices.DeleteFunc(out.Decisions, func(d decision) bool { return d.ID.Approves() })
	}
	return out, nil
}

// shortDigest returns the start of the digest that an approval is bound to.
func shortDigest(i bridge.Interaction) string {
	if i.Approval == nil || len(i.Digest) < 12 {
		return ""
	}
	return "sha256:" + i.Digest[:12]
}

// personal returns the view of a record for one person who may read it. It shows
// private requests, which only the cards of a channel hide.
func personal(rec bridge.Record) bridge.View {
	v := bridge.NewView(rec, 0, nil, nil)
	v.Revealed = true
	return v
}

func newCard(rec bridge.Record, may bool) card {
	i := rec.Interaction
	view := personal(rec)
	face := render.NewCard(view, func(bridge.Question) bool { return rec.State.Final() })
	out := card{
		ID: i.ID, Terms: i.Terms, State: rec.State, Headline: face.HeadText(), Head: inline(face.Head), From: face.From, Agent: render.Line(i.Agent), Session: render.Line(i.Session), Route: i.Route,
		Body: html(face.Body), Closing: html(face.Closing), Digest: shortDigest(i), Receipt: rec.Receipt,
		Created: i.Created, Deadline: i.Deadline, Risk: render.Risk(i), MayAnswer: may,
		Together:  together(i) && slices.Contains(i.Decisions(), bridge.DecideOnce),
		Decisions: []decision{}, Fields: []field{}, Declinable: i.Declinable, Notes: []string{}, Asked: []string{}, Timeline: timeline(rec),
	}
	if rec.State.Final() {
		out.Body += html(face.Questions)
	} else {
		out.Body += html(render.ScopeNotes(i)) // the page has every control below the body
		for _, q := range i.Questions {
			if q.Composite() {
				out.Body += html(render.PartsTitle(q))
			}
		}
		out.Notes = append(out.Notes, render.Notes(view)...)
	}
	for _, who := range i.Responders {
		if name := i.NameOf(who.Person); !slices.Contains(out.Asked, name) {
			out.Asked = append(out.Asked, name)
		}
	}
	for _, g := range i.Groups {
		out.Asked = append(out.Asked, bridge.GroupMark+g)
	}
	if i.Approval != nil {
		out.Input, out.Confirm = string(i.Approval.Input), i.Approval.Confirm
		if out.Confirm != "" {
			out.Confirm = render.ConfirmLabel(*i.Approval)
		}
		all := i.Decisions()
		for _, n := range render.Ordered(i) {
			out.Decisions = append(out.Decisions, newDecision(i, all[n]))
		}
	}
	for _, f := range i.Fields() {
		out.Fields = append(out.Fields, newField(f))
	}
	if !rec.State.Final() {
		out.Seen = i.Content
	}
	return out
}

func newDecision(i bridge.Interaction, d bridge.Decision) decision {
	out := decision{ID: d, Label: render.DecisionLabel(i, d), Tone: map[render.Tone]string{render.Good: "good", render.Bad: "bad", render.Plain: "plain"}[render.DecisionTone(i, d)]}
	switch {
	case d == bridge.DecideDenyReason, d == bridge.DecideRespond:
		out.Wants = "reason"
	case d == bridge.DecideEdit:
		out.Wants = "input"
	case d.Approves() && i.Approval.Confirm != "":
		out.Wants = "confirm"
	}
	return out
}

func newField(f bridge.Field) field {
	out := field{
		ID: f.ID, Label: render.FieldName(f), Widget: f.Widget, Many: f.Multiple(), Required: f.Required == nil || *f.Required, Other: f.AllowOther, Placeholder: render.Line(f.Placeholder),
		Options: []bridge.Option{}, Value: []string{},
	}
	if text := render.PlainText(render.Markdown(f.Text)); text != "" {
		f.Text = text
		out.Label = render.FieldName(f)
	}
	out.Hint = render.Clean(f.Description)
	for n, o := range f.Options {
		out.Options = append(out.Options, bridge.Option{Value: o.Value, Label: render.OptionLabel(f.Question, n, 200, render.Runes), Description: render.Clean(o.Description), Preview: render.Clean(o.Preview)})
	}
	for _, a := range []*bridge.Answer{f.Initial, f.Default} {
		if a != nil && len(out.Value) == 0 {
			out.Value = a.Values()
		}
	}
	return out
}

// timeline returns the history of a request, oldest entry first.
func timeline(rec bridge.Record) []moment {
	i := rec.Interaction
	out := []moment{{i.Created, render.Line(i.Agent) + " asked"}}
	add := func(at time.Time, text string) {
		if !at.IsZero() {
			out = append(out, moment{at, render.Line(text)})
		}
	}
	add(rec.Queued, "deferred by the agent")
	for _, v := range rec.Votes {
		add(v.At, v.Actor.Display()+" on "+v.Actor.Platform+" said "+string(v.State)+v.Assurance.With())
	}
	if resp := rec.Response; resp != nil {
		by := ""
		if resp.Actor != nil {
			by = " by " + resp.Actor.Display() + " on " + resp.Actor.Platform + resp.Assurance.With()
		}
		add(resp.At, string(rec.State)+by)
	}
	add(rec.Delivered, "delivered to the agent")
	slices.SortStableFunc(out, func(a, b moment) int { return a.At.Compare(b.At) })
	return out
}
