package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestBodyError checks that a body which arrives too slowly is not a mistake of the
// caller, whose client then tries again.
func TestBodyError(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		err  error
		want bridge.Code
	}{
		{nil, ""}, {&http.MaxBytesError{Limit: 1}, bridge.CodeInvalid}, {io.ErrUnexpectedEOF, bridge.CodeInvalid}, {errors.New("x"), bridge.CodeInvalid},
		{fmt.Errorf("read: %w", os.ErrDeadlineExceeded), bridge.CodeUnavailable},
	} {
		if got := bridge.ErrorCode(bodyError(x.err)); got != x.want {
			t.Errorf("%v: %q, want %q", x.err, got, x.want)
		}
	}
}
