package daemon_test

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// stories are the ways in which requests are answered. Each one ends with a
// check of the card.
var stories = []func(*clicker){
	func(u *clicker) { // the agent waits
		a := u.Ask(samples.Approval())
		waiting := u.awaited(a)
		u.approve("ana", a)
		waiting()
		u.truthful(a)
	},
	func(u *clicker) { // no one waits, and the agent fetches the answer later
		a := u.Ask(samples.Approval())
		u.approve("bo", a)
		u.truthful(a)
		a.End()
		u.truthful(a)
	},
	func(u *clicker) {
		a := u.Ask(samples.Approval())
		waiting := u.awaited(a)
		u.press("bo", a, render.LabelDeny)
		waiting()
		u.truthful(a)
	},
	stranger, doubleClick, contradiction, lateClick, typedConfirmation, edited, deniedWithReason, twoApprovers,
	func(u *clicker) {
		a := u.Ask(samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...))
		u.press("cy", a, "Us")
		a.End()
		u.truthful(a)
	},
	func(u *clicker) { u.chooses(bridge.WidgetSelect, "Us") },
	func(u *clicker) { u.chooses(bridge.WidgetRadio, "Eu") },
	func(u *clicker) { u.chooses(bridge.WidgetCheckbox, "Eu", "Us") },
	func(u *clicker) {
		a := u.Ask(samples.One(bridge.WidgetText))
		u.typed("ana", a, render.LabelAnswer, "not *this* <one> & @everyone `x`")
		u.truthful(a)
	},
	form, declined, deferred, planApproved, followedUp, withdrawn, atTerminal, expired,
}

// stranger clicks without being a responder. The request stays open.
func stranger(u *clicker) {
	a := u.Ask(samples.Approval())
	u.told("mal", u.approve("mal", a), "You may not answer this request")
	u.truthful(a)
	u.told("mal", u.press("mal", a, render.LabelDeny), "You may not answer this request")
	a.StillPending()
	u.press("ana", a, render.LabelDeny)
	u.truthful(a)
}

// doubleClick clicks the same control twice before the card changes: it is one
// decision, and there is nothing to say about it.
func doubleClick(u *clicker) {
	a := u.Ask(samples.Approval())
	act := holding(u.Rig, a, u.service, u.ApprovingLabel(a.On(u.service)), "ana")
	for _, reaction := range u.atOnce(act, act) {
		said := reaction.Toast
		if u.service == "telegram" && !strings.Contains(said, "Recorded: approved once") && !strings.Contains(said, "You already") {
			u.T.Errorf("a click is told %q", said)
		}
	}
	u.truthful(a)
}

// contradiction clicks two controls before the card changes: the first click
// decides, and the person reads that about the other one.
func contradiction(u *clicker) {
	a := u.Ask(samples.Approval())
	label := u.ApprovingLabel(a.On(u.service))
	reactions := u.atOnce(holding(u.Rig, a, u.service, label, "bo"), holding(u.Rig, a, u.service, render.LabelDeny, "bo"))
	if len(reactions) == 2 {
		n := slices.IndexFunc(reactions, func(x sandbox.Reaction) bool { return strings.Contains(x.Toast, " already ") })
		u.told("bo", reactions[max(n, 0)], "You already")
	}
	u.truthful(a)
}

// atOnce performs clicks at the same moment. It returns the reactions to those
// that came before the card was closed.
func (u *clicker) atOnce(acts ...sandbox.Action) []sandbox.Reaction {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var out []sandbox.Reaction
	for _, act := range acts {
		u.clicks++
		wg.Go(func() {
			reaction, err := u.Sandbox.Act(u.Ctx, act)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && reaction.Warning == "" {
				out = append(out, reaction)
			}
		})
	}
	wg.Wait()
	return out
}

// editCalls are the calls that edit a card.
var editCalls = map[string]string{
	"slack": "chat.update", "discord": "PATCH /channels/{channel}/messages/{message}", "telegram": "editMessageText",
}

// lateClick clicks on a card that does not show yet that it was decided.
func lateClick(u *clicker) {
	for delay := 100 * time.Millisecond; ; delay *= 2 {
		a := u.Ask(samples.Approval())
		act := holding(u.Rig, a, u.service, u.ApprovingLabel(a.On(u.service)), "bo")
		u.Sandbox.AddFault(sandbox.Fault{Service: u.service, Method: editCalls[u.service], Kind: "delay", Delay: delay, Count: 1})
		if _, err := u.Person.Respond(u.Ctx, a.Interaction.ID, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
			u.T.Fatal(err)
		}
		u.clicks++
		reaction, err := u.Sandbox.Act(u.Ctx, act)
		if err == nil {
			u.told("bo", person.Did(u.T, reaction, nil), "ana already")
		}
		u.truthful(a)
		u.Sandbox.ClearFaults()
		if err == nil {
			return
		}
	}
}

func typedConfirmation(u *clicker) {
	req := samples.Approval()
	req.Approval.Confirm = "prod"
	a := u.Ask(req)
	label := u.ApprovingLabel(a.On(u.service))
	wrong := u.typed("ana", a, label, "staging")
	if u.service == "telegram" {
		u.Eventually("the mistake is told", func() bool { return strings.Contains(rig.Chat(u.Rig, a.On(u.service).Channel), "exactly") })
	} else {
		u.told("ana", wrong, "exactly")
	}
	a.StillPending()
	u.typed("bo", a, label, "prod")
	a.End()
	u.truthful(a)
}

// edited approves a changed command.
func edited(u *clicker) {
	req := samples.Approval()
	req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
	a := u.Ask(req)
	u.clicks += 3
	u.Edit("cy", a.On(u.service), `{"command":"make deploy --dry-run"}`)
	a.End()
	u.truthful(a)
}

func deniedWithReason(u *clicker) {
	a := u.Ask(samples.Approval())
	u.typed("ana", a, strings.TrimSuffix(render.LabelDenyReason, "…"), "not on a *Friday* @here")
	u.truthful(a)
}

// twoApprovers needs two people, one of whom clicks twice.
func twoApprovers(u *clicker) {
	req := samples.Approval()
	req.Route = "two"
	a := u.Ask(req)
	u.approve("ana", a)
	u.truthful(a)
	u.told("ana", u.approve("ana", a), "already recorded")
	u.approve("bo", a)
	a.End()
	u.truthful(a)
}

// form answers three questions at once.
func form(u *clicker) {
	a := u.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "A new service", Questions: []bridge.Question{
		{ID: "where", Text: "Where?", Widget: bridge.WidgetRadio, Options: samples.Choices("eu", "us")},
		{ID: "name", Text: "Name?", Widget: bridge.WidgetText},
		{ID: "why", Text: "Why?", Widget: bridge.WidgetTextarea},
	}}})
	at := a.On(u.service)
	u.clicks += 2
	if u.service != "telegram" {
		u.Fill("cy", at, render.LabelAnswer, []string{"Us"}, []string{"billing"}, []string{"two\nlines"})
		u.truthful(a)
		return
	}
	step := func(n int) {
		u.T.Helper()
		u.Eventually("the next field", func() bool { return strings.Contains(a.Text(u.service), fmt.Sprintf("%d/3 ", n)) })
	}
	step(1)
	u.Press("cy", at, "Us")
	u.Press("cy", at, render.LabelNext)
	step(2)
	u.Typed("cy", at, render.LabelAnswer, "billing")
	step(3)
	u.Typed("cy", at, render.LabelAnswer, "two\nlines")
	u.Eventually("the review", func() bool { return strings.Contains(a.Text(u.service), "Check and submit") })
	u.Press("cy", at, render.LabelSubmit)
	u.truthful(a)
}

func declined(u *clicker) {
	req := samples.One(bridge.WidgetButtons, samples.Choices("eu", "us")...)
	req.Declinable = true
	a := u.Ask(req)
	u.press("bo", a, render.LabelDecline)
	u.truthful(a)
}

// deferred decides after the agent has stopped waiting. Its session fetches the
// answer later.
func deferred(u *clicker) {
	a := u.Ask(samples.Approval())
	if _, err := u.Agent.Queue(u.Ctx, a.Interaction.ID, 0, ""); err != nil {
		u.T.Fatal(err)
	}
	u.approve("ana", a)
	u.truthful(a)
	if all, err := u.Agent.Messages(u.Ctx, a.Interaction.Session); err != nil || len(all) != 1 {
		u.T.Errorf("the session gets %d answers, %v", len(all), err)
	}
	u.truthful(a)
}

func planApproved(u *clicker) {
	a := u.Ask(planned("1. stop it\n2. start it"))
	waiting := u.awaited(a)
	u.press("ana", a, render.LabelApprove)
	waiting()
	u.truthful(a)
}

// followedUp requests changes of a plan, and approves the next one in the same
// message.
func followedUp(u *clicker) {
	req := planned("1. stop it")
	req.Session = "s-" + rand.Text()[:8]
	a := u.Ask(req)
	u.typed("bo", a, strings.TrimSuffix(render.LabelChanges, "…"), "start it again")
	a.End()
	u.Eventually("the card shows the answer", func() bool { return u.Untrue(u.record(a.Interaction.ID)) == "" })
	next, err := u.Agent.Reprompt(u.Ctx, a.Interaction.ID, planned("1. stop it\n2. start it"), "")
	if err != nil {
		u.T.Fatal(err)
	}
	b := a.As(next)
	u.truthful(b)
	u.press("ana", b, render.LabelApprove)
	b.End()
	u.truthful(b)
	u.checks = slices.Delete(u.checks, len(u.checks)-2, len(u.checks)-1) // the same check
}

func withdrawn(u *clicker) {
	a := u.Ask(samples.Approval())
	if _, err := u.Agent.Cancel(u.Ctx, a.Interaction.ID, "the plan has changed"); err != nil {
		u.T.Fatal(err)
	}
	u.truthful(a)
}

// atTerminal resolves requests where the agent runs.
func atTerminal(u *clicker) {
	for _, reason := range []string{bridge.ReasonAllowed, bridge.ReasonAnswered, bridge.ReasonDismissed} {
		a := u.Ask(samples.Approval())
		if _, err := u.Agent.Cancel(u.Ctx, a.Interaction.ID, reason); err != nil {
			u.T.Fatal(err)
		}
		u.truthful(a)
	}
}

// expired lets a deadline pass, which the audit waits for.
func expired(u *clicker) {
	req := samples.Approval()
	req.Timeout = bridge.Duration(inTime)
	a := u.Ask(req)
	u.later = append(u.later, func() {
		over(u.Rig, a.Interaction.ID)
		u.truthful(a)
	})
}
