package slack

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/slackmsg"
)

// home shows the Home tab of the app.
type home struct {
	*workspace
	sink  bridge.Sink
	pages *pages
}

const (
	homeShown = 20               // maximum number of requests in the Home tab
	homeOpen  = 15 * time.Minute // time for which a tab counts as open after its person used it
	homeMost  = 100              // maximum number of tabs that are kept up to date
	homeEvery = 3 * time.Second  // interval at which nod looks for changes
	homeNote  = 30 * time.Second // time for which a note is shown
	homePace  = time.Second      // minimum time between two updates; Slack accepts 100 per minute
)

// pages holds the Home tabs that people may have open.
type pages struct {
	mu    sync.Mutex
	open  map[string]page // by user
	stale bool            // set when a card of this process has changed
}

// page holds the current view of a person.
type page struct {
	until time.Time
	shown string
	note  string // tells the person the result of a click
	noted time.Time
	order []bridge.ID // order of the pending requests since the person opened the tab
}

func newPages() *pages { return &pages{open: map[string]page{}} }

// changed records that a card has changed.
func (p *pages) changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = true
}

// takeChange reports whether a card has changed since the last call.
func (p *pages) takeChange() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.stale
	p.stale = false
	return was
}

// use records that a person used the tab, and a note for the person. If too
// many tabs are open, it forgets the tab that was not used for the longest
// time.
func (p *pages) use(user, note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	x := page{until: now.Add(homeOpen), shown: p.open[user].shown, note: note, noted: now}
	if note != "" { // the tab was already open
		x.order = p.open[user].order
	}
	p.open[user] = x
	if len(p.open) <= homeMost {
		return
	}
	oldest := user
	for u, x := range p.open {
		if x.until.Before(p.open[oldest].until) {
			oldest = u
		}
	}
	delete(p.open, oldest)
}

// noteTo returns the note that a person should still see, or "".
func (p *pages) noteTo(user string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.open[user]; time.Since(x.noted) < homeNote {
		return x.note
	}
	return ""
}

// arranged returns pending requests in the order in which a person first saw
// them since opening the tab, with new requests last. A request must not move
// while someone is about to click.
func (p *pages) arranged(user string, all []bridge.Waiting) []bridge.Waiting {
	p.mu.Lock()
	defer p.mu.Unlock()
	x, ok := p.open[user]
	id := func(w bridge.Waiting) bridge.ID { return w.View.Record.Interaction.ID }
	at := func(w bridge.Waiting) int {
		if n := slices.Index(x.order, id(w)); n >= 0 {
			return n
		}
		return len(x.order)
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b bridge.Waiting) int { return at(a) - at(b) })
	if x.order = nil; ok {
		for _, w := range all {
			x.order = append(x.order, id(w))
		}
		p.open[user] = x
	}
	return all
}

// sees records the content that a person sees, and reports whether it is new.
func (p *pages) sees(user, shown string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	x, ok := p.open[user]
	was := x.shown
	if x.shown = shown; ok {
		p.open[user] = x
	}
	return was != shown
}

// users returns the people who may have the tab open.
func (p *pages) users() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.open, func(_ string, x page) bool { return time.Now().After(x.until) })
	var out []string
	for user := range p.open {
		out = append(out, user)
	}
	return out
}

// show publishes the Home tab of a person who uses it, with a note, which may
// be empty.
func (h home) show(ctx context.Context, user, note string) {
	if user == "" {
		return
	}
	h.pages.use(user, note)
	if err := h.publish(ctx, user, true); err != nil {
		h.log.Warn("home tab not shown", "platform", h.name, "user", user, "error", err)
	}
}

// publish publishes the Home tab of a person. Unless forced, it does nothing if
// the content has not changed.
func (h home) publish(ctx context.Context, user string, forced bool) error {
	desk, ok := h.sink.(bridge.Desk)
	if !ok {
		return nil
	}
	all, err := desk.Overview(ctx, bridge.Actor{Platform: h.name, User: user}, homeShown)
	if err == nil {
		all.Waiting = h.pages.arranged(user, all.Waiting)
		page := slackmsg.Page{Overview: all, Note: h.pages.noteTo(user), Team: h.url(ctx), At: time.Now()}
		view := slackmsg.Home(page)
		if !h.pages.sees(user, content(view)) && !forced {
			return nil
		}
		err = h.put(ctx, user, page, view)
	}
	if err != nil {
		h.pages.sees(user, "")
	}
	return err
}

// put publishes a view. If Slack does not show all of it, the view has no
// controls.
func (h home) put(ctx context.Context, user string, page slackmsg.Page, view slack.HomeTabViewRequest) error {
	got, err := h.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: view})
	if err != nil {
		return h.classify("", err)
	}
	hidden := slackmsg.Hidden(view.Blocks.BlockSet, got.Blocks.BlockSet)
	if hidden == "" {
		return nil
	}
	h.log.Warn("home tab is incomplete and gets no controls", "platform", h.name, "user", user, "reason", hidden)
	page.Bare = true
	_, err = h.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: slackmsg.Home(page)})
	return h.classify("", err)
}

// content returns the content of a view without its last block, which contains
// the time.
func content(v slack.HomeTabViewRequest) string {
	blocks := v.Blocks.BlockSet
	raw, err := json.Marshal(blocks[:len(blocks)-1])
	if err != nil {
		return "" // encoding these blocks never fails
	}
	return string(raw)
}

// keep updates the open tabs after each change, until ctx ends. Cards of this
// process report changes. For cards of other daemons, it asks the sink.
func (h home) keep(ctx context.Context) {
	desk, ok := h.sink.(bridge.Desk)
	if !ok {
		return
	}
	last := ""
	for bridge.Pause(ctx, homeEvery) {
		users := h.pages.users()
		if len(users) == 0 {
			continue
		}
		now, err := desk.Changes(ctx)
		if err != nil {
			h.log.Debug("changes for the home tab not read", "platform", h.name, "error", err)
			continue
		}
		if stale := h.pages.takeChange(); now == last && !stale {
			continue
		}
		last = now
		for _, user := range users {
			pause := homePace
			if err := h.publish(ctx, user, false); err != nil {
				h.log.Debug("home tab not updated", "platform", h.name, "user", user, "error", err)
				h.pages.changed() // try again
				if e, ok := errors.AsType[*bridge.Error](err); ok {
					pause = max(pause, e.RetryAfter)
				}
			}
			if !bridge.Pause(ctx, pause) {
				return
			}
		}
	}
}

// clickedHome applies a click on the Home tab. The tab then shows the result of
// the click.
func (i inbound) clickedHome(ctx context.Context, in payload) reaction {
	user := in.User.ID
	note := func(text string) reaction {
		return reaction{then: func(ctx context.Context) { i.home.show(ctx, user, text) }}
	}
	if grant := slackmsg.Revoked(in.action().ID, in.action().Value); grant != "" {
		return note(i.home.revoke(ctx, i.actor(in), grant))
	}
	token, picked := in.control()
	if token == "" {
		return reaction{}
	}
	c := bridge.Click{Token: token, Picked: picked, Actor: i.actor(in), Inputs: inputs(in.View.State.of(in.action().Block))}
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		return i.forms.opening(ctx, c, in.TriggerID, false, func(text string) reaction {
			if text != "" {
				return note(text)
			}
			i.home.pages.use(user, "")
			return reaction{}
		})
	}
	v, err := i.sink.Click(ctx, c)
	if err != nil {
		i.log.Error("click not recorded", "platform", i.name, "error", err)
		return note(bridge.NotRecorded(err))
	}
	return note(strings.TrimSpace(v.Note + " " + v.Link))
}

// revoke revokes a grant on behalf of a person, and returns the reply.
func (h home) revoke(ctx context.Context, actor bridge.Actor, grant string) string {
	desk, ok := h.sink.(bridge.Desk)
	if !ok {
		return bridge.NoteNotDone
	}
	note, err := desk.RevokeAs(ctx, actor, grant)
	if err != nil {
		h.log.Error("grant not revoked", "platform", h.name, "error", err)
		return bridge.NoteNotDone
	}
	return note
}
