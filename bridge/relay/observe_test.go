package relay_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// served holds the turns of a server, and its record of the requests.
type served struct {
	mu    sync.Mutex
	turns string
	asked []string
}

// has sets the turns of the thread T.
func (v *served) has(turns string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.turns = turns
}

// was returns all requests, apart from the state of threads.
func (v *served) was() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asked)
}

// serve answers the requests of a Companion like Codex with the threads T, of a
// person, and H, which is hidden.
func (s *appServer) serve(turns string) *served {
	v := &served{turns: turns}
	go func() {
		for {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
				Params json.RawMessage `json:"params"`
			}
			select {
			case line := <-s.out:
				if json.Unmarshal([]byte(line), &m) != nil || len(m.ID) == 0 {
					continue
				}
			case <-s.lost:
				return
			}
			v.mu.Lock()
			result := "{}"
			switch m.Method {
			case "initialize":
				result = `{"userAgent":"codex-tui/0.169.0 (x)"}`
			case "thread/loaded/list":
				result = `{"data":[]}`
			case "thread/read":
				result = `{"thread":{"ephemeral":false,"threadSource":"user","status":{"type":"active"},"preview":"Fix it","cwd":"/shop"}}`
				if strings.Contains(string(m.Params), `"H"`) {
					result = strings.Replace(result, `"user"`, `"thread_title"`, 1)
				}
			case "thread/turns/list":
				result = `{"data":[` + v.turns + `]}`
			default:
				v.asked = append(v.asked, m.Method+" "+string(m.Params))
			}
			v.mu.Unlock()
			s.in <- fmt.Appendf(nil, `{"id":%s,"result":%s}`, m.ID, result)
		}
	}()
	return v
}

const changed = `{"method":"thread/status/changed","params":{"threadId":%q,"status":{"type":%q}}}`

// TestCompanionSessions checks what is reported about a thread of a person, and
// that a stop interrupts its turn once.
func TestCompanionSessions(t *testing.T) {
	t.Parallel()
	race(t, func(t *testing.T, c *companion) {
		w := &watched{}
		c.Reporter = w
		s := c.dial()
		v := s.serve(`{"id":"U","status":"inProgress"}`)
		synctest.Wait()
		s.says(`{"method":"thread/started","params":{"thread":{"id":"T"}}}`)
		s.says(`{"method":"thread/started","params":{"thread":{"id":"H"}}}`)
		s.says(changed, "H", "active")
		w.stop(true)
		time.Sleep(time.Minute)
		want := []string{`turn/interrupt {"threadId":"T","turnId":"U"}`, `thread/backgroundTerminals/clean {"threadId":"T"}`}
		if got := v.was(); !slices.Equal(got, want) {
			t.Errorf("after the stop, nod asks for %q", got)
		}
		v.has(`{"id":"U","status":"interrupted","items":[{"type":"agentMessage","text":"I look."},{"type":"agentMessage","text":"It works."}]}`)
		s.says(changed, "T", "idle")
		s.says(`{"method":"thread/closed","params":{"threadId":"T"}}`)
		if want := []string{"T working /shop Fix it", "T waiting /shop Fix it It works.", "T finished"}; !slices.Equal(w.reports, want) {
			t.Errorf("reported %q", w.reports)
		}
		s.lose()
	})
}

// TestCompanionSteerAgain checks that a message that Codex has got on an earlier
// connection is not delivered twice.
func TestCompanionSteerAgain(t *testing.T) {
	t.Parallel()
	race(t, func(t *testing.T, c *companion) {
		w := &watched{inbox: inbox{texts: make(chan string, 5), again: true}}
		c.Reporter, c.Inbox = w, w
		s := c.dial()
		v := s.serve(`{"id":"V","items":[]},{"id":"U","items":[{"type":"userMessage","clientId":"one"}]}`)
		synctest.Wait()
		s.says(`{"method":"thread/started","params":{"thread":{"id":"T"}}}`)
		w.texts <- "one"
		w.texts <- "two"
		synctest.Wait()
		if got := v.was(); len(got) != 1 || !strings.Contains(got[0], `"text":"two"`) {
			t.Errorf("nod asks for %q", got)
		}
		if want := []string{"T one", "T two"}; !slices.Equal(w.took, want) {
			t.Errorf("delivered %q", w.took)
		}
		s.lose()
	})
}
