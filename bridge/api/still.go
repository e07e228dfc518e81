package api

import (
	"context"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// stillEvery is the interval at which an open connection checks that its
// console session is still open. A new config ends all connections, including
// those of removed tokens and people.
const stillEvery = time.Second

// stillKey is the key of the function of a context that reports whether its console
// session is still open.
type stillKey struct{}

// whileSession returns a request of a console session whose context contains
// the session. The request may have ended long before the session is checked.
func (s *Server) whileSession(r *http.Request, p Principal) *http.Request {
	own := r.Clone(context.WithoutCancel(r.Context()))
	own.Body = nil
	still := func() bool {
		now, err := s.session(own)
		if bridge.ErrorCode(err) == bridge.CodeUnavailable {
			return true // the session may still be open
		}
		return err == nil && now.Person == p.Person && now.Auditor == p.Auditor
	}
	return r.WithContext(context.WithValue(r.Context(), stillKey{}, still))
}

// still returns a function that reports whether the caller with a context may
// still use an open connection. It returns nil for a caller with a token.
func still(ctx context.Context) func() bool {
	f, _ := ctx.Value(stillKey{}).(func() bool)
	return f
}

// errSignedOut is the error for a caller whose session ended in the meantime.
var errSignedOut = bridge.Errorf(bridge.CodeUnauthenticated, "the session has ended").WithHint("sign in again")
