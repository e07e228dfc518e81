package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
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
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	for _, service := range rig.Services {
		r.Told("ana", service, r.Press("ana", a.On(service), "Run command"), "your own request")
	}
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("ana can approve her own request by API: %v", err)
	}
	a.StillPending()
	r.Press("bo", a.On("discord"), "Run command")
	if rec := a.End(); rec.Response.Actor.Person != "bo" {
		t.Errorf("the response is by %+v, want bo", rec.Response.Actor)
	}
	req := samples.Approval(bridge.ScopeOnce)
	req.Requester = "bo" // the person that the agent works for
	b := r.Ask(req)
	r.Told("bo", "telegram", r.Press("bo", b.On("telegram"), "Run command"), "your own request")
	r.Press("cy", b.On("slack"), "Run command")
	b.End()
	req = samples.Approval(bridge.ScopeOnce)
	req.Route = "trusting"
	d := r.Ask(req)
	r.Press("ana", d.On("slack"), "Run command")
	if rec := d.End(); rec.Response.Actor.Person != "ana" {
		t.Errorf("the response is by %+v, want ana", rec.Response.Actor)
	}
}

// TestGroupChange checks that the members of a group at the time of the click
// count, not those at the time of the post, and that no one counts as a member
// while the platform does not return the group.
func TestGroupChange(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Fresh: true, Config: func(c *config.Config) {
		c.Groups = map[string]config.Group{"sre": {Native: map[string]string{"slack": sandbox.SlackUserGroup, "discord": sandbox.DiscordGuild + "/" + sandbox.DiscordRole, "telegram": fmt.Sprint(sandbox.TelegramChat)}}}
		route(func(r *config.Route) { r.Responders = []string{"@sre"} })(c)
	}})
	groups := map[string]string{"slack": sandbox.SlackUserGroup, "discord": sandbox.DiscordRole, "telegram": fmt.Sprint(sandbox.TelegramChat)}
	for _, service := range rig.Services {
		r.Sandbox.SetGroup(service, groups[service], "mal")
		a := r.Ask(samples.Approval(bridge.ScopeOnce))
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
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Sandbox.AddFault(sandbox.Fault{Service: "slack", Method: "usergroups.users.list", Kind: "error", Status: 503})
	r.Told("bo", "slack", r.Press("bo", a.On("slack"), "Run command"), "cannot tell now")
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
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
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
		delete(c.People["bo"].Accounts, "discord") // nod knows his other accounts
		route(func(r *config.Route) { r.Quorum = 2 })(c)
	}})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
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
	r.Command(who, "slack", sandbox.SlackChannel, "/nod "+words)
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
			bo.Accounts, bo.Email = nil, "Bo@Example.com"
			c.People["bo"] = bo
		}})
		a := r.Ask(samples.Approval(bridge.ScopeOnce))
		reaction := r.Press("bo", a.On("slack"), "Run command")
		if !on {
			r.Told("bo", "slack", reaction, "may not answer")
			a.StillPending()
			continue
		}
		if rec := a.End(); rec.Response.Actor.Person != "bo" {
			t.Errorf("the response is by %+v, want bo", rec.Response.Actor)
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
			Token: config.NewSecret(config.HashToken("old-token-that-still-counts") + ", " + config.HashToken(fresh)),
			Kinds: []string{"approval"}, Scopes: []string{"once", "session"}, PerMinute: 5, MaxPending: 2,
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
	var pending []bridge.Record
	for range 2 {
		rec, err := open(samples.Approval(bridge.ScopeOnce, bridge.ScopeAlways))
		if err != nil {
			t.Fatal(err)
		}
		if s := rec.Interaction.Approval.Scopes; len(s) != 1 || s[0] != bridge.ScopeOnce {
			t.Errorf("it offers %v", s)
		}
		pending = append(pending, rec)
	}
	if _, err := open(samples.Approval(bridge.ScopeOnce)); bridge.ErrorCode(err) != bridge.CodeRateLimited || !strings.Contains(err.Error(), "pending") {
		t.Errorf("a third pending request: %v", err)
	}
	if _, err := r.Daemons[0].Engine().Cancel(r.Ctx, pending[0].Interaction.ID, ""); err != nil {
		t.Fatal(err)
	}
	var err error
	for n := 0; err == nil; n++ {
		var rec bridge.Record
		if rec, err = open(samples.Approval(bridge.ScopeOnce)); err == nil {
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
