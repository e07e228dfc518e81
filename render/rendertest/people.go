package rendertest

import (
	"time"

	"github.com/nodbridge/nod/bridge"
)

// people returns cards that mention people, count their votes, let them delegate
// or decline, or hide the request from others.
func people() []Sample {
	ana := bridge.Actor{Platform: "telegram", User: "7001", Name: "Ana", Person: "ana"}
	voted := approval()
	voted.Quorum, voted.DenyCounts, voted.Redacted, voted.Risk = 3, true, 1, "high"
	voted.Snooze, voted.HandOver = bridge.Duration(10*time.Minute), []string{"bo", "cy"}
	r := pending(voted)
	r.Joined = 2
	r.Votes = []bridge.Vote{{Actor: ana, State: bridge.StateApproved}, {Actor: bridge.Actor{Person: "bo"}, State: bridge.StateDenied}}
	votes := view(r)
	votes.Mentions = []bridge.Mention{{Person: "Cy", Name: "Cy", User: "7003"}, {Name: "ops", Group: "1/22"}}
	delegated := ask(question("q1", bridge.WidgetConfirm))
	delegated.Declinable, delegated.Snooze, delegated.HandOver = true, bridge.Duration(10*time.Minute), []string{"bo", "cy"}
	group := delegated
	group.Declinable, group.HandOver = false, []string{"bo", "@ops"}
	hidden, question := approval(), ask(question("q1", bridge.WidgetText))
	hidden.Private, question.Private = true, true
	withheld := view(pending(approval())).Withhold("give nod a right")
	return []Sample{
		{"withheld", withheld}, {"withheld-denied", view(ended(approval(), bridge.StateDenied)).Withhold("")},
		{"approval-votes", votes}, {"delegate", view(pending(delegated))}, {"delegate-group", view(pending(group))},
		{"private", view(pending(hidden))}, {"private-question", view(pending(question))}, {"private-denied", view(ended(hidden, bridge.StateDenied))},
	}
}
