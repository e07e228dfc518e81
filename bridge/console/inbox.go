package console

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

const (
	// inboxPage is the number of requests on a page.
	inboxPage = 50
	// soon is the time before the deadline at which a request becomes urgent.
	soon = 5 * time.Minute
	// Limits of a request that a list shows in full.
	wholeLines = 14
	wholeRunes = 2000
	// previewLines is the number of lines that a list shows of a longer
	// request.
	previewLines = 4
)

// row is a request in a list.
type row struct {
	ID       bridge.ID    `json:"id"`
	State    bridge.State `json:"state"`
	Title    string       `json:"title"`
	Head     string       `json:"head"` // Title as HTML
	From     string       `json:"from"`
	Agent    string       `json:"agent"`
	Session  string       `json:"session,omitempty"`
	Route    string       `json:"route,omitempty"`
	Risk     string       `json:"risk,omitempty"`
	Votes    string       `json:"votes,omitempty"`
	Created  time.Time    `json:"created"`
	Deadline time.Time    `json:"deadline"`
	Closed   time.Time    `json:"closed,omitzero"`
	By       string       `json:"by,omitempty"`
	Mine     bool         `json:"mine"`
	// Card is the complete request. It is nil if the list shows only a part of
	// it. Preview then holds its first lines, and Lines the number of all
	// lines.
	Card    *card  `json:"card,omitempty"`
	Preview string `json:"preview,omitempty"`
	Lines   int    `json:"lines,omitempty"`
}

// counts are the numbers of pending requests.
type counts struct {
	Mine   int `json:"mine"`
	Others int `json:"others"`
	Soon   int `json:"soon"` // number of Mine with a deadline in less than 5 minutes
}

// inbox is a page of pending requests, the next deadline first.
type inbox struct {
	Counts counts   `json:"counts"`
	Items  []row    `json:"items"`
	Total  int      `json:"total"` // matches the filter
	Page   int      `json:"page"`
	Pages  int      `json:"pages"`
	More   bool     `json:"more"` // some later requests were not examined
	Lacks  string   `json:"lacks"`
	Agents []string `json:"agents"`
	Routes []string `json:"routes"`
	People []string `json:"people"`
}

// pendingFor is a pending request with the right of the person to answer it.
type pendingFor struct {
	record bridge.Record
	mine   bool
}

// readable returns a function that reports whether the person of r may read a
// record.
func (c *Console) readable(r *http.Request, actor bridge.Actor) func(bridge.Record) (bool, error) {
	p, _ := c.sessions.of(r)
	return func(rec bridge.Record) (bool, error) {
		if p.Auditor {
			return true, nil
		}
		return c.engine.People.MayRead(r.Context(), rec.Interaction, actor), nil
	}
}

// isMine reports whether a request needs the actor: the actor may answer it and
// has not voted on it.
func (c *Console) isMine(ctx context.Context, rec bridge.Record, actor bridge.Actor) (bool, error) {
	voted := slices.ContainsFunc(rec.Votes, func(v bridge.Vote) bool { return v.Actor.Same(actor) })
	if voted || rec.Interaction.Kind == bridge.KindNotice {
		return false, nil
	}
	return c.engine.People.MayAnswer(ctx, rec.Interaction, actor), nil
}

// inbox lists the pending requests that the person may read.
func (c *Console) inbox(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	q := r.URL.Query()
	since, until, err := days(q)
	if err != nil {
		return nil, err
	}
	records, more, err := c.engine.Pending(r.Context(), 0, c.readable(r, actor))
	if err != nil {
		return nil, err
	}
	out := inbox{Items: []row{}, More: more, Lacks: bridge.Lacks(records.Unreadable, "request")}
	agents, routes, people := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var found []pendingFor
	for _, rec := range records.Items {
		i := rec.Interaction
		mine, err := c.isMine(r.Context(), rec, actor)
		if err != nil {
			return nil, err
		}
		out.Counts.add(i, mine)
		agents[i.Agent], routes[i.Route] = true, true
		for _, who := range i.Responders {
			people[who.Person] = true
		}
		if whose(q.Get("who"), mine) && matches(q, rec) && between(i.Created, since, until) {
			found = append(found, pendingFor{rec, mine})
		}
	}
	out.Agents, out.Routes, out.People = names(agents), names(routes), names(people)
	out.Total, out.Pages = len(found), max(1, (len(found)+inboxPage-1)/inboxPage)
	page, _ := strconv.Atoi(q.Get("page")) // any other value selects the first page
	out.Page = min(max(page, 1), out.Pages)
	from := (out.Page - 1) * inboxPage
	for _, x := range found[from:min(from+inboxPage, len(found))] {
		line, err := c.pendingRow(r, x, actor)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, line)
	}
	return out, nil
}

func (n *counts) add(i bridge.Interaction, mine bool) {
	switch {
	case !mine:
		n.Others++
	default:
		n.Mine++
		if time.Until(i.Deadline) < soon {
			n.Soon++
		}
	}
}

// whose reports whether a list contains a request. A list contains all
// requests, the person's own requests, or the requests of others.
func whose(who string, mine bool) bool {
	switch who {
	case "all":
		return true
	case "others":
		return !mine
	case "none": // only the counts
		return false
	}
	return mine
}

func names(set map[string]bool) []string {
	delete(set, "")
	return append([]string{}, slices.Sorted(maps.Keys(set))...) // never nil, because that would become null in JSON
}

// matches reports whether a record matches the filters of a URL.
func matches(q url.Values, rec bridge.Record) bool {
	i := rec.Interaction
	if v := q.Get("route"); v != "" && i.Route != v {
		return false
	}
	if v := q.Get("person"); v != "" && !concerns(rec, v) {
		return false
	}
	return bridge.ListFilter{Agent: q.Get("agent"), Session: q.Get("session"), Text: q.Get("text")}.Match(rec)
}

// concerns reports whether a person may answer a request, has answered it, or
// is its requester.
func concerns(rec bridge.Record, person string) bool {
	i := rec.Interaction
	if i.Requester == person || slices.ContainsFunc(i.Responders, func(r bridge.Responder) bool { return r.Person == person }) {
		return true
	}
	if rec.Response != nil && rec.Response.Actor != nil && rec.Response.Actor.Person == person {
		return true
	}
	return slices.ContainsFunc(rec.Votes, func(v bridge.Vote) bool { return v.Actor.Person == person })
}

// newRow returns the line of a record, without its content.
func newRow(rec bridge.Record) row {
	i := rec.Interaction
	out := row{
		ID: i.ID, State: rec.State, Title: render.Title(rec), Head: inline(render.Head(rec)), Agent: render.Line(i.Agent), Session: render.Line(i.Session), Route: i.Route,
		Risk: render.Risk(i), Created: i.Created, Deadline: i.Deadline,
	}
	if q := max(i.Quorum, 1); q > 1 && !rec.State.Final() {
		out.Votes = strconv.Itoa(rec.Approvals()) + " of " + strconv.Itoa(q) + " approved"
	}
	if resp := rec.Response; resp != nil {
		out.Closed = resp.At
		if resp.Actor != nil {
			out.By = render.Line(resp.Actor.Display()) + " on " + resp.Actor.Platform + resp.Assurance.With()
		}
	}
	return out
}

// pendingRow returns the line of a pending request with its content, or with a
// preview if the content is long.
func (c *Console) pendingRow(r *http.Request, x pendingFor, actor bridge.Actor) (row, error) {
	out := newRow(x.record)
	out.Mine = x.mine
	full, err := c.cardFor(r, x.record, actor)
	if err != nil {
		return row{}, err
	}
	out.From = full.From
	body := render.NewCard(personal(x.record), listNone).Body
	lines := linesOf(body)
	if len(lines) <= wholeLines && len(full.Body) <= wholeRunes {
		out.Card = &full
		return out, nil
	}
	out.Lines = len(lines)
	// The preview is code, so it omits the text from the agent.
	lines = linesOf(slices.DeleteFunc(slices.Clone(body), func(b render.Block) bool { return b.Kind == render.Quote }))
	out.Preview = render.Cut(strings.Join(lines[:min(previewLines, len(lines))], "\n"), 400, render.Runes)
	return out, nil
}

func linesOf(body []render.Block) []string {
	return strings.Split(strings.TrimSpace(render.PlainText(body)), "\n")
}

// listNone hides the options of a question in the text of a card, because the
// page has a control for each.
func listNone(bridge.Question) bool { return false }

// history lists requests in any state, newest first.
func (c *Console) history(_ http.ResponseWriter, r *http.Request, actor bridge.Actor) (any, error) {
	q := r.URL.Query()
	since, until, err := days(q)
	if err != nil {
		return nil, err
	}
	may := c.readable(r, actor)
	var failed error
	page, err := c.engine.List(r.Context(), bridge.ListFilter{
		State: bridge.State(q.Get("state")), Session: q.Get("session"), Agent: q.Get("agent"), Text: q.Get("text"),
		Since: since, Until: until, Cursor: q.Get("cursor"), Limit: inboxPage,
		May: func(rec bridge.Record) bool {
			if !matches(q, rec) {
				return false
			}
			ok, err := may(rec)
			if err != nil {
				failed = err
			}
			return ok && err == nil
		},
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	items := []row{}
	for _, rec := range page.Items {
		items = append(items, newRow(rec))
	}
	routes, people := c.choices()
	return map[string]any{"items": items, "next": page.Next, "routes": routes, "people": people}, nil
}

// choices returns the names of routes, and of the people in them, for the
// filters of the history.
func (c *Console) choices() (routes, people []string) {
	named := map[string]bool{}
	all := c.engine.Routes()
	for _, r := range all {
		for _, who := range r.Responders {
			named[who.Person] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(all))...), append([]string{}, slices.Sorted(maps.Keys(named))...)
}

// days returns the time from the start of the date since to the end of the date
// until. A time is zero if the query does not limit it.
func days(q url.Values) (since, until time.Time, err error) {
	if since, err = day(q, "since", 0); err == nil {
		until, err = day(q, "until", 1)
	}
	return since, until, err
}

func between(at, since, until time.Time) bool {
	return !at.Before(since) && (until.IsZero() || at.Before(until))
}

// day returns the start of a date in the query, plus a number of days. It
// returns the zero time if there is no date.
func day(q url.Values, name string, plus int) (time.Time, error) {
	if q.Get(name) == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, q.Get(name)); err == nil {
		return t, nil // the page knows the person's time zone
	}
	t, err := time.Parse(time.DateOnly, q.Get(name))
	if err != nil {
		return t, bridge.Errorf(bridge.CodeInvalid, "%s: enter a date such as 2026-11-21", name)
	}
	return t.AddDate(0, 0, plus), nil
}
