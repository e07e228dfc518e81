package console

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestFresh checks that only a person who has just signed in can add a key, and
// that a browser cannot change the time of its sign-in.
func TestFresh(t *testing.T) {
	t.Parallel()
	key := []byte("a key of the console")
	c := &Console{sessions: sessions{key: key}}
	at := func(ago time.Duration, by []byte) error {
		text, err := sign(by, "session", session{"id", "ana", "token", time.Now().Add(sessionLife - ago).Unix()})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "/console/passkeys", nil)
		r.AddCookie(&http.Cookie{Name: c.sessions.named(sessionCookie), Value: text})
		return c.fresh(r)
	}
	for ago, want := range map[time.Duration]bridge.Code{
		0: "", freshFor - time.Minute: "", freshFor + time.Minute: bridge.CodeForbidden, sessionLife - time.Minute: bridge.CodeForbidden,
	} {
		if err := at(ago, key); bridge.ErrorCode(err) != want {
			t.Errorf("%s after the sign-in: %v", ago, err)
		}
	}
	if err := at(0, []byte("another key")); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a forged session: %v", err)
	}
}
