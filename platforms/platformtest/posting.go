package platformtest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render/rendertest"
)

// posting contains the checks of Post, Update, Check and Remind, without an engine.
var posting = []flow{
	{"a card is posted where it belongs, with controls of its own", postsInPlace},
	{"every kind of card is posted, updated and closed", postsSamples},
	{"what Check refuses is refused by Post", checks},
	{"errors are mapped", mapsErrors},
	{"a message that is gone is a final error", updatesNothing},
	{"an update takes the controls away", takesControls},
	{"parts come first, and each comes once", sendsPartsOnce},
	{"a part that is not recorded stops the card", stopsUnrecorded},
	{"a long text is never shortened with controls", neverShortened},
	{"what the service shortens gets no controls", noticesLoss},
	{"a reminder mentions those it is for", reminds},
	{"a card mentions those it is for", mentions},
	{"a notification shows what the route allows", previews},
	{"a notice is silent unless it may sound", sounds},
	{"a person is told directly", tells},
	{"a context that has ended stops a post", stops},
}

// runPosting runs the checks of posting.
func runPosting(t *testing.T, h Harness) {
	r := New(t, h, Options{Sink: &Recorder{}, Still: true})
	for _, f := range posting {
		t.Run(f.name, func(t *testing.T) { f.run(r.with(t)) })
	}
	t.Run("a channel has its pace", func(t *testing.T) {
		paces(New(t, h, Options{Sink: &Recorder{}, Still: true, Paced: true}))
	})
}

// interaction returns an approval in the form that the engine passes to an
// adapter.
func (r *Rig) interaction(command string) bridge.Interaction {
	raw := longJSON(command)
	return bridge.Interaction{
		ID: bridge.ID(uuid.NewString()),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?", Session: samples.Session(),
			Approval: &bridge.Approval{Tool: "bash", Input: raw, Scopes: []bridge.Scope{bridge.ScopeOnce}},
		},
		Agent:     "tester",
		Placement: bridge.Placement{Destinations: []bridge.Destination{r.destination()}},
		Schedule:  bridge.Schedule{Created: time.Now(), Deadline: time.Now().Add(time.Hour)},
		Digest:    strings.Repeat("0123456789abcdef", 4),
	}
}

func (r *Rig) destination() bridge.Destination {
	return bridge.Destination{Platform: r.Harness.Name, Channel: r.Harness.Channel}
}

// view returns a view of an interaction in a state.
func (r *Rig) view(i bridge.Interaction, s bridge.State) bridge.View {
	var err error
	if i.Content, err = proof.Content(i); err != nil {
		r.T.Fatal(err)
	}
	rec := bridge.Record{Interaction: i, State: s, Revision: 1}
	if s != bridge.StatePending {
		rec.Response = &bridge.Response{State: s, At: time.Now(), Digest: i.Digest, Scope: bridge.ScopeOnce,
			Actor: &bridge.Actor{Platform: r.Harness.Name, User: r.account("ana"), Name: "Ana", Person: "ana"}}
	}
	return bridge.NewView(rec, 0, nil, r.Keys.Sign)
}

func (r *Rig) post(v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	ctx, cancel := context.WithTimeout(r.Ctx, await.Limit)
	defer cancel()
	return r.Platform.Post(ctx, r.destination(), v, parts)
}

// posts posts a view. The adapter must accept it.
func (r *Rig) posts(v bridge.View) bridge.MessageRef {
	r.T.Helper()
	ref, err := r.post(v, bridge.NewParts(nil, nil))
	if err != nil {
		r.T.Fatal(err)
	}
	return ref
}

func postsInPlace(r *Rig) {
	i := r.interaction("make deploy")
	ref := r.posts(r.view(i, bridge.StatePending))
	if ref.Channel != r.Harness.Channel || ref.Message == "" {
		r.T.Errorf("it was posted at %+v", ref)
	}
	controls := r.Controls(r.Place(ref))
	if len(controls) < 2 || !strings.Contains(r.Text(r.Place(ref)), "make deploy") {
		r.T.Fatalf("the card has %v and says %q", controls, r.Text(r.Place(ref)))
	}
	for _, c := range controls {
		got, err := r.Keys.Verify(r.Harness.Client.Token(c))
		if err != nil || got.Interaction != i.ID || got.Destination != 0 {
			r.T.Errorf("%q sends %+v, %v", c.Label, got, err)
		}
	}
}

func postsSamples(r *Rig) {
	for _, s := range rendertest.Samples() {
		v := bridge.NewView(s.View.Record, 0, s.View.Draft, r.Keys.Sign)
		v.Waiting = s.View.Waiting
		if err := r.Platform.Check(v.Record.Interaction); err != nil {
			r.T.Errorf("%s: check: %v", s.Name, err)
			continue
		}
		parts := bridge.NewParts(nil, nil)
		ref, err := r.post(v, parts)
		if err != nil {
			r.T.Errorf("%s: %v", s.Name, err)
			continue
		}
		if err := r.Platform.Update(r.Ctx, ref, v, parts); err != nil {
			r.T.Errorf("%s: the same again: %v", s.Name, err)
		}
	}
}

func checks(r *Rig) {
	if err := r.Platform.Check(r.interaction("ls")); err != nil {
		r.T.Error(err)
	}
	if r.Harness.TooLong == 0 {
		return
	}
	i := r.interaction(strings.Repeat("x", r.Harness.TooLong))
	if err := r.Platform.Check(i); bridge.ErrorCode(err) != bridge.CodeUnsupported {
		r.T.Errorf("%d bytes: %v", r.Harness.TooLong, err)
	}
	if _, err := r.post(r.view(i, bridge.StatePending), nil); bridge.ErrorCode(err) != bridge.CodeUnsupported {
		r.T.Errorf("%d bytes were posted: %v", r.Harness.TooLong, err)
	}
}

func updatesNothing(r *Rig) {
	ref := r.posts(r.view(r.interaction("ls"), bridge.StatePending))
	ref.Message = map[bool]string{true: "1.000001", false: "999999"}[strings.Contains(ref.Message, ".")]
	err := r.Platform.Update(r.Ctx, ref, r.view(r.interaction("ls"), bridge.StatePending), bridge.NewParts(nil, nil))
	if err == nil || passes(err) {
		r.T.Errorf("the error is %v", err)
	}
}

// passes reports whether the engine retries after an error.
func passes(err error) bool {
	code := bridge.ErrorCode(err)
	return code == bridge.CodeUnavailable || code == bridge.CodeRateLimited
}

func takesControls(r *Rig) {
	i := r.interaction("make deploy")
	ref := r.posts(r.view(i, bridge.StatePending))
	for name, v := range map[string]bridge.View{
		"unfinished": r.view(i, bridge.StatePending).Unfinished(), "withheld": r.view(i, bridge.StatePending).Withhold("give it a right"),
		"approved": r.view(i, bridge.StateApproved), "expired": r.view(i, bridge.StateExpired),
	} {
		if err := r.Platform.Update(r.Ctx, ref, r.view(i, bridge.StatePending), nil); err != nil {
			r.T.Fatal(err)
		}
		if len(r.Controls(r.Place(ref))) == 0 {
			r.T.Errorf("before %s: there are no controls", name)
		}
		if err := r.Platform.Update(r.Ctx, ref, v, nil); err != nil {
			r.T.Fatal(err)
		}
		if c := r.Controls(r.Place(ref)); len(c) > 0 {
			r.T.Errorf("%s: the card still has %v", name, c)
		}
	}
}

// stops checks that a post returns when its context ends.
func stops(r *Rig) {
	ctx, cancel := context.WithCancel(r.Ctx)
	cancel()
	if _, err := r.Platform.Post(ctx, r.destination(), r.view(r.interaction("ls"), bridge.StatePending), nil); err == nil {
		r.T.Error("it was posted")
	}
}

// reminds checks which users a reminder mentions.
func reminds(r *Rig) {
	ref := r.posts(r.view(r.interaction("ls"), bridge.StatePending))
	err := r.Platform.Remind(r.Ctx, r.destination(), ref, bridge.Reminder{
		Users: []string{r.account("bo")}, Groups: []string{r.Harness.Group}, Text: "@everyone <!channel> still waiting <@" + r.account("ana") + ">",
	})
	if err != nil {
		r.T.Fatal(err)
	}
	last := r.last()
	who := r.Harness.Client.Mentions(last)
	others := strings.Contains(who, r.account("ana")) || strings.Contains(who, "everyone")
	if !strings.Contains(who, r.account("bo")) || others {
		r.T.Errorf("it mentions %q: %v", who, last)
	}
	if !strings.Contains(sandbox.Texts(last), "still waiting") {
		r.T.Errorf("its text is %q", sandbox.Texts(last))
	}
}

// mentions checks the people that a pending card mentions, and that a closed
// card mentions no one.
func mentions(r *Rig) {
	i := r.interaction("ls <@" + r.account("ana") + "> @everyone <!channel>")
	i.Responders = []bridge.Responder{{Person: "bo", Platform: r.Harness.Name, User: r.account("bo")}}
	v := r.view(i, bridge.StatePending)
	v.Mentions = []bridge.Mention{{Person: "bo", Name: "bo", User: r.account("bo")}}
	ref := r.posts(v)
	for name, step := range map[string]func() error{
		"posted": func() error { return nil }, "edited": func() error { return r.Platform.Update(r.Ctx, ref, v, nil) },
	} {
		if err := step(); err != nil {
			r.T.Fatal(err)
		}
		who := r.Harness.Client.Mentions(r.last())
		others := strings.Contains(who, r.account("ana")) || strings.Contains(who, "everyone")
		if !strings.Contains(who, r.account("bo")) || others {
			r.T.Errorf("%s, it mentions %q: %v", name, who, r.last())
		}
	}
	v.Record = r.view(i, bridge.StateApproved).Record
	if err := r.Platform.Update(r.Ctx, ref, v, nil); err != nil {
		r.T.Fatal(err)
	}
	if who := r.Harness.Client.Mentions(r.last()); strings.Contains(who, r.account("bo")) {
		r.T.Errorf("closed, it mentions %q: %v", who, r.last())
	}
}

// previews checks that a notification shows only as much of a request as its
// route allows, while the card shows everything.
func previews(r *Rig) {
	for mode, want := range map[bridge.PreviewMode]string{
		bridge.PreviewFull: "make deploy", bridge.PreviewNone: "A request is pending",
	} {
		i := r.interaction("make deploy")
		i.Preview = mode
		v := r.view(i, bridge.StatePending)
		v.Mentions = []bridge.Mention{{Person: "bo", Name: "bo", User: r.account("bo")}}
		ref := r.posts(v)
		m := r.last()
		push, _ := m["push"].(string)
		if push == "" {
			push, _ = m["text"].(string)
		}
		if !strings.Contains(push, want) || mode != bridge.PreviewFull && strings.Contains(push, "make") {
			r.T.Errorf("%q: the notification is %q", mode, push)
		}
		if len(r.Controls(r.Place(ref))) == 0 || !strings.Contains(r.Text(r.Place(ref)), "make deploy") {
			r.T.Errorf("%q: the card says %q", mode, r.Text(r.Place(ref)))
		}
		if who := r.Harness.Client.Mentions(m); !strings.Contains(who, r.account("bo")) {
			r.T.Errorf("%q: it mentions %q", mode, who)
		}
	}
}

// tells checks that a direct message reaches only its recipient, as plain text.
func tells(r *Rig) {
	before := len(r.Messages())
	const text = "✅ Approved by bo: @everyone <!channel> make it so"
	if err := r.Platform.Tell(r.Ctx, r.account("ana"), text); err != nil {
		r.T.Fatal(err)
	}
	if n := len(r.Messages()); n != before {
		r.T.Errorf("the channel has %d messages more", n-before)
	}
	found := 0
	for _, chat := range r.Sandbox.Chats(r.Harness.Name) {
		for _, m := range chat.Messages {
			if !strings.Contains(sandbox.Texts(m), "make it so") {
				continue
			}
			found++
			if who := r.Harness.Client.Mentions(m); strings.Contains(who, "everyone") || strings.Contains(who, "channel") {
				r.T.Errorf("it mentions %q", who)
			}
		}
	}
	if found != 1 {
		r.T.Errorf("%d messages were sent", found)
	}
	if r.Platform.Direct(r.destination()) {
		r.T.Error("the channel counts as a direct message")
	}
}

// discordSilent is the flag of silent messages.
const discordSilent = 1 << 12

// sounds checks that notices are silent. Slack has no silent messages.
func sounds(r *Rig) {
	i := r.interaction("")
	i.Kind, i.Approval = bridge.KindNotice, nil
	r.posts(r.view(i, bridge.StatePending))
	m := r.last()
	flags, _ := m["flags"].(float64)
	silent := m["silent"] == true || int(flags)&discordSilent != 0
	if want := r.Harness.Name != "slack"; silent != want {
		r.T.Errorf("a notice is silent: %t", silent)
	}
}

// last returns the newest message in the channel.
func (r *Rig) last() map[string]any {
	r.T.Helper()
	all := r.Messages()
	if len(all) == 0 {
		r.T.Fatal("there are no messages")
	}
	return all[len(all)-1]
}

// Messages returns the messages in the channel, oldest first.
func (r *Rig) Messages() []map[string]any {
	return r.Hands.Messages(r.Harness.Name, r.Harness.Channel)
}

// paces posts more cards at the same time than a channel accepts.
func paces(r *Rig) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	paced := 0
	for range 30 {
		wg.Go(func() {
			_, err := r.post(r.view(r.interaction("ls"), bridge.StatePending), nil)
			mu.Lock()
			defer mu.Unlock()
			switch e := (*bridge.Error)(nil); {
			case errors.Is(err, bridge.ErrPaced) && errors.As(err, &e) && e.RetryAfter > 0:
				paced++
			case err != nil:
				r.T.Errorf("the error is %v", err)
			}
		})
	}
	wg.Wait()
	if paced < 10 {
		r.T.Errorf("%d of 30 posts were held back", paced)
	}
}
