package daemon_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestTwoHundredRaces lets three people on three platforms answer 200
// requests at the same moment, with two daemons on one Redis.
func TestTwoHundredRaces(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2})
	r.Connected()
	const rounds, atOnce = 200, 10
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	winners := map[string]int{}
	var mu sync.Mutex
	for n := range rounds {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			winner := raceOnce(t, r, n)
			mu.Lock()
			winners[winner]++
			mu.Unlock()
		})
	}
	wg.Wait()
	t.Logf("winners: %v", winners)
}

// raceOnce returns the platform that won.
func raceOnce(t *testing.T, r *rig.Rig, n int) string {
	a := r.Ask(bridge.Request{Ask: bridge.Ask{
		Prompt: fmt.Sprintf("Race %d", n), Approval: &bridge.Approval{Tool: "race"},
	}})
	people := map[string]string{"slack": "ana", "discord": "bo", "telegram": "cy"}
	acts := map[string]sandbox.Action{}
	for _, s := range rig.Services {
		acts[s] = holding(r, a, s, []string{"Call tool", "Deny"}[(n+len(s))%2], people[s])
	}
	reactions := map[string]sandbox.Reaction{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range rig.Services {
		wg.Go(func() {
			reaction, err := r.Sandbox.Act(r.Ctx, acts[s])
			if err != nil && strings.Contains(err.Error(), "no control") {
				return // the card was closed before this client sent anything
			}
			if err != nil || reaction.Warning != "" {
				t.Errorf("race %d on %s: %v %s", n, s, err, reaction.Warning)
			}
			mu.Lock()
			reactions[s] = reaction
			mu.Unlock()
		})
	}
	wg.Wait()
	rec := a.End()
	winner := rec.Response.Actor
	if people[winner.Platform] != winner.Person {
		t.Errorf("race %d: the winner is %+v", n, winner)
	}
	if said := reactions["telegram"].Toast; winner.Platform != "telegram" && reactions["telegram"].OK && !strings.Contains(said, "Already decided by "+winner.Person) {
		t.Errorf("race %d: cy was told %q", n, said)
	}
	a.Closed(winner.Person, winner.Platform)
	return winner.Platform
}

// Losers on Slack and Discord are told by private messages: one for each
// press that lost.
func TestEveryLoserIsTold(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2})
	lost := map[string]int{}
	for n := range 20 {
		a := r.Ask(bridge.Request{Ask: bridge.Ask{
			Prompt: fmt.Sprintf("Race %d", n), Approval: &bridge.Approval{Tool: "race"},
		}})
		var wg sync.WaitGroup
		var mu sync.Mutex
		pressed := map[string]bool{}
		for s, who := range map[string]string{"slack": "ana", "discord": "bo"} {
			act := holding(r, a, s, "Call tool", who)
			wg.Go(func() {
				if reaction, err := r.Sandbox.Act(r.Ctx, act); err == nil && reaction.OK {
					mu.Lock()
					pressed[s] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		winner := a.End().Response.Actor.Platform
		for s := range pressed {
			if s != winner {
				lost[s]++
			}
		}
	}
	for s, who := range map[string]string{"slack": "ana", "discord": "bo"} {
		r.Eventually(fmt.Sprintf("%s is told %d times on %s", who, lost[s], s), func() bool { return len(r.Sandbox.Person(who).Notes(s)) == lost[s] })
		for _, note := range r.Sandbox.Person(who).Notes(s) {
			if !strings.Contains(note, "Already decided by") {
				t.Errorf("%s was told %q", who, note)
			}
		}
	}
}

func TestRedisAwayIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			a := r.Ask(rig.Approval())
			press := holding(r, a, s, "Call tool", "ana")
			r.Redis.Kill()
			reaction, err := r.Sandbox.Act(r.Ctx, press)
			if s != "slack" { // Slack's private note comes a moment later
				rig.Must(t, reaction, err)
			}
			r.Told("ana", s, reaction, "Not recorded. Click again")
			r.Redis.Restart()
			r.Eventually("the press is taken", func() bool {
				if _, err := r.Sandbox.Act(r.Ctx, press); err != nil {
					return true // the card is closed
				}
				rec, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID)
				return err == nil && rec.State.Final()
			})
			if got := a.End(); got.State != bridge.StateApproved {
				t.Errorf("state %s", got.State)
			}
			a.Closed("ana")
		})
	}
}

// Typed text waits at Telegram for a day: it is confirmed only once it is
// stored.
func TestTypedReplyOutlivesRedis(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	a := r.Ask(rig.One(bridge.WidgetText))
	r.Press("ana", a.On("telegram"), "Answer")
	r.Eventually("the prompt is remembered", func() bool {
		keys, err := r.Client.Keys(r.Ctx, "nod:n:reply:*").Result()
		return err == nil && len(keys) == 1
	})
	r.Redis.Kill()
	handed := r.Sandbox.State().Telegram.Handed
	reaction, err := r.Sandbox.Person("ana").Reply(r.Ctx, a.On("telegram").Channel, "written while the store was away")
	rig.Must(t, reaction, err)
	// The daemon has been given the reply and cannot store it: it asks for it
	// again, or gives its lease up.
	r.Eventually("the reply is handed over", func() bool { return r.Sandbox.State().Telegram.Handed > handed })
	waited := time.After(3 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for again := false; !again; {
		select {
		case <-waited:
			again = true
		case <-tick.C:
			again = r.Sandbox.State().Telegram.Handed > handed+1
		}
	}
	r.Redis.Restart()
	wantAnswer(a, bridge.TextAnswer("written while the store was away"))
}

func TestNobodyReachableIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			r.Sandbox.AddFault(sandbox.Fault{Service: s, Kind: "revoke"})
			began := time.Now()
			rec, err := r.Agent.Open(r.Ctx, rig.Approval(), "")
			if err == nil {
				rec, err = r.Agent.Wait(r.Ctx, rec.Interaction.ID)
			}
			if err != nil || rec.State != bridge.StateUndeliverable || rec.Response.Reason == "" {
				t.Fatalf("%s %+v, %v", rec.State, rec.Response, err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("known after %s", took)
			}
			r.Eventually("health says why", func() bool {
				h := r.Daemons[0].Engine().Health()[s]
				return h.State == bridge.HealthDown && h.Reason != ""
			})
			// The next one is refused without asking the platform again.
			rec, err = r.Agent.Open(r.Ctx, rig.Approval(), "")
			if err != nil || rec.State != bridge.StateUndeliverable {
				t.Errorf("%s, %v", rec.State, err)
			}
		})
	}
}

func TestReconnects(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"slack", "discord"} {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			for range 2 {
				if err := r.Sandbox.Disconnect(s, 0); err != nil {
					t.Fatal(err)
				}
				r.Eventually("it is connected again", func() bool {
					st := r.Sandbox.State()
					return map[string]int{"slack": st.Slack.Connections, "discord": st.Discord.Connections}[s] > 0
				})
				r.Connected()
				a := r.Ask(rig.Approval())
				r.Eventually("a press is taken", func() bool {
					reaction, err := r.Sandbox.Person("ana").Press(r.Ctx, a.On(s), "Call tool")
					return err != nil || reaction.OK
				})
				if got := a.End(); got.State != bridge.StateApproved {
					t.Errorf("state %s", got.State)
				}
			}
		})
	}
	t.Run("a fatal close of the gateway is not tried again", func(t *testing.T) {
		t.Parallel()
		r := rig.New(t, rig.Options{Config: rig.Only("discord")})
		r.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "revoke"})
		if err := r.Sandbox.Disconnect("discord", 4004); err != nil {
			t.Fatal(err)
		}
		r.Eventually("health says down", func() bool { return r.Daemons[0].Engine().Health()["discord"].State == bridge.HealthDown })
	})
}

func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: rig.Only("telegram")})
	holder, other := r.Daemons[0], r.Daemons[1]
	if other.Engine().Health()["telegram"].State == bridge.HealthUp {
		holder, other = other, holder
	}
	r.Eventually("the other daemon stands by", func() bool { return other.Engine().Health()["telegram"].State == bridge.HealthStandby })
	holder.Stop()
	r.Eventually("the other one takes over", func() bool { return other.Engine().Health()["telegram"].State == bridge.HealthUp })
	r.Daemons = []*rig.Running{other}
	r.Agent = rig.NewClient(other.URL, rig.TestAgentToken)
	a := r.Ask(rig.Approval())
	r.Press("ana", a.On("telegram"), "Call tool")
	if got := a.End(); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
}

// The signed HTTP modes do the same job.
func TestHTTPModes(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{HTTPMode: true})
	for _, s := range rig.Services {
		a := r.Ask(rig.Approval())
		r.Press("ana", a.On(s), "Call tool")
		if got := a.End(); got.State != bridge.StateApproved || got.Response.Actor.Platform != s {
			t.Errorf("%s: %s %+v", s, got.State, got.Response)
		}
		a.Closed("ana", s)
		b := r.Ask(rig.One(bridge.WidgetText))
		r.Typed("bo", b.On(s), "Answer", "words")
		wantAnswer(b, bridge.TextAnswer("words"))
		said := commanded(r, "ana", s, a.On(s).Channel, "/nod who")
		r.Eventually("the command is answered on "+s, func() bool { return strings.Contains(said(), "You can answer requests here") })
	}
}

// Nothing that the services did not sign gets in, on any inbound path.
// controlOn returns what the control "Call tool" of a card on Slack carries.
func controlOn(t *testing.T, r *rig.Rig, a rig.Asked) string {
	t.Helper()
	for _, c := range a.Controls("slack") {
		if c.Label == "Call tool" {
			return c.Value
		}
	}
	t.Fatal("no token on the card")
	return ""
}

func TestForgedCallbacks(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{HTTPMode: true})
	a := r.Ask(rig.Approval())
	slackBody := func(token, user string) string {
		p := fmt.Sprintf(`{"type":"block_actions","user":{"id":%q},"container":{"channel_id":%q,"message_ts":%q},"actions":[{"type":"button","value":%q}]}`, user, a.On("slack").Channel, a.On("slack").Message, token)
		return "payload=" + strings.ReplaceAll(strings.ReplaceAll(p, "%", "%25"), "&", "%26")
	}
	token := controlOn(t, r, a)
	signSlack := func(secret string, at time.Time, body string) http.Header {
		h := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
		sandbox.SignSlack(h, secret, at, []byte(body))
		return h
	}
	good := slackBody(token, "U0ANA00001")
	now := time.Now()
	truncated := signSlack(sandbox.SlackSigningSecret, now, good)
	truncated.Set("X-Slack-Signature", truncated.Get("X-Slack-Signature")[:20])
	for name, c := range map[string]struct {
		header http.Header
		body   string
		want   int
	}{
		"no signature":        {http.Header{}, good, 401},
		"wrong secret":        {signSlack("another secret", now, good), good, 401},
		"stale":               {signSlack(sandbox.SlackSigningSecret, now.Add(-6*time.Minute), good), good, 401},
		"from the future":     {signSlack(sandbox.SlackSigningSecret, now.Add(6*time.Minute), good), good, 401},
		"altered body":        {signSlack(sandbox.SlackSigningSecret, now, good), slackBody(token, "U0BO000002"), 401},
		"truncated signature": {truncated, good, 401},
		"too large":           {http.Header{}, strings.Repeat("x", 2<<20), 413},
	} {
		if got := r.PostTo("/slack/interactions", c.header, c.body); got != c.want {
			t.Errorf("slack, %s: %d, want %d", name, got, c.want)
		}
	}
	discordBody := fmt.Sprintf(`{"id":"1","type":3,"token":"x","channel_id":%q,"member":{"user":{"id":"300000000000000001"}},"message":{"id":%q},"data":{"custom_id":%q}}`, a.On("discord").Channel, a.On("discord").Message, token)
	signDiscord := func(at time.Time, body string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}}
		sandbox.SignDiscord(h, r.Sandbox.DiscordKey(), at, []byte(body))
		return h
	}
	for name, c := range map[string]struct {
		header http.Header
		body   string
	}{
		"no signature": {http.Header{}, discordBody},
		"altered body": {signDiscord(now, discordBody), discordBody + " "},
		"stale":        {signDiscord(now.Add(-6*time.Minute), discordBody), discordBody},
	} {
		if got := r.PostTo("/discord/interactions", c.header, c.body); got != 401 {
			t.Errorf("discord, %s: %d, want 401", name, got)
		}
	}
	ping := `{"id":"p","type":1}`
	if got := r.PostTo("/discord/interactions", signDiscord(now, ping), ping); got != 200 {
		t.Errorf("discord, ping: %d", got)
	}
	tgBody := fmt.Sprintf(`{"update_id":1,"callback_query":{"id":"1","from":{"id":7001},"data":%q,"message":{"message_id":%s,"chat":{"id":%s}}}}`, token, a.On("telegram").Message, a.On("telegram").Channel)
	for name, header := range map[string]http.Header{
		"no secret":    {},
		"wrong secret": {"X-Telegram-Bot-Api-Secret-Token": {"webhook-secre"}},
	} {
		if got := r.PostTo("/telegram/webhook", header, tgBody); got != 401 {
			t.Errorf("telegram, %s: %d, want 401", name, got)
		}
	}
	for _, s := range rig.Services {
		a.Pending(s)
	}
	// Rightly signed, but with what is not theirs: a token of another place, an
	// altered one, one of another key, none.
	secret := http.Header{"X-Telegram-Bot-Api-Secret-Token": {"webhook-secret"}}
	foreign, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	flipped := []byte(token)
	flipped[20] ^= 1
	for name, bad := range map[string]string{
		"copied from slack": token, "altered": string(flipped), "truncated": token[:40], "empty": "",
		"of another key": foreign.Sign(bridge.Control{Interaction: a.Interaction.ID, Destination: 2, Action: bridge.ActionChoose, Option: 2}),
	} {
		body := strings.ReplaceAll(tgBody, token, bad)
		if got := r.PostTo("/telegram/webhook", secret, body); got != 200 {
			t.Errorf("telegram, %s: %d", name, got)
		}
		body = slackBody(bad, "U0ANA00001")
		if name != "copied from slack" && r.PostTo("/slack/interactions", signSlack(sandbox.SlackSigningSecret, now, body), body) != 200 {
			t.Errorf("slack, %s", name)
		}
		a.Pending("telegram")
	}
	// Telegram's own token, in another chat than its card's.
	var own string
	for _, c := range a.Controls("telegram") {
		if strings.Contains(c.Label, "Call tool") {
			own = c.ID
		}
	}
	elsewhere := strings.ReplaceAll(strings.ReplaceAll(tgBody, token, own), a.On("telegram").Channel, "7001")
	if got := r.PostTo("/telegram/webhook", secret, elsewhere); got != 200 {
		t.Errorf("telegram, elsewhere: %d", got)
	}
	a.Pending("telegram")
	// And the replay of a good press answers for nobody else.
	if got := r.PostTo("/slack/interactions", signSlack(sandbox.SlackSigningSecret, now, good), good); got != 200 {
		t.Errorf("the good press: %d", got)
	}
	if got := a.End(); got.Response.Actor.Person != "ana" {
		t.Errorf("decided by %+v", got.Response.Actor)
	}
	before := a.End()
	r.PostTo("/slack/interactions", signSlack(sandbox.SlackSigningSecret, now, good), good)
	if after := a.End(); !after.Response.At.Equal(before.Response.At) {
		t.Error("a replay changed the record")
	}
}
