package bridge

import (
	"errors"
)

// ErrPaced is in the error of a platform that keeps its pace: nothing was sent
// yet, and the turn comes after RetryAfter.
var ErrPaced = errors.New("its turn comes later")
