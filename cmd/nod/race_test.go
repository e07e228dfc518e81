package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestTwoHundredRaces lets three people on three platforms answer 200
// requests at the same moment, with two daemons on one Redis.
func TestTwoHundredRaces(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{daemons: 2})
	r.connected()
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
func raceOnce(t *testing.T, r *rig, n int) string {
	a := r.ask(bridge.Request{Ask: bridge.Ask{
		Prompt: fmt.Sprintf("Race %d", n), Approval: &bridge.Approval{Tool: "race"},
	}})
	people := map[string]string{"slack": "ana", "discord": "bo", "telegram": "cy"}
	acts := map[string]sandbox.Action{}
	for _, s := range services {
		acts[s] = holding(r, a, s, []string{"Allow once", "Deny"}[(n+len(s))%2], people[s])
	}
	reactions := map[string]sandbox.Reaction{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, s := range services {
		wg.Go(func() {
			reaction, err := r.sandbox.Act(r.ctx, acts[s])
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
	rec := a.end()
	winner := rec.Response.Actor
	if people[winner.Platform] != winner.Person {
		t.Errorf("race %d: the winner is %+v", n, winner)
	}
	if said := reactions["telegram"].Toast; winner.Platform != "telegram" && reactions["telegram"].OK && !strings.Contains(said, "Already decided by "+winner.Person) {
		t.Errorf("race %d: cy was told %q", n, said)
	}
	a.closed(winner.Person, winner.Platform)
	return winner.Platform
}

// Losers on Slack and Discord are told by private messages: one for each
// press that lost.
func TestEveryLoserIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{daemons: 2})
	lost := map[string]int{}
	for n := range 20 {
		a := r.ask(bridge.Request{Ask: bridge.Ask{
			Prompt: fmt.Sprintf("Race %d", n), Approval: &bridge.Approval{Tool: "race"},
		}})
		var wg sync.WaitGroup
		var mu sync.Mutex
		pressed := map[string]bool{}
		for s, who := range map[string]string{"slack": "ana", "discord": "bo"} {
			act := holding(r, a, s, "Allow once", who)
			wg.Go(func() {
				if reaction, err := r.sandbox.Act(r.ctx, act); err == nil && reaction.OK {
					mu.Lock()
					pressed[s] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		winner := a.end().Response.Actor.Platform
		for s := range pressed {
			if s != winner {
				lost[s]++
			}
		}
	}
	for s, who := range map[string]string{"slack": "ana", "discord": "bo"} {
		r.eventually(fmt.Sprintf("%s is told %d times on %s", who, lost[s], s), func() bool { return len(r.sandbox.Person(who).Notes(s)) == lost[s] })
		for _, note := range r.sandbox.Person(who).Notes(s) {
			if !strings.Contains(note, "Already decided by") {
				t.Errorf("%s was told %q", who, note)
			}
		}
	}
}

func TestRedisAwayIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(s)})
			a := r.ask(approval())
			press := holding(r, a, s, "Allow once", "ana")
			r.redis.Kill()
			reaction, err := r.sandbox.Act(r.ctx, press)
			if s != "slack" { // Slack's private note comes a moment later
				must(t, reaction, err)
			}
			r.told("ana", s, reaction, "Not recorded, please press again")
			r.redis.Restart()
			r.eventually("the press is taken", func() bool {
				if _, err := r.sandbox.Act(r.ctx, press); err != nil {
					return true // the card is closed
				}
				rec, err := r.daemons[0].engine().Get(r.ctx, a.Interaction.ID)
				return err == nil && rec.State.Final()
			})
			if got := a.end(); got.State != bridge.StateApproved {
				t.Errorf("state %s", got.State)
			}
			a.closed("ana")
		})
	}
}

// Typed text waits at Telegram for a day: it is confirmed only once it is
// stored.
func TestTypedReplyOutlivesRedis(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("telegram")})
	a := r.ask(one(bridge.WidgetText))
	r.press("ana", a.on("telegram"), "Answer")
	r.eventually("the prompt is remembered", func() bool {
		keys, err := r.client.Keys(r.ctx, "nod:n:reply:*").Result()
		return err == nil && len(keys) == 1
	})
	r.redis.Kill()
	handed := r.sandbox.State().Telegram.Handed
	reaction, err := r.sandbox.Person("ana").Reply(r.ctx, a.on("telegram").Channel, "written while the store was away")
	must(t, reaction, err)
	// The daemon has been given the reply and cannot store it: it asks for it
	// again, or gives its lease up.
	r.eventually("the reply is handed over", func() bool { return r.sandbox.State().Telegram.Handed > handed })
	waited := time.After(3 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for again := false; !again; {
		select {
		case <-waited:
			again = true
		case <-tick.C:
			again = r.sandbox.State().Telegram.Handed > handed+1
		}
	}
	r.redis.Restart()
	wantAnswer(a, bridge.TextAnswer("written while the store was away"))
}

func TestNobodyReachableIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(s)})
			r.sandbox.AddFault(sandbox.Fault{Service: s, Kind: "revoke"})
			began := time.Now()
			rec, err := r.agent.Open(r.ctx, approval(), "")
			if err == nil {
				rec, err = r.agent.Wait(r.ctx, rec.Interaction.ID)
			}
			if err != nil || rec.State != bridge.StateUndeliverable || rec.Response.Reason == "" {
				t.Fatalf("%s %+v, %v", rec.State, rec.Response, err)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("known after %s", took)
			}
			r.eventually("health says why", func() bool {
				h := r.daemons[0].engine().Health()[s]
				return h.State == bridge.HealthDown && h.Reason != ""
			})
			// The next one is refused without asking the platform again.
			rec, err = r.agent.Open(r.ctx, approval(), "")
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
			r := newRig(t, rigOptions{config: only(s)})
			for range 2 {
				if err := r.sandbox.Disconnect(s, 0); err != nil {
					t.Fatal(err)
				}
				r.eventually("it is connected again", func() bool {
					st := r.sandbox.State()
					return map[string]int{"slack": st.Slack.Connections, "discord": st.Discord.Connections}[s] > 0
				})
				r.connected()
				a := r.ask(approval())
				r.eventually("a press is taken", func() bool {
					reaction, err := r.sandbox.Person("ana").Press(r.ctx, a.on(s), "Allow once")
					return err != nil || reaction.OK
				})
				if got := a.end(); got.State != bridge.StateApproved {
					t.Errorf("state %s", got.State)
				}
			}
		})
	}
	t.Run("a fatal close of the gateway is not tried again", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, rigOptions{config: only("discord")})
		r.sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "revoke"})
		if err := r.sandbox.Disconnect("discord", 4004); err != nil {
			t.Fatal(err)
		}
		r.eventually("health says down", func() bool { return r.daemons[0].engine().Health()["discord"].State == bridge.HealthDown })
	})
}

func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{daemons: 2, config: only("telegram")})
	holder, other := r.daemons[0], r.daemons[1]
	if other.engine().Health()["telegram"].State == bridge.HealthUp {
		holder, other = other, holder
	}
	r.eventually("the other daemon stands by", func() bool { return other.engine().Health()["telegram"].State == bridge.HealthStandby })
	holder.stop()
	r.eventually("the other one takes over", func() bool { return other.engine().Health()["telegram"].State == bridge.HealthUp })
	r.daemons = []*running{other}
	r.agent = newClient(other.url, testAgentToken)
	a := r.ask(approval())
	r.press("ana", a.on("telegram"), "Allow once")
	if got := a.end(); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
}

// The signed HTTP modes do the same job.
func TestHTTPModes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{httpMode: true})
	for _, s := range services {
		a := r.ask(approval())
		r.press("ana", a.on(s), "Allow once")
		if got := a.end(); got.State != bridge.StateApproved || got.Response.Actor.Platform != s {
			t.Errorf("%s: %s %+v", s, got.State, got.Response)
		}
		a.closed("ana", s)
		b := r.ask(one(bridge.WidgetText))
		r.typed("bo", b.on(s), "Answer", "words")
		wantAnswer(b, bridge.TextAnswer("words"))
		said := r.commanded("ana", s, a.on(s).Channel, "/nod who")
		r.eventually("the command is answered on "+s, func() bool { return strings.Contains(said(), "You may answer here") })
	}
}

// Nothing that the services did not sign gets in, on any inbound path.
// controlOn returns what the control "Allow once" of a card on Slack carries.
func controlOn(t *testing.T, r *rig, a asked) string {
	t.Helper()
	for _, c := range a.controls("slack") {
		if c.Label == "Allow once" {
			return c.Value
		}
	}
	t.Fatal("no token on the card")
	return ""
}

func TestForgedCallbacks(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{httpMode: true})
	a := r.ask(approval())
	slackBody := func(token, user string) string {
		p := fmt.Sprintf(`{"type":"block_actions","user":{"id":%q},"container":{"channel_id":%q,"message_ts":%q},"actions":[{"type":"button","value":%q}]}`, user, a.on("slack").Channel, a.on("slack").Message, token)
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
		if got := r.postTo("/slack/interactions", c.header, c.body); got != c.want {
			t.Errorf("slack, %s: %d, want %d", name, got, c.want)
		}
	}
	discordBody := fmt.Sprintf(`{"id":"1","type":3,"token":"x","channel_id":%q,"member":{"user":{"id":"300000000000000001"}},"message":{"id":%q},"data":{"custom_id":%q}}`, a.on("discord").Channel, a.on("discord").Message, token)
	signDiscord := func(at time.Time, body string) http.Header {
		h := http.Header{"Content-Type": {"application/json"}}
		sandbox.SignDiscord(h, r.sandbox.DiscordKey(), at, []byte(body))
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
		if got := r.postTo("/discord/interactions", c.header, c.body); got != 401 {
			t.Errorf("discord, %s: %d, want 401", name, got)
		}
	}
	ping := `{"id":"p","type":1}`
	if got := r.postTo("/discord/interactions", signDiscord(now, ping), ping); got != 200 {
		t.Errorf("discord, ping: %d", got)
	}
	tgBody := fmt.Sprintf(`{"update_id":1,"callback_query":{"id":"1","from":{"id":7001},"data":%q,"message":{"message_id":%s,"chat":{"id":%s}}}}`, token, a.on("telegram").Message, a.on("telegram").Channel)
	for name, header := range map[string]http.Header{
		"no secret":    {},
		"wrong secret": {"X-Telegram-Bot-Api-Secret-Token": {"webhook-secre"}},
	} {
		if got := r.postTo("/telegram/webhook", header, tgBody); got != 401 {
			t.Errorf("telegram, %s: %d, want 401", name, got)
		}
	}
	for _, s := range services {
		a.pending(s)
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
		if got := r.postTo("/telegram/webhook", secret, body); got != 200 {
			t.Errorf("telegram, %s: %d", name, got)
		}
		body = slackBody(bad, "U0ANA00001")
		if name != "copied from slack" && r.postTo("/slack/interactions", signSlack(sandbox.SlackSigningSecret, now, body), body) != 200 {
			t.Errorf("slack, %s", name)
		}
		a.pending("telegram")
	}
	// Telegram's own token, in another chat than its card's.
	var own string
	for _, c := range a.controls("telegram") {
		if strings.Contains(c.Label, "Allow once") {
			own = c.ID
		}
	}
	elsewhere := strings.ReplaceAll(strings.ReplaceAll(tgBody, token, own), a.on("telegram").Channel, "7001")
	if got := r.postTo("/telegram/webhook", secret, elsewhere); got != 200 {
		t.Errorf("telegram, elsewhere: %d", got)
	}
	a.pending("telegram")
	// And the replay of a good press answers for nobody else.
	if got := r.postTo("/slack/interactions", signSlack(sandbox.SlackSigningSecret, now, good), good); got != 200 {
		t.Errorf("the good press: %d", got)
	}
	if got := a.end(); got.Response.Actor.Person != "ana" {
		t.Errorf("decided by %+v", got.Response.Actor)
	}
	before := a.end()
	r.postTo("/slack/interactions", signSlack(sandbox.SlackSigningSecret, now, good), good)
	if after := a.end(); !after.Response.At.Equal(before.Response.At) {
		t.Error("a replay changed the record")
	}
}
