package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// route changes the default route of a rig.
func route(change func(*config.Route)) func(*config.Config) {
	return func(c *config.Config) {
		r := c.Routes[bridge.DefaultRoute]
		change(&r)
		c.Routes[bridge.DefaultRoute] = r
	}
}

// TestQuorum checks that the number of people in the quorum must approve, on
// any platform, that two accounts of one person count once, and that one denial
// denies the request.
func TestQuorum(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: route(func(r *config.Route) { r.Quorum = 2 })})
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Press("ana", a.On("slack"), "Run command")
	r.Eventually("the card says who has approved", func() bool {
		return strings.Contains(a.Text("discord"), "1 of 2 approved: ana") && strings.Contains(a.Text("telegram"), "Still needed: 1 more")
	})
	// The same person uses another account.
	r.Told("ana", "telegram", r.Press("ana", a.On("telegram"), "Run command"), "already recorded")
	reaction := r.Press("ana", a.On("discord"), "Run command")
	r.Told("ana", "discord", reaction, "already recorded")
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("ana approves again by API: %v", err)
	}
	if rec := a.StillPending(); len(rec.Votes) != 1 {
		t.Fatalf("votes: %+v", rec.Votes)
	}
	r.Press("bo", a.On("telegram"), "Run command")
	rec := a.End()
	if rec.State != bridge.StateApproved || len(rec.Votes) != 2 {
		t.Fatalf("%s, votes %+v", rec.State, rec.Votes)
	}
	a.Closed("Approved by ana, bo")
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	if receipt, err := keys.VerifyReceipt(rec.Receipt); err != nil || len(receipt.Votes) != 2 || receipt.Votes[0].Actor.Person != "ana" || receipt.Votes[1].Actor.Platform != "telegram" {
		t.Errorf("the receipt's votes: %+v, %v", receipt.Votes, err)
	}

	b := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Press("ana", b.On("discord"), "Run command")
	r.Press("bo", b.On("slack"), "Deny")
	if rec := b.End(); rec.State != bridge.StateDenied {
		t.Errorf("state after one denial: %s", rec.State)
	}
}

// TestVotes checks that a denial can count as one vote, that a vote can be
// changed, and that the request waits for its required approvers.
func TestVotes(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Groups = map[string]config.Group{"security": {People: config.Words{"cy"}}}
		route(func(r *config.Route) { r.Quorum, r.Deny, r.Must = 2, "counts", []string{"@security"} })(c)
	}})
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Press("ana", a.On("telegram"), "Deny")
	r.Eventually("the denial is shown", func() bool { return strings.Contains(a.Text("telegram"), "Denied by ana") })
	r.Press("bo", a.On("telegram"), "Run command")
	r.Press("ana", a.On("telegram"), "Run command") // she changes her vote
	if rec := a.StillPending(); rec.Approvals() != 2 || rec.Missing() != "@security" {
		t.Fatalf("%d approvals, missing %q", rec.Approvals(), rec.Missing())
	}
	r.Press("cy", a.On("telegram"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Approvals() != 3 {
		t.Errorf("%s by %v", rec.State, rec.Voters(bridge.StateApproved))
	}
	b := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Press("ana", b.On("telegram"), "Deny")
	b.StillPending()
	r.Press("bo", b.On("telegram"), "Deny")
	if rec := b.End(); rec.State != bridge.StateDenied {
		t.Errorf("state after two denials: %s", rec.State)
	}
}

// TestVotedScope checks that the narrowest scope of all approvals applies.
func TestVotedScope(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route(func(r *config.Route) { r.Quorum = 2 })(c)
	}})
	for _, c := range []struct {
		first, second string
		want          bridge.Scope
		grants        int
	}{{"Run command", "Always", bridge.ScopeOnce, 0}, {"Always", "Run command", bridge.ScopeOnce, 0}, {"Always", "session", bridge.ScopeSession, 1}, {"Always", "Always", bridge.ScopeAlways, 2}} {
		req := command("make "+c.first+c.second, "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
		a := r.Ask(req)
		r.Press("ana", a.On("slack"), c.first)
		r.Eventually("the vote is counted", func() bool { return strings.Contains(a.Text("slack"), "1 of 2") })
		r.Press("bo", a.On("slack"), c.second)
		if rec := a.End(); rec.Response.Scope != c.want {
			t.Errorf("%s and %s: %s", c.first, c.second, rec.Response.Scope)
		}
		if all, err := r.Agent.Grants(r.Ctx, ""); err != nil || len(all) != c.grants {
			t.Errorf("%s and %s: %d grants, %v", c.first, c.second, len(all), err)
		}
	}
}

// TestVotesRace checks that concurrent votes of many people on three platforms
// make one decision, with exactly the required number of votes.
func TestVotesRace(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: route(func(r *config.Route) { r.Quorum = 3 })})
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	done := make(chan error, 9)
	for _, who := range []string{"ana", "bo", "cy"} {
		for _, service := range rig.Services {
			go func() {
				_, err := r.Sandbox.Person(who).Press(r.Ctx, a.On(service), "Run command")
				done <- err
			}()
		}
	}
	for range 9 {
		if err := <-done; err != nil {
			t.Log(err) // a click on a card that has just closed is expected to fail
		}
	}
	rec := a.End()
	if rec.State != bridge.StateApproved || len(rec.Votes) != 3 {
		t.Errorf("%s, votes %+v", rec.State, rec.Votes)
	}
}

// TestSelfApproval checks that the owner of an agent cannot approve its
// requests with any account or token, unless the route allows it.
func TestSelfApproval(t *testing.T) {
	t.Parallel()
	owned := func(c *config.Config) {
		agent := c.Agents["tester"]
		agent.Owners = []string{"ana"}
		c.Agents["tester"] = agent
	}
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		owned(c)
		allowed := c.Routes[bridge.DefaultRoute]
		allowed.AllowSelf = true
		c.Routes["trusting"] = allowed
	}})
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	for _, service := range rig.Services {
		r.Told("ana", service, r.Press("ana", a.On(service), "Run command"), "your own request")
	}
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("ana can approve her own request by API: %v", err)
	}
	a.StillPending()
	r.Press("bo", a.On("discord"), "Run command")
	if rec := a.End(); rec.Response.Actor.Person != "bo" {
		t.Errorf("%+v", rec.Response)
	}
	req := rig.Approval(bridge.ScopeOnce)
	req.Requester = "bo" // the person that the agent works for
	b := r.Ask(req)
	r.Told("bo", "telegram", r.Press("bo", b.On("telegram"), "Run command"), "your own request")
	r.Press("cy", b.On("slack"), "Run command")
	b.End()
	req = rig.Approval(bridge.ScopeOnce)
	req.Route = "trusting"
	d := r.Ask(req)
	r.Press("ana", d.On("slack"), "Run command")
	if rec := d.End(); rec.Response.Actor.Person != "ana" {
		t.Errorf("%+v", rec.Response)
	}
}

// TestGroupChange checks that the members of a group at the time of the click
// count, not those at the time of the post, and that no one counts as a member
// while the platform does not return the group.
func TestGroupChange(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		c.Identity.Remembered = config.Duration(time.Millisecond)
		c.Groups = map[string]config.Group{"sre": {Slack: sandbox.SlackUserGroup, Discord: sandbox.DiscordGuild + "/" + sandbox.DiscordRole, Telegram: fmt.Sprint(sandbox.TelegramChat)}}
		route(func(r *config.Route) { r.Responders = []string{"@sre"} })(c)
	}})
	groups := map[string]string{"slack": sandbox.SlackUserGroup, "discord": sandbox.DiscordRole, "telegram": fmt.Sprint(sandbox.TelegramChat)}
	for _, service := range rig.Services {
		r.Sandbox.SetGroup(service, groups[service], "mal")
		a := r.Ask(rig.Approval(bridge.ScopeOnce))
		r.Sandbox.SetGroup(service, groups[service], "bo")
		r.Told("mal", service, r.Press("mal", a.On(service), "Run command"), "may not answer")
		a.StillPending()
		// The group of one platform is enough for all accounts of bo.
		other := rig.Services[(len(service)+1)%len(rig.Services)]
		r.Press("bo", a.On(other), "Run command")
		if rec := a.End(); rec.State != bridge.StateApproved || rec.Response.Actor.Person != "bo" {
			t.Errorf("%s: %+v", service, rec.Response)
		}
		r.Sandbox.SetGroup(service, groups[service])
	}
	r.Sandbox.SetGroup("slack", groups["slack"], "bo")
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Sandbox.AddFault(sandbox.Fault{Service: "slack", Method: "usergroups.users.list", Kind: "error", Status: 503})
	r.Told("bo", "slack", r.Press("bo", a.On("slack"), "Run command"), "Not recorded")
	a.StillPending()
	r.Sandbox.ClearFaults()
	r.Press("bo", a.On("slack"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved {
		t.Error(rec.State)
	}
}

// TestRemovedPerson checks that a person who was removed from the config cannot
// answer earlier requests.
func TestRemovedPerson(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Daemons[0].Stop()
	delete(r.Config.People, "cy")
	route(func(r *config.Route) { r.Responders = []string{"ana", "bo"} })(&r.Config)
	next := r.Start(rig.Listen(t))
	r.Agent = client.New(next.URL, rig.TestAgentToken, nil)
	r.Daemons = r.Daemons[1:]
	r.Connected()
	r.Told("cy", "slack", r.Press("cy", a.On("slack"), "Run command"), "may not answer")
	a.StillPending()
}

// TestLinking checks that an unknown account gets a code, and that its click
// counts after the person has entered the code with a known account.
func TestLinking(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		c.Identity.Linking = true
		delete(c.People, "mal")
		bo := c.People["bo"]
		bo.Discord = "" // nod knows his other accounts
		c.People["bo"] = bo
		route(func(r *config.Route) { r.Quorum = 2 })(c)
	}})
	a := r.Ask(rig.Approval(bridge.ScopeOnce))
	r.Press("bo", a.On("discord"), "Run command")
	var note string
	r.Eventually("bo gets a code", func() bool {
		notes := r.Sandbox.Person("bo").Notes("discord")
		if len(notes) > 0 {
			note = notes[len(notes)-1]
		}
		return strings.Contains(note, "/nod link ")
	})
	code := strings.Fields(strings.SplitAfter(note, "/nod link ")[1])[0]
	if answer := said(r, "mal", "link "+code+" yes"); !strings.Contains(answer, "people in the config") {
		t.Errorf("mal enters the code: %q", answer)
	}
	if answer := said(r, "bo", "link "+code); !strings.Contains(answer, "answers as you, bo") {
		t.Errorf("before the confirmation: %q", answer)
	}
	a.StillPending()
	if answer := said(r, "bo", "link "+code+" yes"); !strings.Contains(answer, "Linked: ") || !strings.Contains(answer, "1 of 2") {
		t.Errorf("confirmed: %q", answer)
	}
	if rec := a.StillPending(); len(rec.Votes) != 1 || rec.Votes[0].Actor.Person != "bo" || rec.Votes[0].Actor.Platform != "discord" {
		t.Fatalf("%+v", rec.Votes)
	}
	// He is now one person with three accounts.
	r.Told("bo", "telegram", r.Press("bo", a.On("telegram"), "Run command"), "already recorded")
	if answer := said(r, "bo", "link "+code+" yes"); !strings.Contains(answer, "code not found") {
		t.Errorf("a code can be used twice: %q", answer)
	}
	r.Press("ana", a.On("slack"), "Run command")
	a.End()
}

// said returns nod's reply to a command in Slack.
func said(r *rig.Rig, who, words string) string {
	r.T.Helper()
	before := len(r.Sandbox.Person(who).Notes("slack"))
	_, err := r.Sandbox.Person(who).Command(r.Ctx, "slack", sandbox.SlackChannel, "/nod "+words)
	if err != nil {
		r.T.Fatal(err)
	}
	var notes []string
	r.Eventually("the command is answered", func() bool {
		notes = r.Sandbox.Person(who).Notes("slack")
		return len(notes) > before
	})
	return notes[len(notes)-1]
}

// TestEmail checks that an account is recognized by the email address that
// Slack has confirmed.
func TestEmail(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		r := rig.New(t, rig.Options{Config: func(c *config.Config) {
			rig.Only("slack")(c)
			c.Identity.Email = on
			bo := c.People["bo"]
			bo.Slack, bo.Email = "", "Bo@Example.com"
			c.People["bo"] = bo
		}})
		a := r.Ask(rig.Approval(bridge.ScopeOnce))
		reaction := r.Press("bo", a.On("slack"), "Run command")
		if !on {
			r.Told("bo", "slack", reaction, "may not answer")
			a.StillPending()
			continue
		}
		if rec := a.End(); rec.Response.Actor.Person != "bo" {
			t.Errorf("%+v", rec.Response.Actor)
		}
	}
}

func policyConfig(c *config.Config) {
	c.Risks = []config.Risk{{Name: "high"}, {Name: "critical", Quorum: 2, Confirm: "yes, production"}}
	c.Policy = []config.Rule{
		{Name: "never", Command: config.Words{"rm -rf *"}, Then: "deny", Reason: "no one may delete trees"},
		{Name: "look", Command: config.Words{"ls *"}, Then: "allow"},
		{Name: "prod", Command: config.Words{"kubectl delete *"}, Then: "ask", Risk: "critical"},
		{Name: "push", Command: config.Words{"git push *"}, Then: "ask", Grant: "rule", Scopes: config.Words{"once", "session"}, GrantFor: config.Duration(time.Hour)},
	}
}

func command(s, session string, scopes ...bridge.Scope) bridge.Request {
	r := rig.Approval(scopes...)
	r.Session = session
	r.Approval.Input = []byte(fmt.Sprintf(`{"command":%q}`, s))
	return r
}

// TestPolicy checks that no one is asked about requests that the rules allow or
// deny, and that the highest risk level requires two typed confirmations.
func TestPolicy(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		policyConfig(c)
		c.Receipts.Key = config.Secret{} // kept in Redis, so that the test can write grants
	}})
	open := func(s string) bridge.Record {
		rec, err := r.Agent.Open(r.Ctx, command(s, "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways), "")
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if rec := open("ls -la"); rec.State != bridge.StateApproved || rec.Response.Rule != "look" || rec.Response.Actor != nil || len(rec.Messages) != 0 || rec.Receipt == "" {
		t.Errorf("allowed: %+v", rec)
	}
	if rec := open("cd /; rm -rf tmp"); rec.State != bridge.StateDenied || rec.Response.Reason != "no one may delete trees" {
		t.Errorf("denied: %+v", rec)
	}
	given := r.Ask(command("make x", "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways))
	r.Press("ana", given.On("slack"), "Always allow")
	given.End()
	if rec := open("make x"); rec.State != bridge.StateApproved || rec.Response.Grant != given.Interaction.ID {
		t.Fatalf("the grant does not cover the request: %+v", rec)
	}
	if a, denial := r.Sandbox.State(), "rm -rf"; strings.Contains(fmt.Sprint(a), denial) {
		t.Error("people saw a request that the policy had decided")
	}

	a := r.Ask(command("kubectl delete ns prod", "s", bridge.ScopeOnce))
	if !strings.Contains(a.Text("slack"), "critical risk") {
		t.Errorf("the card does not show the risk: %s", a.Text("slack"))
	}
	r.Typed("ana", a.On("slack"), "Run command", "yes, production")
	rec := a.StillPending()
	if rec.Approvals() != 1 {
		t.Fatalf("%+v", rec.Votes)
	}
	reaction := r.Typed("bo", a.On("discord"), "Run command", "yes")
	r.Told("bo", "discord", reaction, "Type exactly")
	a.StillPending()
	r.Typed("cy", a.On("telegram"), "Run command", "yes, production")
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Interaction.Risk != "critical" || rec.Interaction.Rule != "prod" {
		t.Errorf("%+v", rec)
	}
}

// TestGrantByRule checks that a grant covers the requests that the rule
// matches, in the same location and for the duration in the rule. It approves
// pending requests, and it does not return after it is revoked.
func TestGrantByRule(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("slack")(c); policyConfig(c); rig.Auditor(c) }})
	in := func(s, where string) bridge.Request {
		req := command(s, "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
		req.Approval.Where = where
		return req
	}
	first, duplicate, elsewhere := r.Ask(in("git push origin main", "/repo")), r.Ask(in("git push origin dev", "/repo")), r.Ask(in("git push", "/other"))
	if strings.Contains(fmt.Sprint(first.Controls("slack")), "Always") {
		t.Error("the card offers a scope that the rule does not allow")
	}
	r.Press("ana", first.On("slack"), "session")
	rec := first.End()
	if rec := duplicate.End(); rec.State != bridge.StateApproved || rec.Response.Grant != first.Interaction.ID {
		t.Errorf("the pending duplicate was not approved: %+v", rec.Response)
	}
	elsewhere.StillPending()
	grants, err := r.Agent.Grants(r.Ctx, "")
	if err != nil || len(grants) != 1 {
		t.Fatalf("%+v, %v", grants, err)
	}
	if w := grants[0].Words; !strings.Contains(w, "`git push *`") || !strings.Contains(w, `in the location "/repo"`) || !strings.Contains(w, "by ana") || time.Until(grants[0].Expires) > time.Hour {
		t.Errorf("the grant in words: %s until %s", w, grants[0].Expires)
	}
	covered, err := r.Agent.Open(r.Ctx, in("git push --force", "/repo"), "")
	if err != nil || covered.State != bridge.StateApproved {
		t.Fatalf("%+v, %v", covered, err)
	}
	// Another command on the same line is not covered.
	if rec, err := r.Agent.Open(r.Ctx, in("git push; make clean", "/repo"), ""); err != nil || rec.State != bridge.StatePending {
		t.Errorf("the grant covers too much: %+v, %v", rec.Response, err)
	}
	if _, err := r.Person.Revoke(r.Ctx, grants[0].ID); err != nil {
		t.Fatal(err)
	}
	// Waiting for the answer that created the grant does not restore it.
	if _, err := r.Daemons[0].Engine().Await(r.Ctx, rec.Interaction.ID); err != nil {
		t.Fatal(err)
	}
	after := r.Ask(in("git push --tags", "/repo"))
	after.StillPending()
	log := string(rig.Exported(r))
	for _, entry := range []string{`"type":"grant"`, `"type":"revoke"`} {
		if strings.Count(log, entry) != 1 {
			t.Errorf("%d entries %s in the audit log", strings.Count(log, entry), entry)
		}
	}
}

// TestAgentLimits checks the kinds and the rate of requests that an agent may
// send, and tokens that the config has as a hash.
func TestAgentLimits(t *testing.T) {
	t.Parallel()
	fresh := "nod_" + strings.Repeat("x", 43)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		c.Agents["bounded"] = config.Agent{
			TokenHashes: config.Words{config.HashToken("old-token-that-still-counts"), config.HashToken(fresh)},
			Kinds:       config.Words{"approval"}, Scopes: config.Words{"once", "session"}, PerMinute: 5, MaxPending: 2, MaxBytes: 2000,
		}
	}})
	for token, code := range map[string]bridge.Code{fresh: "", "old-token-that-still-counts": "", config.HashToken(fresh): bridge.CodeUnauthenticated, "nod_other": bridge.CodeUnauthenticated} {
		if _, err := client.New(r.Daemons[0].URL, token, nil).List(r.Ctx, bridge.ListFilter{}); err != nil && bridge.ErrorCode(err) != code || err == nil && code != "" {
			t.Errorf("token %s: %v", token, err)
		}
	}
	tokens := daemon.Tokens(r.Config)
	agent := *tokens[strings.TrimPrefix(config.HashToken(fresh), config.HashPrefix)].Agent
	open := func(req bridge.Request) (bridge.Record, error) {
		return r.Daemons[0].Engine().Open(r.Ctx, agent, req, "")
	}
	if _, err := open(bridge.Request{Ask: bridge.Ask{
		Prompt: "x",
	}}); bridge.ErrorCode(err) != bridge.CodeForbidden || !strings.Contains(err.Error(), "kind") {
		t.Errorf("an ask: %v", err)
	}
	if _, err := open(bridge.Request{Ask: bridge.Ask{
		Prompt: strings.Repeat("x", 2000), Approval: &bridge.Approval{Tool: "t"},
	}}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a large one: %v", err)
	}
	var pending []bridge.Record
	for range 2 {
		rec, err := open(rig.Approval(bridge.ScopeOnce, bridge.ScopeAlways))
		if err != nil {
			t.Fatal(err)
		}
		if s := rec.Interaction.Approval.Scopes; len(s) != 1 || s[0] != bridge.ScopeOnce {
			t.Errorf("it offers %v", s)
		}
		pending = append(pending, rec)
	}
	if _, err := open(rig.Approval(bridge.ScopeOnce)); bridge.ErrorCode(err) != bridge.CodeRateLimited || !strings.Contains(err.Error(), "pending") {
		t.Errorf("a third pending request: %v", err)
	}
	if _, err := r.Daemons[0].Engine().Cancel(r.Ctx, pending[0].Interaction.ID, ""); err != nil {
		t.Fatal(err)
	}
	var err error
	for n := 0; err == nil; n++ {
		var rec bridge.Record
		if rec, err = open(rig.Approval(bridge.ScopeOnce)); err == nil {
			_, cancelled := r.Daemons[0].Engine().Cancel(r.Ctx, rec.Interaction.ID, "")
			if cancelled != nil || n > 12 { // twice the limit, in case a new minute starts
				t.Fatalf("%d requests, %v", n, cancelled)
			}
		}
	}
	if bridge.ErrorCode(err) != bridge.CodeRateLimited || bridge.PublicError(err).RetryAfter == 0 {
		t.Errorf("too many requests per minute: %v", err)
	}
	// No other agent can read the answers.
	if _, err := r.Agent.Get(r.Ctx, pending[0].Interaction.ID); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("another agent reads its answer: %v", err)
	}
}
