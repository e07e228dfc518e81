package bridge

import (
	"errors"
)

// ErrPaced is wrapped by the error of a platform that queued a call behind its
// rate limit. Nothing was sent, and the call is possible after RetryAfter.
var ErrPaced = errors.New("queued behind the rate limit")
