package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// autoplayLimit is far more than the scripted people need. It only ends a run in
// which something never happens.
const autoplayLimit = 2 * time.Minute

// play is one run of the scripted people.
type play struct {
	*stage
	w io.Writer
}

// discordTime matches a time in a message. Discord shows it in the reader's
// zone.
var discordTime = lazyregexp.New(`<t:(\d+):\w>`)

// plainTimes returns a text of Discord with its times in plain text.
func plainTimes(text string) string {
	return discordTime.ReplaceAllStringFunc(text, func(s string) string {
		seconds, err := strconv.ParseInt(discordTime.FindStringSubmatch(s)[1], 10, 64)
		if err != nil {
			return s // the number is too large for a time
		}
		return time.Unix(seconds, 0).UTC().Format("15:04:05 UTC")
	})
}

func (p *play) say(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// autoplay lets scripted people answer the story and further requests, and
// returns an error unless every outcome is correct.
func (st *stage) autoplay(ctx context.Context, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, autoplayLimit)
	defer cancel()
	began := time.Now()
	p := &play{st, w}
	p.say("nod demo: an agent asks, people answer in Slack, Discord and Telegram\n")
	acts := []func(context.Context) error{
		p.oneTap, p.severalChoices, p.freeText, p.race, p.grant, p.denyWithReason, p.plan, p.form, p.silence,
	}
	for n, act := range acts {
		if err := act(ctx); err != nil {
			p.say("   ✗ %v", err)
			return fmt.Errorf("act %d failed: %w", n+1, err)
		}
	}
	p.say("All answers arrived correctly: %d acts, %.1f s.", len(acts), time.Since(began).Seconds())
	return nil
}

// shown is a request whose card is on all three platforms.
type shown struct {
	bridge.Record
	done chan ended
}

type ended struct {
	rec   bridge.Record
	after time.Duration // time from the deciding click, by the server's clock, until the agent has the answer
	err   error
}

func (s shown) on(service string) sandbox.Place {
	for n, d := range s.Interaction.Destinations {
		if d.Platform == service {
			ref := s.Messages[n]
			return sandbox.Place{Service: service, Channel: ref.Channel, Message: ref.Message}
		}
	}
	return sandbox.Place{}
}

// ask opens a request, waits for it in the background, and returns once its
// cards are posted.
func (p *play) ask(ctx context.Context, r bridge.Request) (shown, error) {
	rec, err := p.agent.Open(ctx, r, "")
	if err != nil {
		return shown{}, err
	}
	s := p.await(ctx, rec)
	for len(s.Messages) < len(rec.Interaction.Destinations) && !s.State.Final() && bridge.Pause(ctx, 2*time.Millisecond) {
		if s.Record, err = p.agent.Get(ctx, rec.Interaction.ID); err != nil {
			return s, err
		}
	}
	p.say("🤖 %s asks: %s", demoAgent, strings.ReplaceAll(r.Prompt, "**", ""))
	return s, nil
}

// await waits in the background for the end of a request.
func (p *play) await(ctx context.Context, rec bridge.Record) shown {
	s := shown{Record: rec, done: make(chan ended, 1)}
	go func() {
		final, err := p.agent.Wait(ctx, rec.Interaction.ID)
		e := ended{rec: final, err: err}
		if final.Response != nil {
			e.after = time.Since(final.Response.At)
		}
		s.done <- e
	}()
	return s
}

// end waits until the agent is unblocked and every copy shows the outcome.
func (p *play) end(ctx context.Context, s shown, want bridge.State, words ...string) (bridge.Record, error) {
	e := <-s.done
	if e.err != nil {
		return e.rec, e.err
	}
	if e.rec.State != want {
		return e.rec, fmt.Errorf("the agent got the state %s, want %s", e.rec.State, want)
	}
	p.say("   ✓ the agent got %q, %d ms after the decision", sentence(e.rec), e.after.Milliseconds())
	return e.rec, p.closed(ctx, s, words...)
}

// closed waits until every copy is read-only and contains the words.
func (p *play) closed(ctx context.Context, s shown, words ...string) error {
	var open string
	err := p.sandbox.Wait(ctx, func() bool {
		open = ""
		for _, d := range s.Interaction.Destinations {
			m := p.sandbox.Message(s.on(d.Platform))
			text := sandbox.Texts(m)
			missing := slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
			if len(sandbox.Controls(d.Platform, m)) > 0 || missing {
				open = d.Platform + ": " + text
			}
		}
		return open == ""
	})
	if err != nil {
		return fmt.Errorf("a copy did not close: %s", open)
	}
	p.say("   ✓ all three copies show this and are read-only\n")
	return nil
}

func did(r sandbox.Reaction, err error) error {
	switch {
	case err != nil:
		return err
	case r.Warning != "":
		return errors.New(r.Warning)
	case len(r.Errors) > 0:
		return fmt.Errorf("refused: %v", r.Errors)
	}
	return nil
}

// fills lets a person open the modal of a card, and fill it in.
func (p *play) fills(ctx context.Context, who, service string, s shown, control string, values ...[]string) error {
	person := p.sandbox.Person(who)
	r, err := person.Press(ctx, s.on(service), control)
	if err := did(r, err); err != nil {
		return err
	}
	return did(person.Fill(ctx, service, r.Modal, values...))
}

// scene lets the agent ask a question of the story, and a person answer it. It
// returns an error unless the agent gets the answer.
func (p *play) scene(ctx context.Context, n int, says string, act func(shown) error, question, want string, words ...string) error {
	s, err := p.ask(ctx, Scenes()[n].Request)
	if err != nil {
		return err
	}
	p.say("%s", says)
	if err := act(s); err != nil {
		return err
	}
	return p.answered(ctx, s, question, want, words...)
}

// answered waits like end, and checks an answer.
func (p *play) answered(ctx context.Context, s shown, question, want string, words ...string) error {
	rec, err := p.end(ctx, s, bridge.StateAnswered, words...)
	if err == nil && rec.Response.Answers[question].String() != want {
		err = fmt.Errorf("the answer was %v", rec.Response.Answers)
	}
	return err
}

func (p *play) oneTap(ctx context.Context) error {
	return p.scene(ctx, 0, "👆 Ana clicks “Europe” on Telegram", func(s shown) error {
		return did(p.sandbox.Person("ana").Press(ctx, s.on("telegram"), "Europe"))
	}, "region", "eu", "ana", "in Telegram")
}

func (p *play) severalChoices(ctx context.Context) error {
	return p.scene(ctx, 1, "👆 Bo opens the form on Discord and selects API and Cron", func(s shown) error {
		return p.fills(ctx, "bo", "discord", s, "Choose", []string{"API", "Cron"})
	}, "services", "api,cron", "bo", "in Discord")
}

func (p *play) freeText(ctx context.Context) error {
	const words = "We are upgrading. Orders are safe."
	return p.scene(ctx, 2, "⌨️  Cy opens the modal on Slack and types: "+words, func(s shown) error {
		return p.fills(ctx, "cy", "slack", s, "Answer", []string{words})
	}, "status", words, "cy", "in Slack")
}

// race lets a person without permission click, and then two responders at the
// same time.
func (p *play) race(ctx context.Context) error {
	s, err := p.ask(ctx, Scenes()[3].Request)
	if err != nil {
		return err
	}
	p.say("👆 Mal, who is not a responder, clicks “Run command” on Slack")
	mal := p.sandbox.Person("mal")
	if err := did(mal.Press(ctx, s.on("slack"), "Run command")); err != nil {
		return err
	}
	refused := func() bool {
		return slices.ContainsFunc(mal.Notes("slack"), func(note string) bool { return strings.Contains(note, "may not answer") })
	}
	if err := p.sandbox.Wait(ctx, refused); err != nil {
		return fmt.Errorf("mal read %q", mal.Notes("slack"))
	}
	p.say("   ✓ only Mal reads that this is not allowed; nothing was recorded")
	p.say("👆 Ana clicks “Run command” on Discord and Bo clicks “Deny” on Telegram, at the same time")
	var toast sandbox.Reaction
	var errs [2]error
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = did(p.sandbox.Person("ana").Press(ctx, s.on("discord"), "Run command")) })
	wg.Go(func() {
		toast, errs[1] = p.sandbox.Person("bo").Press(ctx, s.on("telegram"), "Deny")
	})
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	e := <-s.done
	if e.err != nil {
		return e.err
	}
	s.done <- e
	winner, loser, told := "ana", "bo", toast.Toast
	if e.rec.State == bridge.StateDenied {
		winner, loser = "bo", "ana"
		notes := p.sandbox.Person("ana").Notes("discord")
		told = strings.Join(notes[max(0, len(notes)-1):], "")
	}
	if e.rec.Response.Actor.Person != winner || !strings.Contains(told, winner+" already") {
		return fmt.Errorf("%s decided %s, and %s read %q", e.rec.Response.Actor.Person, e.rec.State, loser, told)
	}
	p.say("   ✓ %s was first; %s reads: %s", winner, loser, strings.TrimSpace(plainTimes(told)))
	_, err = p.end(ctx, s, e.rec.State, winner)
	return err
}

// grant lets a person approve for the session, and the agent request the same
// action again.
func (p *play) grant(ctx context.Context) error {
	r := bridge.Request{Ask: bridge.Ask{
		Session: "release-42", Prompt: "May I push to the release branch?", Approval: &bridge.Approval{
			Tool: "bash", Input: []byte(`{"command":"git push origin release-42"}`), Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}},
	}}
	s, err := p.ask(ctx, r)
	if err != nil {
		return err
	}
	p.say("👆 Cy clicks “More…” on Telegram, reads what it covers, and clicks “Approve for this session”")
	if err := p.more(ctx, "cy", s.on("telegram"), render.LabelSession); err != nil {
		return err
	}
	if _, err := p.end(ctx, s, bridge.StateApproved, "cy", "session"); err != nil {
		return err
	}
	rec, err := p.agent.Open(ctx, r, "")
	if err != nil {
		return err
	}
	if rec.State != bridge.StateApproved || len(rec.Messages) > 0 {
		return fmt.Errorf("the same request in the same session is %s", rec.State)
	}
	p.say("🤖 %s sends the same request again\n   ✓ the grant approved it immediately; no one was asked\n", demoAgent)
	return nil
}

// more opens the menu of a card and clicks one of its controls.
func (p *play) more(ctx context.Context, who string, card sandbox.Place, label string) error {
	person := p.sandbox.Person(who)
	if err := did(person.Press(ctx, card, render.LabelMore)); err != nil {
		return err
	}
	var menu sandbox.Place
	if err := p.sandbox.Wait(ctx, func() (ok bool) {
		menu, ok = person.Menu(card, label)
		return ok
	}); err != nil {
		return err
	}
	return did(person.Press(ctx, menu, label))
}

func (p *play) denyWithReason(ctx context.Context) error {
	s, err := p.ask(ctx, bridge.Request{Ask: bridge.Ask{
		Session: "release-42", Prompt: "May I announce the release on the blog?", Approval: &bridge.Approval{
			Tool: "publish", Input: []byte(`{"title":"Release 42","audience":"everybody"}`)},
	}})
	if err != nil {
		return err
	}
	p.say("👆 Ana clicks “More…” and “Deny with a reason…” on Telegram, and replies: not before Monday")
	ana, at := p.sandbox.Person("ana"), s.on("telegram")
	if err := p.more(ctx, "ana", at, render.LabelDenyReason); err != nil {
		return err
	}
	if err := p.sandbox.Wait(ctx, func() bool {
		_, err := ana.Reply(ctx, at.Channel, "not before Monday")
		return err == nil
	}); err != nil {
		return err
	}
	rec, err := p.end(ctx, s, bridge.StateDenied, "ana", "not before Monday")
	if err == nil && rec.Response.Reason != "not before Monday" {
		err = fmt.Errorf("the reason was %q", rec.Response.Reason)
	}
	return err
}

// silence lets a request expire, and lets a person click too late.
func (p *play) silence(ctx context.Context) error {
	var s shown
	late := sandbox.Action{Service: "telegram", As: "bo", Do: "press"}
	timeout := 1500 * time.Millisecond
	for ; late.Control == ""; timeout *= 2 { // on a slow machine, the request may expire before its cards are posted
		var err error
		if s, err = p.ask(ctx, bridge.Request{Ask: bridge.Ask{
			Session: "release-42", Prompt: "Is anyone still awake?", Timeout: bridge.Duration(timeout),
		}}); err != nil {
			return err
		}
		if at := s.on("telegram"); len(s.Messages) == len(s.Interaction.Destinations) {
			late.Channel, late.Message = at.Channel, at.Message
			for _, c := range sandbox.Controls("telegram", p.sandbox.Message(at)) {
				late.Control = c.ID // the click follows after the deadline
			}
		}
	}
	p.say("💤 no one answers for %.1f s", s.Interaction.Deadline.Sub(s.Interaction.Created).Seconds())
	if _, err := p.end(ctx, s, bridge.StateExpired, "Expired"); err != nil {
		return err
	}
	r, err := p.sandbox.Act(ctx, late)
	if err != nil {
		return err
	}
	if !strings.Contains(r.Toast, "already expired") {
		return fmt.Errorf("bo read %q", r.Toast)
	}
	p.say("👆 Bo then clicks “No” on Telegram\n   ✓ Bo reads: %s\n", r.Toast)
	return nil
}
