package engine

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestPost checks that a posted card is noted with its message and content, and
// that the job ends.
func TestPost(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.store.Put(t, fake.Question("Ship it?"))
	if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, r.Interaction.ID, 0)); err != nil {
		t.Fatal(err)
	}
	o.outcomes("post done")
	got := o.store.Get(r.Interaction.ID)
	if got.Messages[0] != (bridge.MessageRef{Channel: "C", Message: "1"}) || !Shows(got, 0) {
		t.Errorf("the card is not noted: %+v, shown %v", got.Messages, got.Shown)
	}
	// A second job for the same card posts nothing. It draws the card again, because the
	// first may have ended before it noticed a change.
	if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, r.Interaction.ID, 0)); err != nil {
		t.Fatal(err)
	}
	if len(o.chat.Posts) != 1 {
		t.Errorf("%d cards were posted; want 1", len(o.chat.Posts))
	}
	o.outcomes("post done", "redraw 0", "post done")
}

// TestPostErrors checks what each kind of error makes of a job.
func TestPostErrors(t *testing.T) {
	t.Parallel()
	away := bridge.Errorf(bridge.CodeUnavailable, "no connection")
	limited, flood := bridge.Errorf(bridge.CodeRateLimited, "slow down"), bridge.Errorf(bridge.CodeRateLimited, "come back tomorrow")
	limited.RetryAfter, flood.RetryAfter = 7*time.Second, 2*time.Hour
	paced, crowded := bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "its turn comes later"),
		bridge.Wrap(bridge.CodeRateLimited, bridge.ErrPaced, "its turn comes much later")
	paced.RetryAfter, crowded.RetryAfter = 9*time.Second, 3*time.Hour
	for name, c := range map[string]struct {
		err     error
		attempt int
		want    string
		open    time.Duration // of the hour that the request has
		failed  string        // the failure that people see; empty if the destination is not given up
		late    bool
	}{
		"away":              {err: away, attempt: 1, want: "post retry in 250ms"},
		"away for a while":  {err: away, attempt: 4, want: "post retry in 2s"},
		"away for minutes":  {err: away, attempt: 20, want: "post retry in 1m0s", open: 20 * time.Minute, late: true},
		"away half of it":   {err: away, attempt: 40, want: "post retry in 1m0s", open: 31 * time.Minute, late: true},
		"away near the end": {err: away, attempt: 99, want: "post retry in 8s", open: 59*time.Minute + 50*time.Second, late: true},
		"away for too long": {
			err: away, attempt: 100, open: 59*time.Minute + 59*time.Second, want: "post dead: unavailable: no connection", failed: "no connection",
		},
		"rate limited":         {err: limited, attempt: 1, want: "post retry in 7s, in its place", late: true},
		"rate limited forever": {err: limited, attempt: 50, want: "post retry in 1m0s, in its place", late: true},
		"rate limited longer than the request": {
			err: flood, attempt: 1, want: "post dead: rate_limited: come back tomorrow", failed: "come back tomorrow",
		},
		"account refused once": {
			err: bridge.Wrap(bridge.CodeForbidden, bridge.ErrRefused, "refused"), attempt: 1, want: "post retry in 250ms",
		},
		"timeout":                       {err: context.DeadlineExceeded, attempt: 1, want: "post retry in 250ms"},
		"paced":                         {err: paced, attempt: 1, want: "post retry in 8.92s, not counted", late: true},
		"paced longer than the request": {err: crowded, attempt: 1, want: "post retry in 59m58s, not counted", late: true},
		"not allowed": {
			err: bridge.Errorf(bridge.CodeForbidden, "not in the channel"), attempt: 1,
			want: "post dead: forbidden: not in the channel", failed: "not in the channel",
		},
		"not allowed, with its meaning": {
			err: &bridge.Error{Code: bridge.CodeForbidden, Message: "slack: not_in_channel", Means: "nod may not post in the channel"}, attempt: 1,
			want: "post dead: forbidden: slack: not_in_channel", failed: "nod may not post in the channel: slack: not_in_channel",
		},
		"stored incompletely": {
			err: bridge.Errorf(bridge.CodeUnsupported, "the end is missing"), attempt: 1,
			want: "post dead: unsupported: the end is missing", failed: "the end is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				i := fake.Question("Ship it?")
				i.Created, i.Deadline = i.Created.Add(-c.open), i.Deadline.Add(-c.open)
				r := o.store.Put(t, i)
				o.chat.Errs = []error{c.err}
				j := o.store.Work(life.JobPost, r.Interaction.ID, 0)
				j.Attempt = c.attempt
				if err := o.dispatcher.do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				o.outcomes(c.want)
				got := o.store.Get(r.Interaction.ID)
				if got.Failures[0] != c.failed {
					t.Errorf("the failure is %q; want %q", got.Failures[0], c.failed)
				}
				if late := !got.Late[0].IsZero(); late != c.late {
					t.Errorf("late is %v; want %v", late, c.late)
				}
			})
		})
	}
}

// TestPostInParts checks that a part that was sent is recorded and not sent
// again, and that progress does not count against the attempts.
func TestPostInParts(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.store.Put(t, fake.Question("Ship it?"))
	o.chat.Parts, o.chat.Errs = 2, []error{bridge.Errorf(bridge.CodeUnavailable, "no connection")}
	j := o.store.Work(life.JobPost, r.Interaction.ID, 0)
	j.Attempt = 6
	for range 2 {
		if err := o.dispatcher.do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	o.outcomes("post retry in 250ms, not counted", "post done")
	if n := len(o.chat.Sent[1]); n != 2 {
		t.Errorf("the second try knew %d parts; want 2", n)
	}
}

// TestEditErrors checks what each kind of error makes of the edit of a card: an
// outcome is drawn until it is drawn, and told in a reply if it never can be.
func TestEditErrors(t *testing.T) {
	t.Parallel()
	away := bridge.Errorf(bridge.CodeUnavailable, "no connection")
	refused := bridge.Wrap(bridge.CodeForbidden, bridge.ErrRefused, "refused")
	frozen := bridge.Wrap(bridge.CodeConflict, bridge.ErrFrozen, "cannot be changed")
	deleted := bridge.Wrap(bridge.CodeNotFound, bridge.ErrDeleted, "deleted")
	archived := bridge.Wrap(bridge.CodeForbidden, bridge.ErrClosed, "archived")
	for name, c := range map[string]struct {
		err     error
		attempt int
		open    time.Duration // of the hour that the request has
		state   bridge.State
		hidden  bool // the card does not show its request in full
		want    []string
		told    bool
		failed  string
	}{
		"closed, away":              {err: away, attempt: 500, state: bridge.StateApproved, want: []string{"edit retry in 1m0s"}},
		"closed, refused once":      {err: refused, attempt: 1, state: bridge.StateApproved, want: []string{"edit retry in 250ms"}},
		"closed, refused for hours": {err: refused, attempt: 500, state: bridge.StateApproved, want: []string{"edit retry in 1m0s"}},
		"closed, frozen": {
			err: frozen, attempt: 1, state: bridge.StateApproved, told: true,
			want: []string{"edit dead: conflict: cannot be changed: the message cannot be changed"},
		},
		"closed, archived": {
			err: archived, attempt: 1, state: bridge.StateApproved, told: true, want: []string{"edit dead: forbidden: archived: the channel is closed"},
		},
		"pending, archived": {err: archived, attempt: 1, want: []string{"post again 0", "edit done"}},
		"closed, deleted":   {err: deleted, attempt: 1, state: bridge.StateApproved, want: []string{"edit done"}},
		"pending, away":     {err: away, attempt: 500, want: []string{"edit retry in 1m0s"}},
		"pending, deleted":  {err: deleted, attempt: 1, want: []string{"post again 0", "edit done"}},
		"in part, away":     {err: away, attempt: 500, hidden: true, open: 45 * time.Minute, want: []string{"edit retry in 1m0s"}},
		"in part, too late": {
			err: away, attempt: 500, hidden: true, open: time.Hour, failed: "no connection",
			want: []string{"edit dead: unavailable: no connection"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			i := fake.Question("Ship it?")
			i.Created, i.Deadline = i.Created.Add(-c.open), i.Deadline.Add(-c.open)
			r := o.store.Put(t, i)
			r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
			if !c.hidden {
				r.Shown = map[int]string{0: r.Interaction.Content}
			}
			if c.state != "" {
				r.State, r.Response = c.state, &bridge.Response{State: c.state, At: time.Now()}
			}
			o.store.Set(r)
			o.chat.Errs = []error{c.err}
			j := o.store.Work(life.JobEdit, r.Interaction.ID, 0)
			j.Attempt = c.attempt
			if err := o.dispatcher.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			o.outcomes(c.want...)
			if got := len(o.chat.Reminded) > 0; got != c.told {
				t.Errorf("the outcome is told in a reply: %v, want %v", got, c.told)
			}
			if got := o.store.Get(r.Interaction.ID).Failures[0]; got != c.failed {
				t.Errorf("the failure is %q, want %q", got, c.failed)
			}
		})
	}
}

// TestWithheld checks that a service which fails at the text of a request, while it
// takes others, shows the request or its end without that text, and that nod goes on
// trying a pending one.
func TestWithheld(t *testing.T) {
	t.Parallel()
	fails, refuses := bridge.Errorf(bridge.CodeUnavailable, "HTTP 500"), bridge.Errorf(bridge.CodeInvalid, "HTTP 400")
	for name, c := range map[string]struct {
		kind     life.JobKind
		err      error
		attempt  int
		over     bool // the request
		shown    bool // the card shows the request
		want     []string
		withheld bool
	}{
		"post, at first":        {kind: life.JobPost, err: fails, attempt: 5, want: []string{"post retry in 4s"}},
		"post, again and again": {kind: life.JobPost, err: fails, attempt: 6, withheld: true, want: []string{"redraw 0", "post done"}},
		"post, much later":      {kind: life.JobPost, err: fails, attempt: 60, withheld: true, want: []string{"redraw 0", "post done"}},
		"post, refused":         {kind: life.JobPost, err: refuses, attempt: 1, want: []string{"post dead: invalid: HTTP 400"}},
		"edit":                  {kind: life.JobEdit, err: fails, attempt: 6, withheld: true, want: []string{"edit retry in 8s"}},
		"edit, still readable":  {kind: life.JobEdit, err: fails, attempt: 6, shown: true, want: []string{"edit retry in 8s"}},
		"end, at first":         {kind: life.JobEdit, err: fails, attempt: 5, over: true, shown: true, want: []string{"edit retry in 4s"}},
		"end, again and again":  {kind: life.JobEdit, err: fails, attempt: 6, over: true, shown: true, withheld: true, want: []string{"edit done"}},
		"end, refused":          {kind: life.JobEdit, err: refuses, attempt: 1, over: true, shown: true, withheld: true, want: []string{"edit done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			r := o.store.Put(t, fake.Question("Ship it?"))
			if c.kind == life.JobEdit {
				r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
			}
			if c.shown {
				r.Shown = map[int]string{0: r.Interaction.Content}
			}
			if c.over {
				r.State, r.Response = bridge.StateDenied, &bridge.Response{State: bridge.StateDenied, At: time.Now()}
			}
			o.store.Set(r)
			o.chat.Picky = c.err
			j := o.store.Work(c.kind, r.Interaction.ID, 0)
			j.Attempt = c.attempt
			if err := o.dispatcher.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			o.outcomes(c.want...)
			if got := len(o.chat.Views) == 1 && o.chat.Views[0].Withheld; got != c.withheld || len(o.chat.Reminded) > 0 {
				t.Errorf("the card without its request: %v, want %v; told in a reply: %v", got, c.withheld, o.chat.Reminded)
			}
			if got := o.store.Get(r.Interaction.ID); Shows(got, 0) != c.shown {
				t.Errorf("the card counts as shown: %v, want %v", !c.shown, c.shown)
			}
		})
	}
}

// TestDeletedCard checks that a card that someone deleted is posted again, once,
// however nod finds that out, and that the destination is given up then.
func TestDeletedCard(t *testing.T) {
	t.Parallel()
	deleted := bridge.Wrap(bridge.CodeNotFound, bridge.ErrDeleted, "deleted")
	for name, find := range map[string]func(*office, bridge.Record) error{
		"edit": func(o *office, r bridge.Record) error {
			o.chat.Errs = []error{deleted}
			return o.dispatcher.do(t.Context(), o.store.Work(life.JobEdit, r.Interaction.ID, 0))
		},
		"event": func(o *office, r bridge.Record) error {
			return o.Deleted(t.Context(), "chat", bridge.MessageRef{Channel: r.Messages[0].Channel, Message: r.Messages[0].Message})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			r := o.store.Put(t, fake.Question("Ship it?"))
			for n, message := range []string{"1", "2"} {
				r = o.store.Get(r.Interaction.ID)
				r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: message}}
				r.Shown, r.Reminders = map[int]string{0: r.Interaction.Content}, []bridge.Reminder{{Text: "still waiting"}}
				o.store.Set(r)
				if err := find(o, r); err != nil {
					t.Fatal(err)
				}
				got := o.store.Get(r.Interaction.ID)
				again := slices.Contains(o.store.Outcomes(), "post again 0")
				if len(got.Messages) > 0 || !again || (got.Failures[0] != "") != (n == 1) {
					t.Errorf("deletion %d: %+v, posted again: %v, failures %v", n+1, got.Messages, again, got.Failures)
				}
			}
		})
	}
}

// TestPlatformDown checks that a card waits where an administrator must act first,
// and says so: until its deadline, or until the platform is up again. Without the
// token, nod makes no call.
func TestPlatformDown(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		open    time.Duration // of the hour that the request has
		attempt int
		want    string
		late    bool
		failed  string
	}{
		"at first":        {attempt: 1, want: "post retry in 250ms"},
		"for a while":     {attempt: 20, open: 20 * time.Minute, want: "post retry in 1m0s", late: true},
		"to the last try": {attempt: 99, open: 59*time.Minute + 50*time.Second, want: "post retry in 8s", late: true},
		"for too long": {
			attempt: 100, open: 59*time.Minute + 59*time.Second, want: "post dead: unavailable: chat: token revoked", failed: "chat: token revoked",
		},
	} {
		for _, reason := range []string{"token revoked", "chat: token revoked"} {
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				o.chat.State = bridge.Health{State: bridge.HealthDown, Reason: reason}
				i := fake.Question("Ship it?")
				i.Created, i.Deadline = i.Created.Add(-x.open), i.Deadline.Add(-x.open)
				r := o.store.Put(t, i)
				j := o.store.Work(life.JobPost, r.Interaction.ID, 0)
				j.Attempt = x.attempt
				if err := o.dispatcher.do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				o.outcomes(x.want)
				got := o.store.Get(r.Interaction.ID)
				if late := !got.Late[0].IsZero(); got.Failures[0] != x.failed || late != x.late || len(o.chat.Sent) > 0 {
					t.Errorf("%s: the failure is %q, late is %v, and %d calls were made", name, got.Failures[0], late, len(o.chat.Sent))
				}
				if x.failed != "" {
					return
				}
				o.chat.State = bridge.Health{State: bridge.HealthUp}
				if err := o.dispatcher.do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				if got := o.store.Get(r.Interaction.ID); got.Messages[0].Message == "" {
					t.Errorf("%s: no card appears once the platform is up", name)
				}
			})
		}
	}
}

// TestNotice checks that a notice ends once it was shown, or cannot be shown,
// at every destination.
func TestNotice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := fake.Question("Deployed.")
	i.Kind, i.Questions = bridge.KindNotice, nil
	i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: "D"})
	r := o.store.Put(t, i)
	id := r.Interaction.ID
	if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, id, 0)); err != nil {
		t.Fatal(err)
	}
	if got := o.store.Get(id); got.State != bridge.StatePending {
		t.Fatalf("it is %s before the second channel shows it", got.State)
	}
	o.chat.Errs = []error{bridge.Errorf(bridge.CodeNotFound, "no such channel")}
	if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, id, 1)); err != nil {
		t.Fatal(err)
	}
	if got := o.store.Get(id); got.State != bridge.StateAnswered {
		t.Errorf("it is %s; want answered", got.State)
	}
	// The edits that follow the end cost no call: a notice looks the same.
	if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobEdit, id, 0)); err != nil {
		t.Fatal(err)
	}
	if n := len(o.chat.Views); n != 1 {
		t.Errorf("%d calls were made for one card", n)
	}
}

// TestThreads checks that the cards of a session go to the thread of the first,
// and to the channel if there is no thread.
func TestThreads(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	post := func() bridge.Destination {
		t.Helper()
		r := o.store.Put(t, fake.Question("Ship it?"))
		if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobPost, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		return o.chat.Posts[len(o.chat.Posts)-1]
	}
	if d := post(); d.Thread != "" {
		t.Errorf("the first card is in thread %q", d.Thread)
	}
	if d := post(); d.Thread != "1" {
		t.Errorf("the second card is in thread %q; want that of the first", d.Thread)
	}
	o.chat.Errs = []error{bridge.Errorf(bridge.CodeForbidden, "no threads here")}
	if d := post(); d.Thread != "" || d.Channel != "C" {
		t.Errorf("without threads, the card is in %+v", d)
	}
	if err := o.Notes.SetNote(t.Context(), threadKey(fake.Question("Ship it?"), 0), "not JSON", time.Hour); err != nil {
		t.Fatal(err)
	}
	if d := post(); d.Thread != "" {
		t.Errorf("with an unreadable note, the card is in %+v", d)
	}
	lone := fake.Question("Ship it?")
	for want, change := range map[string]func(*bridge.Interaction){
		"s":      func(*bridge.Interaction) {},
		"":       func(i *bridge.Interaction) { i.Presentation = bridge.PresentQuestionnaire },
		"call 7": func(i *bridge.Interaction) { i.Session, i.Presentation, i.ToolCall = "", bridge.PresentTool, "7" },
	} {
		i := lone
		if change(&i); group(i) != want {
			t.Errorf("the group is %q; want %q", group(i), want)
		}
	}
}

// TestUpdate checks that an edit draws the last round that took the message
// over, and that an edit of what is gone ends.
func TestUpdate(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first := o.store.Put(t, fake.Question("Which version?"))
	second := o.store.Put(t, fake.Question("Which version, as in 1.2?"))
	second.Interaction.Root, second.Messages = first.Interaction.ID, map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
	first.Next, first.Head = second.Interaction.ID, second.Interaction.ID
	o.store.Set(first)
	o.store.Set(second)
	unknown, _ := bridge.NewID()
	unposted := o.store.Put(t, fake.Question("Ship it?"))
	for _, id := range []bridge.ID{first.Interaction.ID, unknown, unposted.Interaction.ID} {
		if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobEdit, id, 0)); err != nil {
			t.Fatal(err)
		}
	}
	o.outcomes("edit done", "edit done", "edit done")
	if len(o.chat.Views) != 1 || o.chat.Views[0].Record.Interaction.ID != second.Interaction.ID {
		t.Errorf("%d cards were drawn; want the second round alone", len(o.chat.Views))
	}
	if got := o.store.Get(second.Interaction.ID); !Shows(got, 0) {
		t.Error("the edited card does not count as shown")
	}
}

// TestEditGivesUp checks that a card that never showed the request in full is
// given up, and that one that did stays.
func TestEditGivesUp(t *testing.T) {
	t.Parallel()
	for _, shown := range []bool{false, true} {
		o := newOffice(t)
		r := o.store.Put(t, fake.Question("Ship it?"))
		r.Messages = map[int]bridge.MessageRef{0: {Channel: "C", Message: "1"}}
		if shown {
			r.Shown = map[int]string{0: r.Interaction.Content}
		}
		o.store.Set(r)
		o.chat.Errs = []error{bridge.Errorf(bridge.CodeNotFound, "message deleted")}
		if err := o.dispatcher.do(t.Context(), o.store.Work(life.JobEdit, r.Interaction.ID, 0)); err != nil {
			t.Fatal(err)
		}
		o.outcomes("edit dead: not_found: message deleted")
		if _, failed := o.store.Get(r.Interaction.ID).Failures[0]; failed == shown {
			t.Errorf("shown is %v, and the destination is given up: %v", shown, failed)
		}
	}
}

// TestUnknownPlatform checks that a job for what the config does not have waits for a
// daemon that has it, and is then buried.
func TestUnknownPlatform(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	i := fake.Question("Ship it?")
	i.Destinations[0].Platform = "gone"
	r := o.store.Put(t, i)
	waits, old, other := o.store.Work(life.JobPost, r.Interaction.ID, 0), o.store.Work(life.JobPost, r.Interaction.ID, 0), o.store.Work(life.JobPost, r.Interaction.ID, 3)
	old.Began = time.Now().Add(-rollout)
	for _, j := range []core.Job{waits, old, other} {
		if err := o.dispatcher.do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	o.outcomes("post retry in 250ms", "post dead: not_found: platform gone is not configured", "post dead: internal: destination 3 of 1 does not exist")
}

// TestDispatcher checks that jobs are worked on until the context ends, even
// when the store was unreachable for a time.
func TestDispatcher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		o.store.Fail(bridge.Errorf(bridge.CodeUnavailable, "no connection"))
		go func() { defer close(done); o.dispatcher.run(ctx) }()
		time.Sleep(500 * time.Millisecond)
		o.store.Fail(nil)
		var ids []bridge.ID
		for range 3 * jobsAtOnce {
			r := o.store.Put(t, fake.Question("Ship it?"))
			ids = append(ids, r.Interaction.ID)
			o.store.Work(life.JobPost, r.Interaction.ID, 0)
		}
		time.Sleep(5 * time.Second)
		stop()
		<-done
		for _, id := range ids {
			if got := o.store.Get(id); len(got.Messages) != 1 {
				t.Fatalf("%s is not posted", id)
			}
		}
	})
}

// TestHangingPlatform checks that a platform whose calls hang does not delay the cards
// of another.
func TestHangingPlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		other := &fake.Chat{As: "other"}
		o := newOffice(t, func(op *Options) { op.Platforms = append(op.Platforms, other) })
		o.chat.Each = jobTimeout
		for range 3 * jobsAtOnce {
			o.store.Work(life.JobPost, o.store.Put(t, fake.Question("Ship it?")).Interaction.ID, 0)
		}
		i := fake.Question("Ship it?")
		i.Destinations[0].Platform = "other"
		r := o.store.Put(t, i)
		o.store.Work(life.JobPost, r.Interaction.ID, 0)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); o.dispatcher.run(ctx) }()
		time.Sleep(2 * outboxPoll)
		if got := o.store.Get(r.Interaction.ID); len(got.Messages) != 1 {
			t.Error("the card waits for those of the other platform")
		}
		for _, how := range o.store.Outcomes() { // the next card of its agent in the channel must not overtake it
			if how != "post done" && !strings.HasSuffix(how, ", not counted, in its place") {
				t.Errorf("a card without a slot: %s", how)
			}
		}
		stop()
		<-done
	})
}

// TestLostLease checks that work stops once another process may have taken the
// job over.
func TestLostLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		o.store.Lost = true
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		o.dispatcher.keepJob(ctx, stop, core.Job{ID: "1"})
		if ctx.Err() == nil || time.Since(began) != jobRenew {
			t.Errorf("it stopped after %s: %v", time.Since(began), ctx.Err())
		}
	})
}

// TestLeaseEnds checks that work stops when the last successful renewal of its lease is
// one lease old, whether the store answers with errors or not at all.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]bool{"errors": true, "silence": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				ctx, stop := context.WithCancel(t.Context())
				w := *o.dispatcher
				w.outbox = &unreachable{Outbox: w.outbox, renewals: 2, answers: answers}
				began := time.Now()
				w.keepJob(ctx, stop, core.Job{ID: "1"})
				if d := time.Since(began); ctx.Err() == nil || d != 2*jobRenew+jobLease {
					t.Errorf("it stopped after %s: %v", d, ctx.Err())
				}
			})
		})
	}
}

// unreachable is an outbox that cannot be reached after some renewals of leases.
type unreachable struct {
	core.Outbox
	renewals int
	answers  bool
}

func (u *unreachable) Extend(ctx context.Context, _ core.Job, _ time.Duration) (bool, error) {
	if u.renewals > 0 {
		u.renewals--
		return true, nil
	}
	if !u.answers {
		<-ctx.Done()
	}
	return false, bridge.Errorf(bridge.CodeUnavailable, "no connection")
}

// punctual is a store that takes nothing after the end of a context.
type punctual struct {
	*fake.Store
}

func (p punctual) Mark(ctx context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	if err := ctx.Err(); err != nil {
		return bridge.Record{}, err
	}
	return p.Store.Mark(ctx, id, m)
}

func (p punctual) Retry(ctx context.Context, j core.Job, d time.Duration, reason string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.Store.Retry(ctx, j, d, reason)
}

// TestSlowResult checks that the result of a call of a platform that used all
// the time of its job is stored: its message, or when to try again.
func TestSlowResult(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		errs     []error
		want     string
		messages int
	}{
		"posted":  {nil, "post done", 1},
		"timeout": {[]error{context.DeadlineExceeded}, "post retry in", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOffice(t)
				o.chat.Each, o.chat.Errs = jobTimeout+time.Second, x.errs
				w, cards := *o.dispatcher, *o.dispatcher.cards
				cards.records = punctual{o.store}
				w.outbox, w.cards = punctual{o.store}, &cards
				r := o.store.Put(t, fake.Question("Ship it?"))
				w.work(t.Context(), o.store.Work(life.JobPost, r.Interaction.ID, 0))
				got := o.store.Get(r.Interaction.ID)
				if gone := o.store.Outcomes(); len(gone) != 1 || !strings.HasPrefix(gone[0], x.want) || len(got.Messages) != x.messages {
					t.Errorf("the job: %v, and the card: %v", gone, got.Messages)
				}
			})
		})
	}
}

// TestSweeper checks that deadlines are applied one after the other while there
// are more, and that the sweeper looks again after a wait.
func TestSweeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); o.sweeper.run(ctx) }()
		for range 3 {
			r := o.store.Put(t, fake.Question("Ship it?"))
			o.store.Mu.Lock()
			o.store.Overdue = append(o.store.Overdue, core.Expiry{ID: r.Interaction.ID, State: bridge.StateExpired})
			o.store.Mu.Unlock()
		}
		time.Sleep(2 * sweepPoll)
		o.store.Mu.Lock()
		left := len(o.store.Overdue)
		o.store.Mu.Unlock()
		if left != 0 {
			t.Errorf("%d are still open", left)
		}
		o.store.Fail(bridge.Errorf(bridge.CodeUnavailable, "no connection"))
		time.Sleep(2 * sweepPoll)
		stop()
		<-done
	})
}
