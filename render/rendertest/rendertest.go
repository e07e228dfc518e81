// Package rendertest holds the views that the tests of all platforms render,
// and compares their visible text with golden files.
package rendertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// Sample is a named view.
type Sample struct {
	Name string
	View bridge.View
}

// Samples returns one view for each widget and state.
func Samples() []Sample {
	out := []Sample{{"buttons", view(pending(long(ask(question("q1", bridge.WidgetButtons)))))}}
	for _, w := range []bridge.Widget{bridge.WidgetConfirm, bridge.WidgetSelect, bridge.WidgetRadio, bridge.WidgetCheckbox, bridge.WidgetText, bridge.WidgetTextarea,
		bridge.WidgetActionSelection, bridge.WidgetNumber, bridge.WidgetDate, bridge.WidgetTime, bridge.WidgetDateTime, bridge.WidgetEmail, bridge.WidgetURL,
		bridge.WidgetPlanReview, bridge.WidgetFeedback, bridge.WidgetForm} {
		out = append(out, Sample{string(w), view(pending(ask(question("q1", w))))})
	}
	out = append(out, life()...)
	notice := long(base())
	notice.Kind = bridge.KindNotice
	longNotice := notice
	longNotice.Prompt = strings.Repeat("a long line of a long report\n\n", 600)
	out = append(out, Sample{"notice-long", view(pending(longNotice))})
	out = append(out, Sample{"notice", view(pending(notice))}, Sample{"notice-shown", view(ended(notice, bridge.StateAnswered))})
	several := long(ask(question("where", bridge.WidgetRadio), question("what", bridge.WidgetCheckbox), question("why", bridge.WidgetText)))
	out = append(out, Sample{"several", view(pending(several))})
	out = append(out, Sample{"approval", view(pending(long(approval())))})
	able := approval()
	a := able.Approval
	a.DefaultNo, a.Decisions = true, []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyAlways, bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideAlways, bridge.DecideEdit}
	a.AgentRemembers, a.ScopeNotes = true, map[bridge.Scope]string{bridge.ScopeAlways: "`git push *` in <this> project"}
	byRule := approval()
	byRule.RuleGrants = []bridge.RuleGrant{{Key: "1", Rule: "clean", Covers: "command `rm *`"}, {Key: "2", Rule: "greet <us>", Covers: "command `echo *`"}}
	byRule.Approval.Where, byRule.GrantFor = "/srv", bridge.Duration(8*time.Hour)
	confirm := approval()
	confirm.Approval.Confirm = "delete prod"
	edited := ended(able, bridge.StateApproved)
	edited.Response.Scope, edited.Response.Covers, edited.Response.Input = bridge.ScopeOnce, nil, json.RawMessage(`{"command":"rm -rf /tmp/<y>","cwd":"/srv"}`)
	stopped := ended(able, bridge.StateDenied)
	stopped.Response.Stop = true
	out = append(out, Sample{"approval-able", view(pending(able))}, Sample{"approval-confirm", view(pending(confirm))},
		Sample{"approval-rule", view(pending(byRule))}, Sample{"approval-rule-given", view(ended(byRule, bridge.StateApproved))},
		Sample{"approval-edited", view(edited)}, Sample{"approval-stopped", view(stopped)})
	script := approval()
	script.Approval.Scopes = []bridge.Scope{bridge.ScopeOnce} // the card cannot hold the coverage of wider scopes
	script.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, bytes.Repeat([]byte("line of a long script\n"), 900))
	out = append(out, Sample{"approval-long", view(pending(script))})
	for _, s := range []bridge.State{bridge.StateApproved, bridge.StateDenied, bridge.StateExpired, bridge.StateCancelled, bridge.StateSuperseded, bridge.StateUndeliverable} {
		i := approval()
		if s == bridge.StateApproved {
			i = long(i)
		}
		out = append(out, Sample{"approval-" + string(s), view(ended(i, s))})
	}
	out = append(out, Sample{"several-answered", view(ended(several, bridge.StateAnswered))})
	return slices.Concat(out, people(), sessions())
}

// Form is a named form of a decision.
type Form struct {
	Name string
	bridge.Form
}

// Forms returns the forms that the controls of approvals open.
func Forms() []Form {
	views := map[string]bridge.View{}
	for _, s := range Samples() {
		views[s.Name] = s.View
	}
	more := bridge.Control{Action: bridge.ActionMore}
	opens := func(sample string, d bridge.Decision, option int) bridge.Form {
		v := views[sample]
		n := slices.Index(v.Record.Interaction.Decisions(), d)
		return bridge.Form{View: v, Control: bridge.Control{Action: bridge.ActionInput, Question: n, Option: option}}
	}
	reason := opens("approval", bridge.DecideDenyReason, bridge.OptionReason)
	both := *reason.View.Record.Interaction.Approval
	both.Decisions = append(reason.View.Record.Interaction.Decisions(), bridge.DecideDenyAlways)
	reason.View.Record.Interaction.Approval = &both
	answer := opens("approval", bridge.DecideRespond, bridge.OptionDecide)
	respond := *answer.View.Record.Interaction.Approval
	respond.Decisions = append(slices.Clone(answer.View.Record.Interaction.Decisions()), bridge.DecideRespond)
	answer.View.Record.Interaction.Approval = &respond
	answer.Control.Question = len(respond.Decisions) - 1
	out := []Form{
		{"approval", bridge.Form{View: views["approval"], Control: more}}, {"approval-able", bridge.Form{View: views["approval-able"], Control: more}},
		{"approval-rule", bridge.Form{View: views["approval-rule"], Control: more}}, {"approval-confirm", bridge.Form{View: views["approval-confirm"], Control: more}},
		{"deny-only", bridge.Form{View: views["approval-able"], Control: more, DenyOnly: true}},
		{"session", opens("approval", bridge.DecideSession, bridge.OptionDecide)}, {"session-rule", opens("approval-rule", bridge.DecideSession, bridge.OptionDecide)},
		{"session-confirm", opens("approval-confirm", bridge.DecideSession, bridge.OptionDecide)}, {"stop", opens("approval-able", bridge.DecideDenyStop, bridge.OptionDecide)},
		{"reason", reason}, {"respond", answer}, {"votes", bridge.Form{View: views["approval-votes"], Control: more}},
	}
	check := opens("approval-able", bridge.DecideEdit, 0)
	check.View.Draft = &bridge.Draft{Input: `{"command":"make deploy && make check","env":"test"}`}
	check.Control.Option = bridge.EditedOption(check.View.Draft.Input)
	return append(out, Form{"edit-check", check})
}

// life returns a view for each state of a request that is not an outcome.
func life() []Sample {
	preview := question("q1", bridge.WidgetRadio)
	preview.Options[0].Preview = "region: eu\n```\n<@U1>"
	again := ask(question("q1", bridge.WidgetText))
	again.Round, again.Error, again.ToolName = 2, "that *version* does not exist", "collect"
	again.Initial = map[string]bridge.Answer{"q1": bridge.TextAnswer("v0 <x>")}
	queued, escalated := pending(again), pending(approval())
	queued.Queued = created
	escalated.Interaction.Called = []string{"on <call>"}
	hidden := ask(question("where", bridge.WidgetText))
	no := false
	hidden.CompletedView = &bridge.CompletedView{ShowInputs: &no, SummaryTemplate: "{{actor}} chose: {{action}} @everyone"}
	done := ended(hidden, bridge.StateAnswered)
	done.Completion = &bridge.Completion{Result: "deployed\n```to``` <prod>"}
	failed := ended(approval(), bridge.StateApproved)
	failed.Delivered, failed.Unawaited, failed.Completion = time.Time{}, true, &bridge.Completion{Error: "disk *full* @here"}
	return []Sample{
		{"preview", view(pending(ask(preview)))}, {"reprompt", view(pending(again))}, {"unfinished", view(pending(again)).Unfinished()}, {"queued", view(queued)},
		{"escalated", view(escalated)}, {"completed", view(done)}, {"handler-error", view(failed)},
	}
}

func view(r bridge.Record) bridge.View {
	r.Interaction.Content, _ = proof.Content(r.Interaction) // a plain struct always encodes
	return bridge.NewView(r, 0, nil, func(c bridge.Control) string { return tokenMark + sends(r.Interaction, c) })
}

var created = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)

func pending(i bridge.Interaction) bridge.Record {
	return bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}
}

func ended(i bridge.Interaction, s bridge.State) bridge.Record {
	r := bridge.Record{Interaction: i, State: s, Revision: 2}
	r.Response = &bridge.Response{State: s, At: created.Add(10 * time.Second), Digest: i.Digest, Annotations: map[string]bridge.Annotation{}}
	switch s {
	case bridge.StateApproved, bridge.StateDenied, bridge.StateAnswered:
		r.Response.Actor = &bridge.Actor{Platform: "telegram", User: "7001", Name: "Ana *Lima*", Person: "ana"}
		r.Delivered = created.Add(11 * time.Second)
	}
	switch s {
	case bridge.StateApproved:
		r.Response.Scope = bridge.ScopeSession
		r.Response.Covers = i.Coverage(bridge.ScopeSession)
	case bridge.StateDenied, bridge.StateCancelled, bridge.StateUndeliverable:
		r.Response.Reason = "not <now> & not *here*"
	case bridge.StateAnswered:
		r.Response.Answers = map[string]bridge.Answer{"where": bridge.TextAnswer("eu"), "what": bridge.ListAnswer("eu", "something else"), "why": bridge.TextAnswer("because <@U1>\n@everyone")}
	}
	return r
}

func question(id string, w bridge.Widget) bridge.Question {
	q := bridge.Question{ID: id, Widget: w, Text: "Which *one* for " + id + "?", Header: "Region"}
	switch w {
	case bridge.WidgetText, bridge.WidgetTextarea:
		q.Placeholder, q.MaxLength = "type here", 200
	case bridge.WidgetNumber:
		low, high := 1.0, 9.5
		q.Min, q.Max, q.Description = &low, &high, "how *many*"
	case bridge.WidgetDate, bridge.WidgetTime, bridge.WidgetDateTime, bridge.WidgetEmail, bridge.WidgetURL:
		q.MaxLength = 200
	case bridge.WidgetPlanReview:
		q.Plan = "## Plan\n\n1. stop <@U1>\n2. *start*"
	case bridge.WidgetFeedback:
		q.Items = []bridge.Item{{ID: "a", Content: "the *first* <part>"}, {ID: "b", Content: "the second"}}
	case bridge.WidgetForm:
		q.Schema = json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string","title":"Your <name>","description":"as *usual*","maxLength":50},"age":{"type":"integer","minimum":18},"ok":{"type":"boolean","default":true},"tags":{"type":"array","items":{"enum":["a","b"]},"maxItems":1}}}`)
	case bridge.WidgetConfirm:
		q.Options = []bridge.Option{{Value: "yes", Label: "Yes"}, {Value: "no", Label: "No"}}
	default:
		d := bridge.TextAnswer("us")
		if w == bridge.WidgetCheckbox {
			d = bridge.ListAnswer("us")
		}
		q.Default, q.AllowOther = &d, true
		q.Options = []bridge.Option{{Value: "eu", Label: "Europe", Description: "Frankfurt & Dublin"}, {Value: "us", Label: "America <east>"}}
	}
	return q
}

func base() bridge.Interaction {
	return bridge.Interaction{
		ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Agent: "deploy-bot",
		Ask: bridge.Ask{
			Session: "release-42",
			Prompt:  "Release **42** is _ready_.",
		},
		Schedule:  bridge.Schedule{Created: created, Deadline: created.Add(5 * time.Minute)},
		Placement: bridge.Placement{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C1"}}},
		Digest:    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	}
}

// long gives a request a prompt with every kind of markup. The other samples
// are short, so that a change of the markup affects few cards.
func long(i bridge.Interaction) bridge.Interaction {
	i.Prompt = "Release **42** is _ready_. See [the plan](https://example.com/plan?a=1&b=2).\n\n- one\n- `two`\n  1. deep\n\n> quoted @everyone\n\n```sh\necho \"<hi>\" && ls\n```"
	return i
}

func ask(q ...bridge.Question) bridge.Interaction {
	i := base()
	i.Kind, i.Questions = bridge.KindAsk, q
	return i
}

func approval() bridge.Interaction {
	i := base()
	i.Kind, i.GrantKey = bridge.KindApproval, "exact:"+i.Digest
	i.Approval = &bridge.Approval{Tool: "bash", Input: json.RawMessage(`{"command":"rm -rf /tmp/<x> && echo '@here'","cwd":"/srv"}`), Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}}
	return i
}
