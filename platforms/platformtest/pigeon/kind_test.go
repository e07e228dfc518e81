package pigeon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

func TestMain(m *testing.M) {
	kinds.All = append(kinds.All, Kind) // the only line outside of this folder
	rig.Main(m)
}

// service is the loft: it keeps the messages, and lets people click.
type service struct {
	mu       sync.Mutex
	messages []message
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var m message
	if r.Header.Get("Authorization") != "Bearer grain" || json.NewDecoder(r.Body).Decode(&m) != nil {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	if n := slices.IndexFunc(s.messages, func(had message) bool { return had.ID == m.ID }); n >= 0 {
		s.messages[n] = m
	} else {
		m.ID = fmt.Sprint("m", len(s.messages)+1)
		s.messages = append(s.messages, m)
	}
	_ = json.NewEncoder(w).Encode(m)
}

func (s *service) last() message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages[len(s.messages)-1]
}

// press clicks a button as someone, and returns the reply.
func press(t *testing.T, daemon, user, label string, m message) string {
	t.Helper()
	body, err := json.Marshal(click{user, m.Buttons[label], m.To, m.ID})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, daemon+Kind.Callback, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer grain")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

// TestPigeon asks on a platform of a kind that nod does not know otherwise: only a
// responder of its route decides, and the card says the outcome of it.
func TestPigeon(t *testing.T) {
	t.Parallel()
	loft := &service{}
	var entry atomic.Value // of the loft, with the record of what people see
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { entry.Load().(http.Handler).ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	r := rig.New(t, rig.Options{Quiet: true, Config: func(c *config.Config) {
		c.Connections = map[string]any{Kind.Name: &Settings{Token: config.NewSecret("grain"), URL: server.URL + "/pigeon/send"}}
		c.People["ana"].Accounts[Kind.Name] = "P7"
		c.Routes[bridge.DefaultRoute] = config.Route{To: []string{"pigeon:loft-1"}, Responders: []string{"ana"}, Remind: "off"}
	}})
	entry.Store(r.Shown.Record(loft))
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	card := loft.last()
	if !strings.Contains(card.Text, "make deploy") || card.To != "loft-1" || len(card.Buttons) < 2 {
		t.Fatalf("the card is %+v", card)
	}
	if got := press(t, r.Daemons[0].URL, "P8", "Run command", card); !strings.HasPrefix(got, "forbidden ") {
		t.Errorf("a stranger reads %q", got)
	}
	if got := press(t, r.Daemons[0].URL, "P7", "Run command", card); !strings.HasPrefix(got, "settled") {
		t.Errorf("ana reads %q", got)
	}
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Response.Actor.Person != "ana" {
		t.Errorf("the agent gets %+v", rec.Response)
	}
	r.Eventually("the card says so", func() bool { return len(loft.last().Buttons) == 0 && strings.Contains(loft.last().Text, "ana") })
}

// TestPigeonConfig checks that the config has the settings and the IDs of the kind, with
// their variables and errors.
func TestPigeonConfig(t *testing.T) {
	t.Parallel()
	const text = `
pigeon: {url: "http://127.0.0.1:1"}
people: {ana: {pigeon: P7}}
groups: {all: {pigeon: F1}}
routes: {default: {to: "pigeon:loft-1", responders: "@all"}}
`
	path := filepath.Join(t.TempDir(), "nod.yaml")
	write := func(s string) {
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	c, err := config.Load(path, []string{"PIGEON_TOKEN=grain"})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Connection(Kind).(*Settings)
	if fmt.Sprint(c.Platforms()) != "[pigeon]" || s.Token.Value() != "grain" || c.People["ana"].Account("pigeon") != "P7" || c.Groups["all"].Native["pigeon"] != "F1" || !slices.Contains(c.Secrets(), "grain") {
		t.Errorf("%+v, %+v", c, s)
	}
	for change, want := range map[string]string{
		"loft-1|coop": `invalid ID "coop" (such as loft-1)`, "P7|ana": `people.ana.pigeon: invalid ID "ana" (such as P7)`, "F1|all": "groups.all.pigeon: ", "{url|{ulr": `pigeon: unknown key "ulr"; did you mean "url"?`,
	} {
		old, with, _ := strings.Cut(change, "|")
		write(strings.Replace(text, old, with, 1))
		if _, err := config.Load(path, []string{"PIGEON_TOKEN=grain"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
	write(text)
	if _, err := config.Load(path, nil); err == nil || !strings.Contains(err.Error(), "pigeon.url: not used without pigeon.token") {
		t.Errorf("without a token: %v", err)
	}
}
