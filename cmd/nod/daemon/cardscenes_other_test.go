package daemon_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/render"
)

func regions() []bridge.Option {
	return []bridge.Option{
		{Value: "eu", Label: "Frankfurt", Description: "18 ms to most users"},
		{Value: "ie", Label: "Dublin", Description: "26 ms, cheapest"},
		{Value: "us", Label: "Ohio", Description: "95 ms, has the spare quota"},
	}
}

func asked(prompt string, q ...bridge.Question) bridge.Request {
	for n := range q {
		if q[n].ID == "" {
			q[n].ID = fmt.Sprintf("q%d", n)
		}
	}
	return bridge.Request{Ask: bridge.Ask{
		Session: "cluster-3", Prompt: prompt, Questions: q, Declinable: true, Timeout: bridge.Duration(19 * time.Hour),
	}}
}

func questionCards(al *album) {
	const g = "questions"
	buttons := al.Ask(asked("Which region should the new cluster use?",
		bridge.Question{Widget: bridge.WidgetButtons, Options: regions()}))
	al.card(g, "Options as buttons, with descriptions", buttons)
	al.Press("ana", buttons.On("discord"), "Frankfurt")
	buttons.End()
	buttons.Closed("Frankfurt")
	al.card(g, "The answer", buttons)
	al.card(g, "Options as a menu", al.Ask(asked("Which region should the backups use?",
		bridge.Question{Widget: bridge.WidgetSelect, Options: regions()})))
	boxes := al.Ask(asked("Which regions need the hotfix?", bridge.Question{Widget: bridge.WidgetCheckbox, Options: regions()}))
	al.card(g, "Several choices", boxes)
	text := al.Ask(asked("What should the changelog say about the login change?",
		bridge.Question{Widget: bridge.WidgetTextarea, MaxLength: 300, Description: "One or two sentences."}))
	al.card(g, "Text", text)
	opened := al.Press("ana", text.On("slack"), render.LabelAnswer)
	al.says("slack", g, "Text, in a dialog", "sentences")
	al.close("slack", opened.Modal)
	opened = al.Press("ana", text.On("discord"), render.LabelAnswer)
	al.says("discord", g, "Text, in a dialog", "sentences")
	al.close("discord", opened.Modal)
	declinedCard := al.Ask(asked("May I name you in the changelog?", bridge.Question{Widget: bridge.WidgetConfirm}))
	al.card(g, "Yes or no", declinedCard)
	al.Press("bo", declinedCard.On("slack"), render.LabelDecline)
	declinedCard.End()
	declinedCard.Closed("Closed without an answer")
	al.card(g, "Closed without an answer", declinedCard)

	fields := everyField()
	fields.Declinable = true
	form := al.Ask(fields)
	al.card(g, "Form", form)
	opened = al.Press("ana", form.On("slack"), render.LabelAnswer)
	al.says("slack", g, "Form, in a dialog", "")
	al.close("slack", opened.Modal)
	opened = al.Press("ana", form.On("discord"), render.LabelAnswer)
	al.says("discord", g, "Form, first page", "")
	_, err := al.Sandbox.Person("ana").Fill(al.Ctx, "discord", opened.Modal, append([][]string{{"billing"}}, everyValue[1:5]...)...)
	if err != nil {
		al.t.Fatal(err)
	}
	al.says("discord", g, "Form, between two pages", "Continue (2 of 3)")
	al.Typed("ana", form.On("telegram"), render.LabelAnswer, "billing")
	al.Eventually("the next field", func() bool { return strings.Contains(form.Text("telegram"), "2/12") })
	al.message("telegram", g, "Form, second field", form)
}

func otherCards(al *album) {
	const g = "rest"
	plan := func(steps string) bridge.Request {
		return bridge.Request{Ask: bridge.Ask{
			Session: "sessions-7", Prompt: "Move the sessions to Redis", Timeout: bridge.Duration(19 * time.Hour),
			Questions: []bridge.Question{{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: steps}},
		}}
	}
	const steps = "1. Add a store behind the `sessions.redis` flag\n2. Write to both for 24 hours, and compare\n" +
		"3. Switch the reads, one region at a time\n4. Remove the table `sessions`"
	a := al.Ask(plan(steps))
	al.card(g, "Plan review", a)
	al.Typed("bo", a.On("slack"), strings.TrimSuffix(render.LabelChanges, "…"),
		"Keep the table for 30 days instead of removing it in step 4.")
	a.End()
	a.Closed("30 days")
	al.card(g, "Changes requested", a)
	next, err := al.Agent.Reprompt(al.Ctx, a.Interaction.ID, plan(steps+" after 30 days"), "")
	if err != nil {
		al.t.Fatal(err)
	}
	b := a.As(next)
	for _, s := range rig.Services {
		al.Eventually("the second round", func() bool { return strings.Contains(b.Text(s), "after 30 days") })
	}
	al.Press("ana", b.On("slack"), render.LabelApprove)
	b.End()
	b.Closed("Plan approved")
	al.card(g, "Plan approved, in the second round", b)

	al.card(g, "Notice", al.Ask(bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindNotice, Session: "release-42",
		Prompt: "Release 42 is **live** in prod. 6 of 6 pods are ready. CI run: https://ci.example.com/run/4711",
	}}))
	remindersAndLists(al, g)
}

// remindersAndLists leaves a request unanswered: it is reminded of and listed.
func remindersAndLists(al *album, g string) {
	al.t.Helper()

	soon := asks("release-70", deletePod)
	soon.Route = "soon"
	late := al.Ask(soon)
	al.Eventually("reminders", func() bool {
		return strings.Contains(rig.Chat(al.Rig, late.On("telegram").Channel), " left to decide (until ")
	})
	for _, s := range rig.Services {
		al.says(s, g, "Reminder", " left to decide (until ")
	}
	for _, s := range rig.Services {
		reaction, err := al.Sandbox.Person("ana").Command(al.Ctx, s, late.On(s).Channel, "/nod pending")
		person.Did(al.t, reaction, err)
		if s == "telegram" { // lists are sent in private
			drive(al.t, al.ctx, "the private chat", click(s, "nod (private)"))
		}
		al.says(s, g, "/nod pending", "Pending requests")
	}
	drive(al.t, al.ctx, "the group", click("telegram", "Deploys"))
	homeTab(al, g)
}

// homeTab copies the Home tab of the Slack app.
func homeTab(al *album, g string) {
	al.t.Helper()
	drive(al.t, al.ctx, "the Home tab", click("slack", "Home"))
	al.keep("slack", g, "Home tab", `
		const e = document.querySelector("#slack .home");
		return e && e.textContent.includes("kubectl") ? e : null`)
	drive(al.t, al.ctx, "the channel", click("slack", "deploys"))
}
