package relay_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	wants    = `{"id":%d,"method":"item/commandExecution/requestApproval","params":{"kind":"command","threadId":%q,"turnId":"U","itemId":%q,"startedAtMs":1,"command":"ls","availableDecisions":["accept","cancel"]}}`
	resolved = `{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":%d}}`
	ended    = `{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"commandExecution","id":%q,"status":%q}}}`
	stopped  = `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"interrupted"}}}`
	accepts  = `{"decision":"accept"}`
)

// TestChatFirst checks that an answer goes out once, and that it counts as
// received only when the server has resolved the request accordingly.
func TestChatFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then     string
		received bool
	}{
		"it runs": {fmt.Sprintf(ended, "c", "completed"), true}, "it may run for long": {"", true},
		"the terminal denied it": {fmt.Sprintf(ended, "c", "declined"), false}, "the terminal stopped the turn": {stopped, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			race(t, func(t *testing.T, all *companion) {
				s := all.connect()
				defer s.lose()
				s.says(wants, 0, "T", "c")
				all.cards[0].answer <- accepts
				s.expects(`{"id":0,"result":{"decision":"accept"}}`)
				if c.then != "" {
					s.says("%s", c.then)
				}
				if all.cards[0].received {
					t.Error("received before the server resolved it")
				}
				s.says(resolved, 0)
				time.Sleep(3 * time.Second)
				synctest.Wait()
				if all.cards[0].received != c.received {
					t.Errorf("received: %t", all.cards[0].received)
				}
				s.expects("")
			})
		})
	}
}

// TestDeniedTooLate checks that a denial in chat counts as too late if the server
// runs the command, because the terminal had allowed it.
func TestDeniedTooLate(t *testing.T) {
	t.Parallel()
	for status, late := range map[string]bool{"completed": true, "declined": false} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			race(t, func(t *testing.T, all *companion) {
				s := all.connect()
				defer s.lose()
				s.says(wants, 0, "T", "c")
				all.cards[0].answer <- `{"decision":"decline"}`
				s.expects(`{"id":0,"result":{"decision":"decline"}}`)
				s.says(resolved, 0)
				s.says(ended, "c", status)
				synctest.Wait()
				if c := all.cards[0]; c.late != late || c.received == late {
					t.Errorf("too late %t, received %t", c.late, c.received)
				}
			})
		})
	}
}

// TestTerminalFirst checks that a card says what the terminal decided, and that
// a later answer of chat is not sent.
func TestTerminalFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, reason string }{
		"allowed":                               {"", fmt.Sprintf(ended, "c", "completed"), bridge.ReasonAllowed},
		"denied":                                {fmt.Sprintf(ended, "c", "declined"), "", bridge.ReasonDismissed},
		"denied, the card late":                 {"", fmt.Sprintf(ended, "c", "declined"), bridge.ReasonDismissed},
		"stopped":                               {stopped, "", bridge.ReasonDismissed},
		"runs for long":                         {"", `{"method":"item/commandExecution/outputDelta","params":{"threadId":"T","turnId":"U","itemId":"c","delta":"x"}}`, bridge.ReasonAllowed},
		"failed for a reason that is not known": {"", fmt.Sprintf(ended, "c", "failed"), bridge.ReasonSettled},
		"another item":                          {fmt.Sprintf(ended, "d", "declined"), fmt.Sprintf(ended, "d", "declined"), bridge.ReasonSettled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			race(t, func(t *testing.T, all *companion) {
				s := all.connect()
				defer s.lose()
				s.says(wants, 0, "T", "c")
				for _, m := range []string{c.before, fmt.Sprintf(resolved, 0), c.after} {
					if m != "" {
						s.says("%s", m)
					}
				}
				time.Sleep(3 * time.Second)
				if got := all.cards[0].withdrawn(); got != c.reason {
					t.Errorf("withdrawn with %q, want %q", got, c.reason)
				}
				s.expects("")
			})
		})
	}
}

// TestTooLate checks that an answer of chat is not sent once the server has
// resolved the request, while the outcome is not known yet.
func TestTooLate(t *testing.T) {
	t.Parallel()
	race(t, func(t *testing.T, c *companion) {
		s := c.connect()
		defer s.lose()
		s.says(wants, 0, "T", "c")
		s.says(resolved, 0)
		c.cards[0].answer <- accepts
		s.expects("")
		time.Sleep(3 * time.Second)
		s.expects("")
		if c.cards[0].received {
			t.Error("received")
		}
	})
}

// TestThreads checks that only threads of people are followed, when they wait.
func TestThreads(t *testing.T) {
	t.Parallel()
	const waits = `{"method":"thread/status/changed","params":{"threadId":%q,"status":{"type":"active","activeFlags":["waitingOnApproval"]}}}`
	for thread, follows := range map[string]string{
		`{"ephemeral":false,"threadSource":"user","status":{"type":"active","activeFlags":["waitingOnUserInput"]}}`:        `"method":"thread/resume"`,
		`{"ephemeral":true,"threadSource":"user","status":{"type":"active","activeFlags":["waitingOnApproval"]}}`:          "",
		`{"ephemeral":false,"threadSource":"thread_title","status":{"type":"active","activeFlags":["waitingOnApproval"]}}`: "",
		`{"ephemeral":false,"threadSource":"user","status":{"type":"idle"}}`:                                               "",
	} {
		t.Run(thread, func(t *testing.T) {
			t.Parallel()
			race(t, func(t *testing.T, c *companion) {
				s := c.connect()
				defer s.lose()
				s.says(waits, "N")
				s.expects(`"method":"thread/read","params":{"threadId":"N"}`)
				s.says(`{"id":5,"result":{"thread":%s}}`, thread)
				s.expects(follows)
				s.says(wants, 0, "N", "c") // the history follows
				if len(c.cards) != 0 {
					t.Error("a card before the history is known")
				}
				if follows != "" {
					s.says(`{"id":6,"result":{"thread":{"turns":[]}}}`)
					if len(c.cards) != 1 {
						t.Errorf("%d cards", len(c.cards))
					}
				}
			})
		})
	}
}

// TestReconnect checks that an answer never goes to another request that has
// the ID, and that a repeated request keeps its card.
func TestReconnect(t *testing.T) {
	t.Parallel()
	t.Run("another request has the ID", func(t *testing.T) {
		t.Parallel()
		race(t, func(t *testing.T, c *companion) {
			c.connectLost(t)
			s := c.connect()
			defer s.lose()
			s.says(wants, 0, "T", "other")
			c.cards[0].answer <- accepts
			s.expects("")
			if len(c.cards) != 2 || c.cards[1].withdrawn() != "" {
				t.Error("the new request has no card of its own")
			}
		})
	})
	t.Run("answered while away", func(t *testing.T) {
		t.Parallel()
		race(t, func(t *testing.T, c *companion) {
			c.connectLost(t)
			c.cards[0].answer <- accepts
			synctest.Wait()
			s := c.connect()
			defer s.lose()
			s.expects("")
			s.says(wants, 4, "T", "c")
			s.expects("")
			if len(c.cards) != 2 {
				t.Errorf("%d cards, want that the request is asked about again", len(c.cards))
			}
		})
	})
	t.Run("repeated", func(t *testing.T) {
		t.Parallel()
		race(t, func(t *testing.T, c *companion) {
			c.connectLost(t)
			s := c.connect()
			defer s.lose()
			s.says(wants, 4, "T", "c")
			time.Sleep(time.Minute)
			c.cards[0].answer <- accepts
			s.expects(`{"id":4,"result":{"decision":"accept"}}`)
			if len(c.cards) != 1 {
				t.Errorf("%d cards", len(c.cards))
			}
		})
	})
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		race(t, func(t *testing.T, c *companion) {
			c.connectLost(t)
			time.Sleep(20 * time.Second)
			if why := c.cards[0].withdrawn(); why != "" {
				t.Errorf("withdrawn with %q", why)
			}
			s := c.connect()
			defer s.lose()
			time.Sleep(4 * time.Second)
			if why := c.cards[0].withdrawn(); !strings.Contains(why, "Codex was restarted") {
				t.Errorf("withdrawn with %q", why)
			}
		})
	})
}

// TestSilence checks that what nod does not understand gets no answer, because
// any answer would close the dialog at the terminal.
func TestSilence(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"another method":      `{"id":0,"method":"item/tool/call","params":{"threadId":"T"}}`,
		"another kind":        strings.Replace(fmt.Sprintf(wants, 0, "T", "c"), `"command"`, `"writeStdin"`, 1),
		"a secret":            `{"id":0,"method":"item/tool/requestUserInput","params":{"threadId":"T","turnId":"U","itemId":"q","questions":[{"id":"k","question":"Key?","isSecret":true}]}}`,
		"unseen changes":      `{"id":0,"method":"item/fileChange/requestApproval","params":{"threadId":"T","turnId":"U","itemId":"f","startedAtMs":1}}`,
		"a member twice":      strings.Replace(fmt.Sprintf(wants, 0, "T", "c"), `"kind":`, `"command":"rm","kind":`, 1),
		"no JSON":             `{"id":0`,
		"a thread for titles": fmt.Sprintf(wants, 0, "hidden", "c"),
		"an unknown event":    `{"method":"thread/dreamed","params":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			race(t, func(t *testing.T, c *companion) {
				s := c.connect()
				defer s.lose()
				s.says("%s", message)
				time.Sleep(time.Hour)
				s.expects("")
				if len(c.cards) != 0 {
					t.Error("a card was posted")
				}
			})
		})
	}
	t.Run("no one answers", func(t *testing.T) {
		t.Parallel()
		race(t, func(t *testing.T, c *companion) {
			s := c.connect()
			defer s.lose()
			s.says(wants, 0, "T", "c")
			c.cards[0].answer <- ""
			s.expects("")
		})
	})
}

// TestChanges checks that a file change has a card if its changes are known,
// from the history or from a notification.
func TestChanges(t *testing.T) {
	t.Parallel()
	race(t, func(t *testing.T, c *companion) {
		s := c.connect()
		defer s.lose()
		s.says(`{"method":"item/started","params":{"threadId":"T","turnId":"U","item":{"type":"fileChange","id":"f","status":"inProgress","changes":[{"path":"a.go","diff":"+b"}]}}}`)
		s.says(`{"id":0,"method":"item/fileChange/requestApproval","params":{"threadId":"T","turnId":"U","itemId":"f","startedAtMs":1}}`)
		if len(c.cards) != 1 {
			t.Errorf("%d cards", len(c.cards))
		}
		s.says(`{"method":"thread/status/changed","params":{"threadId":"T","status":{"type":"idle"}}}`)
		s.expects(`"method":"thread/unsubscribe"`)
		if why := c.cards[0].withdrawn(); why == "" {
			time.Sleep(3 * time.Second)
			if why = c.cards[0].withdrawn(); why != bridge.ReasonSettled {
				t.Errorf("withdrawn with %q", why)
			}
		}
	})
}

// TestSkew checks that another version of Codex leads to an error, and not to
// an endless wait.
func TestSkew(t *testing.T) {
	t.Parallel()
	const unknown = `{"id":%d,"error":{"code":-32600,"message":"Invalid request: unknown variant, expected one of a, b"}}`
	greeting := `{"id":1,"result":{"userAgent":"codex/1.0.0"}}`
	for name, c := range map[string]struct {
		says []string
		code bridge.Code
		text string
	}{
		"no initialize": {[]string{fmt.Sprintf(unknown, 1)}, bridge.CodeUnsupported, "initialize: Invalid request: unknown variant"},
		"too old":       {[]string{`{"id":1,"result":{"userAgent":"codex/0.149.0 (x)"}}`}, bridge.CodeUnsupported, "0.166.0 and later"},
		"no list":       {[]string{greeting, fmt.Sprintf(unknown, 2)}, bridge.CodeUnsupported, "thread/loaded/list"},
		"another list":  {[]string{greeting, `{"id":2,"result":{"data":{"a":1}}}`}, bridge.CodeUnsupported, "thread/loaded/list"},
		"no read":       {[]string{greeting, `{"id":2,"result":{"data":["T"]}}`, fmt.Sprintf(unknown, 3)}, bridge.CodeUnsupported, "thread/read"},
		"no answer":     {nil, bridge.CodeUnavailable, "did not answer"},
		"half a reply":  {[]string{greeting}, bridge.CodeUnavailable, "did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			race(t, func(t *testing.T, all *companion) {
				s := all.dial()
				for _, m := range c.says {
					s.says("%s", m)
				}
				err := <-s.done
				if bridge.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
					t.Errorf("the error is %v, want %s", err, c.text)
				}
			})
		})
	}
}
