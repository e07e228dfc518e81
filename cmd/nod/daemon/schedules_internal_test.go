package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/oncall"
	"github.com/nodbridge/nod/broker"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestStoredTurns checks that a rotation continues the one before it across
// restarts: whoever has the turn keeps it when people join or leave. The stored turn
// of someone without nod's keys does not count.
func TestStoredTurns(t *testing.T) {
	t.Parallel()
	client := redistest.Shared(t).Client(t)
	db := stored.InRedis(t, client)
	db.Keys.Use([][]byte{[]byte("a key of the deployment")})
	c := config.Config{People: map[string]config.Person{"ana": {}, "bo": {}, "cy": {}}}
	c.Redis.Prefix = store.DefaultPrefix
	start := time.Now().Add(-time.Hour)
	for _, x := range []struct {
		people, now, doctor string
		forged              string // the stored note of someone else
	}{
		{people: "ana bo cy", now: "bo"},
		{people: "bo cy", now: "bo"},
		{people: "cy bo", now: "bo"},
		{people: "cy ana", now: "cy"},
		{people: "ana bo cy", now: "cy"},
		{people: "ana bo cy", now: "bo", doctor: "ana", forged: `{"people":["ana","bo","cy"],"start":` + quoted(start) + `,"every":2400000000000,"anchor":{"turn":1,"first":0}}`},
	} {
		set := config.Rotation{People: strings.Fields(x.people), Start: start, Every: config.Duration(40 * time.Minute)} // turn 1 of ana, bo, cy
		c.OnCall = map[string]config.OnCall{"primary": {Rotation: &set}}
		if x.forged != "" {
			db.Keys.Use(nil)
			if err := db.Notes().SetNote(t.Context(), rotationNote("primary"), x.forged, 0); err != nil {
				t.Fatal(err)
			}
			db.Keys.Use([][]byte{[]byte("a key of the deployment")})
		}
		said := OnCall(t.Context(), c, client)["primary"]
		var all [8]oncall.Rotation // of daemons that start at the same time
		var wg sync.WaitGroup
		for n := range all {
			wg.Go(func() {
				next, err := alone(t.Context(), db.Notes(), documents.NewLeases(db.Documents()), "primary", rotation(set))
				if err != nil {
					t.Error(err)
				}
				all[n] = next
			})
		}
		wg.Wait()
		r := all[0]
		for _, other := range all {
			if other.Anchor != r.Anchor {
				t.Errorf("of %s, the daemons have %v and %v", x.people, r.Anchor, other.Anchor)
			}
		}
		got, err := r.OnCall(t.Context(), time.Now())
		if err != nil || len(got) != 1 || got[0].Name != x.now {
			t.Errorf("of %s, %v has the turn, %v; want %s", x.people, got, err, x.now)
		}
		if x.forged == "" {
			x.doctor = x.now
		}
		if !slices.Equal(said.People, []string{x.doctor}) || !said.Until.Equal(r.Until(time.Now())) {
			t.Errorf("of %s, nod doctor says %+v; want %s", x.people, said, x.doctor)
		}
	}
}

// killed is the database of a daemon that ends before one of its writes.
type killed struct {
	broker.Store
	left *int // writes before that
}

func (k killed) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if *k.left--; *k.left < 0 {
		return broker.Done{}, bridge.Errorf(bridge.CodeUnavailable, "killed")
	}
	return k.Store.Do(ctx, c)
}

// TestTurnOutlivesDaemon checks that a daemon that ends at any point of its start
// leaves the turn of a rotation to whoever has it.
func TestTurnOutlivesDaemon(t *testing.T) {
	t.Parallel()
	store := stored.InMemory(t, nil, nil)
	notes, leases := store.Notes(), documents.NewLeases(store.Documents())
	start := time.Now().Add(-time.Hour)
	of := func(people ...string) oncall.Rotation {
		return oncall.Rotation{People: people, Start: start, Every: 40 * time.Minute} // turn 1
	}
	for writes := range 3 {
		name := fmt.Sprint(writes)
		if _, err := alone(t.Context(), notes, leases, name, of("ana", "bo", "cy")); err != nil {
			t.Fatal(err)
		}
		dying := documents.NewNotes(documents.DB{Store: killed{store.DB, &writes}})
		_, _ = alone(t.Context(), dying, leases, name, of("bo", "cy")) // the process may end
		r, err := alone(t.Context(), notes, leases, name, of("bo", "cy"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.OnCall(t.Context(), time.Now()); err != nil || len(got) != 1 || got[0].Name != "bo" {
			t.Errorf("after a daemon that ended before write %s, %v has the turn, %v; want bo", name, got, err)
		}
	}
}

// TestOnlyOpens checks that nod doctor, which only opens a request, changes
// nothing that the daemons share, whatever its config.
func TestOnlyOpens(t *testing.T) {
	t.Parallel()
	client := redistest.Shared(t).Client(t)
	c := config.Config{Redis: config.Redis{Prefix: store.DefaultPrefix}}
	build := func(c config.Config, only bool) error {
		d, err := New(t.Context(), Options{Config: c, Redis: client, Log: slog.New(slog.DiscardHandler), OnlyOpens: only})
		if err == nil {
			err = d.Close()
		}
		return err
	}
	rotate := func(c *config.Config, people ...string) {
		c.OnCall = map[string]config.OnCall{"primary": {Rotation: &config.Rotation{People: people, Start: time.Now().Add(-time.Hour), Every: config.Duration(40 * time.Minute)}}}
	}
	daemon, without := c, c
	MemoryKeys()(&daemon)
	other := daemon
	rotate(&daemon, "ana", "bo", "cy")
	if err := build(daemon, false); err != nil {
		t.Fatal(err)
	}
	rotate(&other, "bo", "cy")
	foreign := c
	MemoryKeys()(&foreign)
	without.KeysFile = filepath.Join(t.TempDir(), "nod.keys")
	before := redistest.Content(t, client)
	for name, x := range map[string]struct {
		config config.Config
		code   bridge.Code
	}{"other people": {config: other}, "other keys": {config: foreign}, "no keys": {without, bridge.CodeNotFound}} {
		if err := build(x.config, true); bridge.ErrorCode(err) != x.code {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(without.KeysFile); err == nil || !maps.Equal(redistest.Content(t, client), before) {
			t.Errorf("%s: Redis or the key file has changed", name)
		}
	}
}

func quoted(t time.Time) string {
	raw, _ := t.MarshalJSON() // a time of this century
	return string(raw)
}

// TestOnCallOnce checks that each schedule is read once, and what is reported
// about it.
func TestOnCallOnce(t *testing.T) {
	t.Parallel()
	read := map[string]int{}
	var texts map[string]string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		read[name]++ // one after the other
		if texts[name] == "" {
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, texts[name])
	}))
	t.Cleanup(s.Close)
	event := func(who, start string) string {
		return "BEGIN:VEVENT\r\nUID:" + who + "\r\nDTSTART" + start + "\r\nDURATION:P9000D\r\nSUMMARY:" + who + "\r\nEND:VEVENT\r\n"
	}
	calendar := func(events ...string) string {
		return "BEGIN:VCALENDAR\r\n" + strings.Join(events, "") + "END:VCALENDAR\r\n"
	}
	texts = map[string]string{
		"good":     calendar(event("Ana", ":20200101T000000Z"), event("bad", ";TZID=Mars:20200101T000000")),
		"stranger": calendar(event("zoe@example.com", ":20200101T000000Z")),
		"empty":    calendar(),
	}
	c := config.Config{People: map[string]config.Person{"ana": {}}, OnCall: map[string]config.OnCall{}}
	for _, name := range []string{"good", "stranger", "empty", "broken"} {
		c.OnCall[name] = config.OnCall{ICal: &config.Feed{URL: config.NewSecret(s.URL + "/" + name)}}
	}
	got := OnCall(t.Context(), c, nil)
	for name, want := range map[string]Shift{
		"good":     {Crew: bridge.Crew{People: []string{"ana"}}, Skipped: []string{`bad: unknown time zone "Mars", which the calendar does not define`}},
		"stranger": {Crew: bridge.Crew{Strangers: []string{"zoe@example.com"}}},
		"empty":    {},
		"broken":   {Crew: bridge.Crew{Unread: "HTTP 500"}},
	} {
		g := got[name]
		if !slices.Equal(g.People, want.People) || !slices.Equal(g.Strangers, want.Strangers) || !slices.Equal(g.Skipped, want.Skipped) ||
			(g.Unread == "") != (want.Unread == "") || !strings.Contains(g.Unread, want.Unread) {
			t.Errorf("%s: %+v; want %+v", name, g, want)
		}
		if read[name] != 1 {
			t.Errorf("%s was read %d times", name, read[name])
		}
	}
}
