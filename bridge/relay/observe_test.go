package relay_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// serve answers the requests of a Companion like Codex with the threads T, of a
// person, and H, which is hidden. It returns what else was asked.
func (s *appServer) serve(turns *string) *[]string {
	var asked []string
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
				result = `{"data":[` + *turns + `]}`
			default:
				asked = append(asked, m.Method+" "+string(m.Params))
			}
			s.in <- fmt.Appendf(nil, `{"id":%s,"result":%s}`, m.ID, result)
		}
	}()
	return &asked
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
		turns := `{"id":"U","status":"inProgress"}`
		asked := s.serve(&turns)
		synctest.Wait()
		s.says(`{"method":"thread/started","params":{"thread":{"id":"T"}}}`)
		s.says(`{"method":"thread/started","params":{"thread":{"id":"H"}}}`)
		s.says(changed, "H", "active")
		w.stop(true)
		time.Sleep(time.Minute)
		want := []string{`turn/interrupt {"threadId":"T","turnId":"U"}`, `thread/backgroundTerminals/clean {"threadId":"T"}`}
		if !slices.Equal(*asked, want) {
			t.Errorf("after the stop, nod asks for %q", *asked)
		}
		turns = `{"id":"U","status":"interrupted","items":[{"type":"agentMessage","text":"I look."},{"type":"agentMessage","text":"It works."}]}`
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
		turns := `{"id":"V","items":[]},{"id":"U","items":[{"type":"userMessage","clientId":"one"}]}`
		asked := s.serve(&turns)
		synctest.Wait()
		s.says(`{"method":"thread/started","params":{"thread":{"id":"T"}}}`)
		w.texts <- "one"
		w.texts <- "two"
		synctest.Wait()
		if len(*asked) != 1 || !strings.Contains((*asked)[0], `"text":"two"`) {
			t.Errorf("nod asks for %q", *asked)
		}
		if want := []string{"T one", "T two"}; !slices.Equal(w.took, want) {
			t.Errorf("delivered %q", w.took)
		}
		s.lose()
	})
}
