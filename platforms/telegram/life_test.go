package telegram_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/telegram"
	"github.com/nodbridge/nod/render"
)

var forum = strconv.FormatInt(sandbox.TelegramForum, 10)

// world is a running bot in a sandbox, with a sink that records.
type world struct {
	*platformtest.Rig
	p    *telegram.Platform
	sink *platformtest.Recorder
}

func newWorld(t *testing.T) world {
	t.Helper()
	sink := &platformtest.Recorder{}
	r := platformtest.New(t, harness, platformtest.Options{Sink: sink})
	return world{r, r.Platform.(*telegram.Platform), sink}
}

// question is a view that asks for a text.
func (w world) question(prompt string) bridge.View {
	i := notice().Record.Interaction
	i.ID, i.Kind, i.Prompt = bridge.ID(uuid.NewString()), bridge.KindAsk, prompt
	i.Questions = []bridge.Question{{ID: "q", Text: "Why?", Widget: bridge.WidgetText}}
	return bridge.NewView(bridge.Record{State: bridge.StatePending, Interaction: i}, 0, nil, w.Keys.Sign)
}

func (w world) post(d bridge.Destination, v bridge.View) (bridge.MessageRef, sandbox.Place) {
	w.T.Helper()
	ref, err := w.p.Post(w.Ctx, d, v, bridge.NewParts(nil, nil))
	if err != nil {
		w.T.Fatal(err)
	}
	return ref, sandbox.Place{Service: "telegram", Channel: ref.Channel, Message: ref.Message}
}

// asks clicks Answer and returns the prompt that it posts.
func (w world) asks(who string, at sandbox.Place, v bridge.View) map[string]any {
	w.T.Helper()
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{
		Interaction: v.Record.Interaction.ID, Option: bridge.OptionForm,
	}}, nil)
	before := len(w.prompts(at.Channel))
	if r, err := w.Sandbox.Person(who).Press(w.Ctx, at, "Answer"); err != nil || !r.OK {
		w.T.Fatal(r, err)
	}
	w.Eventually("a prompt is posted", func() bool { return len(w.prompts(at.Channel)) > before })
	all := w.prompts(at.Channel)
	return all[len(all)-1]
}

// prompts returns the messages of a chat that ask for a reply.
func (w world) prompts(chat string) []map[string]any {
	return slices.DeleteFunc(w.messages(chat), func(m map[string]any) bool {
		markup, _ := m["reply_markup"].(map[string]any)
		return markup["force_reply"] != true
	})
}

// TestCommandAddress checks that nod ignores commands to other bots, which it
// receives as an administrator.
func TestCommandAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Kind: "privacy_off"})
	for _, text := range []string{
		"/nod@other_bot mine", "/nodding", "/nod@NOD_Sandbox_Bot mine", "/nod\npending", "/nod who",
	} {
		said := sandbox.Action{Service: "telegram", As: "ana", Do: "send", Channel: group, Text: text}
		if _, err := w.Sandbox.Act(t.Context(), said); err != nil {
			t.Fatal(err)
		}
	}
	w.Eventually("three commands arrive", func() bool { return len(w.sink.Commands()) >= 3 })
	w.Eventually("all updates are confirmed", func() bool { return w.Sandbox.State().Telegram.Handed >= 5 })
	var got []string
	for _, c := range w.sink.Commands() {
		got = append(got, c.Text)
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "mine pending who" {
		t.Errorf("nod carried out %q", got)
	}
}

// TestForum checks that sessions, prompts and files work in the General topic,
// where replies have a thread ID that is not a topic, and in another topic.
func TestForum(t *testing.T) {
	t.Parallel()
	other := strconv.Itoa(sandbox.TelegramTopic)
	for name, x := range map[string]struct{ config, topic string }{
		"general": {"", ""}, "general, as links name it": {"1", ""}, "topic": {other, other},
	} {
		topic := x.topic
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := bridge.Destination{Channel: forum, Thread: x.config}
			w.post(d, w.question("first"))
			v := w.question("second")
			ref, at := w.post(d, v)
			if ref.Thread != topic {
				t.Errorf("the card is in the topic %q, want %q", ref.Thread, topic)
			}
			prompt := w.asks("ana", at, v)
			w.inTopic(prompt, topic)
			long := w.question(strings.Repeat("long ", 2000))
			if err := w.p.Update(t.Context(), ref, long, bridge.NewParts(nil, nil)); err != nil {
				t.Errorf("a card whose text became long: %v", err)
			}
			reminder := bridge.Reminder{Users: []string{"7001"}, Text: "still waiting"}
			if err := w.p.Remind(t.Context(), d, ref, reminder); err != nil {
				t.Errorf("a reminder: %v", err)
			}
			ref.Message = "999999"
			if err := w.p.Remind(t.Context(), d, ref, reminder); !errors.Is(err, bridge.ErrDeleted) {
				t.Errorf("a reminder next to a deleted card: %v", err)
			}
			all := w.messages(forum)
			w.inTopic(all[len(all)-1], topic)
		})
	}
}

// TestPrivatePrompt checks that the prompt for a private request is where its person
// reads the request.
func TestPrivatePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("Where is the key?")
	v.Record.Interaction.Private = true
	_, at := w.post(bridge.Destination{Channel: group}, v)
	w.sink.Shows(bridge.Form{View: v, Control: render.ReviewControl(v.Record.Interaction)}, nil)
	if r, err := w.Sandbox.Person("ana").Press(t.Context(), at, render.LabelReview); err != nil || !r.OK {
		t.Fatal(r, err)
	}
	own := sandbox.Place{Service: "telegram", Channel: "7001"}
	w.Eventually("ana reads the request", func() bool {
		for _, m := range w.messages(own.Channel) {
			if strings.Contains(sandbox.Texts(m), "Where is the key?") {
				own.Message = fmt.Sprint(m["message_id"])
			}
		}
		return own.Message != ""
	})
	w.asks("ana", own, v)
	if n := len(w.prompts(group)); n > 0 {
		t.Errorf("%d prompts are in the group", n)
	}
}

// inTopic checks which topic a message is in.
func (w world) inTopic(m map[string]any, topic string) {
	w.T.Helper()
	got := ""
	if id, ok := m["message_thread_id"].(float64); ok && m["is_topic_message"] == true {
		got = strconv.Itoa(int(id))
	}
	if got != topic {
		w.T.Errorf("the message is in the topic %q, want %q: %v", got, topic, m)
	}
}

// TestHarmlessTexts checks that what nod writes around a card mentions no one
// whom the texts of agents and people name, and previews no page.
func TestHarmlessTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const bad = "ask @bo_tg about https://x.example \u202eand this"
	v := w.question("Why?")
	v.Record.Interaction.Questions[0].Text = bad
	ref, at := w.post(bridge.Destination{Channel: group}, v)
	prompt := w.asks("ana", at, v)
	refusal := bridge.Verdict{Kind: bridge.VerdictInvalid, Note: bad}
	w.sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return refusal, nil })
	id := strconv.Itoa(int(prompt["message_id"].(float64)))
	reply := sandbox.Action{Service: "telegram", As: "ana", Do: "reply", Channel: group, Message: id, Text: "because"}
	if _, err := w.Sandbox.Act(t.Context(), reply); err != nil {
		t.Fatal(err)
	}
	w.Eventually("the reply is refused", func() bool { return strings.Contains(w.last(group), "again") })
	if err := w.p.Remind(t.Context(), bridge.Destination{}, ref, bridge.Reminder{Users: []string{"7002"}, Text: bad}); err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Sandbox.Chats("telegram") {
		for _, m := range c.Messages {
			from, _ := m["from"].(map[string]any)
			text := sandbox.Texts(m)
			if from["is_bot"] == true && (m["preview"] != nil || m["detected_mentions"] != nil || strings.Contains(text, "\u202e")) {
				t.Errorf("mentions %v, previews %v: %q", m["detected_mentions"], m["preview"], text)
			}
		}
	}
}

// last returns the text of the newest message in a chat.
func (w world) last(chat string) string {
	all := w.messages(chat)
	if len(all) == 0 {
		return ""
	}
	return sandbox.Texts(all[len(all)-1])
}

// TestPromptsEnd checks that a person has one prompt for a card, and that a card
// that is closed or asks something else removes its prompts.
func TestPromptsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("first")
	ref, at := w.post(bridge.Destination{Channel: group}, v)
	old := w.asks("ana", at, v)
	w.asks("bo", at, v)
	w.Eventually("ana's second prompt replaces her first", func() bool {
		if r, err := w.Sandbox.Person("ana").Press(t.Context(), at, "Answer"); err != nil || !r.OK || r.Alert {
			t.Fatal(r, err)
		}
		return len(w.prompts(group)) == 2
	})
	for _, m := range w.prompts(group) {
		if m["message_id"] == old["message_id"] {
			t.Error("the first prompt is still there")
		}
	}
	update := func(v bridge.View) {
		t.Helper()
		if err := w.p.Update(t.Context(), ref, v, nil); err != nil {
			t.Fatal(err)
		}
	}
	update(v.Unfinished())
	if n := len(w.prompts(group)); n != 2 {
		t.Errorf("%d prompts are left for a pending card", n)
	}
	next := w.question("second")
	update(next)
	if n := len(w.prompts(group)); n != 0 {
		t.Errorf("%d prompts are left for the round before", n)
	}
	w.asks("ana", at, next)
	next.Record.State = bridge.StateExpired
	next.Record.Response = &bridge.Response{State: bridge.StateExpired, At: time.Now()}
	update(next)
	if n := len(w.prompts(group)); n != 0 {
		t.Errorf("%d prompts are left for a closed card", n)
	}
}

// TestPromptNotSent checks that a person is told if no prompt could be posted.
func TestPromptNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.question("first")
	_, at := w.post(bridge.Destination{Channel: group}, v)
	w.sink.Shows(bridge.Form{View: v, Control: bridge.Control{
		Interaction: v.Record.Interaction.ID, Option: bridge.OptionForm,
	}}, nil)
	for words, f := range map[string]sandbox.Fault{
		"in 7 seconds":  {Kind: "rate_limit", RetryAfter: 7},
		"could not ask": {Kind: "error"},
	} {
		f.Service, f.Method, f.Count = "telegram", "sendMessage", 1
		w.Sandbox.AddFault(f)
		r, err := w.Sandbox.Person("ana").Press(t.Context(), at, "Answer")
		if err != nil || !r.Alert || !strings.Contains(r.Toast, words) || !strings.Contains(r.Toast, "Nothing was recorded") {
			t.Errorf("%s: %+v, %v", words, r, err)
		}
	}
}

// TestLink checks that nod links to the messages of supergroups only.
func TestLink(t *testing.T) {
	t.Parallel()
	p := &telegram.Platform{}
	for channel, want := range map[string]string{
		"-1002000000001": "https://t.me/c/2000000001/7", "-4001": "", "7001": "",
	} {
		if got := p.Link(t.Context(), bridge.MessageRef{Channel: channel, Message: "7"}); got != want {
			t.Errorf("%s: nod links to %q", channel, got)
		}
	}
}

// TestFormerForum checks that what belongs to a card in a topic still arrives after the
// group has turned its topics off.
func TestFormerForum(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := bridge.Destination{Channel: forum, Thread: strconv.Itoa(sandbox.TelegramTopic)}
	v := w.question("first")
	ref, at := w.post(d, v)
	if _, err := w.Sandbox.Act(t.Context(), sandbox.Action{Service: "telegram", As: "ana", Do: "flatten", Channel: forum}); err != nil {
		t.Fatal(err)
	}
	w.asks("ana", at, v)
	if err := w.p.Update(t.Context(), ref, w.question(strings.Repeat("long ", 2000)), bridge.NewParts(nil, nil)); err != nil {
		t.Errorf("a card whose text became long: %v", err)
	}
	if err := w.p.Remind(t.Context(), d, ref, bridge.Reminder{Users: []string{"7001"}, Text: "still waiting"}); err != nil {
		t.Errorf("a reminder: %v", err)
	}
	if _, err := w.p.Post(t.Context(), d, w.question("second"), bridge.NewParts(nil, nil)); err == nil {
		t.Error("a new card for a topic that is gone is in the whole group")
	}
}
