// Path of a click: click.go of bridge/engine → this file → click_check.go of bridge/engine.
// Path of a request: open.go of bridge/engine → this file → open.go of bridge/core.

package rooms

import (
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
)

// seams returns the participants in a request and in a click, in the order in
// which the engine calls them. The documentation has the same lists; see
// TestOrder.
func (h *House) seams() engine.Seams {
	return engine.Seams{
		Openers: []engine.Opener{
			{Name: "the webhooks that get the outcome are recorded", Open: h.webhooks.Open},
			{Name: "the ruling of the policy, or the settings of the agent, may answer it", Open: h.Openings.Ruled},
			{Name: "a grant may cover it", Open: h.Grants.Open},
			{Name: "people can be reached", Open: h.Openings.Reached},
			{Name: "a request of a stopped session is refused, unless it is denied anyway", Open: h.Sessions.Open, Always: true},
		},
		Clicks: []engine.Decider[engine.Click]{
			{Name: "nod made the control, and it belongs to the card", Decide: h.Clicks.Located},
			{Name: "the click is not on the message of a session, which this check handles itself", Decide: h.Sessions.Click},
			{Name: "the person may answer", Decide: h.Clicks.MayAnswer},
			{Name: "the chosen options exist", Decide: h.Clicks.Chosen},
			{Name: "the card shows everything that the click decides", Decide: h.Clicks.ShowsAll},
			{Name: "the card shows the current terms", Decide: h.Clicks.CurrentTerms},
			{Name: "the control neither postpones a reminder nor delegates", Decide: h.steps.Click},
		},
		Decisions: []engine.Decider[engine.Decision]{
			{Name: "the session is not stopped", Decide: h.Sessions.Decide},
			{Name: "the terms are those that the person saw", Decide: h.Decisions.SameTerms},
			{Name: "the current config lets the person approve it", Decide: h.Decisions.CurrentConfig},
			{Name: "an edited input may be approved here", Decide: h.Decisions.Fits},
			{Name: "earlier approvals still count", Decide: h.Decisions.Recounted},
			{Name: "the person has given the required proof", Decide: h.Passkeys.Decide},
		},
		Resolvers: []engine.Resolver{
			{Name: "a denial with a stop stops the session", Also: h.Sessions.Also, Resolve: h.Sessions.Resolve, Again: true, Send: h.Sessions.Send},
			{Name: "the key that signs an approval is not revoked", Also: h.Passkeys.Also},
			{Name: "an approval creates its grants", Also: h.Grants.Also, Resolve: h.Grants.Resolve},
		},
		Workers: []engine.Worker{
			{Kind: life.JobStep, Work: h.steps.Step},
			{Kind: life.JobRemind, Work: h.steps.Remind, GaveUp: h.steps.Untold},
			{Kind: life.JobHook, Work: h.webhooks.Work},
		},
		Showers: []engine.Shower{
			{Name: "the status of the session", Show: h.Sessions.Show, Shown: h.Sessions.Shown},
		},
	}
}
