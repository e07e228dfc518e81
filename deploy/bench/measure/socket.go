package measure

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

var socketRows = []row{{"memory of the daemon per caller on a WebSocket of its own", "KiB", limited, 1, true}}

// callersOverWebSocket is callersOverHTTP for callers with a WebSocket each.
func callersOverWebSocket(ctx context.Context, b *harness) ([]figures, error) {
	return b.callers(ctx, (*installation).waitingOnSocket)
}

// waitingOnSocket sends a request in a frame without a client library, and
// returns its connection.
func (s *installation) waitingOnSocket(ctx context.Context) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(c, "GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\n"+
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", s.token)
	if err != nil {
		return c, err
	}
	if err := afterHead(c); err != nil {
		return c, err
	}
	id := uuid.NewString()
	text := fmt.Sprintf(`{"type":"interaction_request","id":%q,"sessionId":%q,"interactionType":"approval","toolName":"deploy","timeout":"5m","grace":"1m"}`, id, id)
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(text))) //nolint:gosec // it is short
	frame = append(frame, 0, 0, 0, 0)                                                   // a mask of zeros
	_, err = c.Write(append(frame, text...))
	return c, err
}

// afterHead reads the head of the response to a handshake.
func afterHead(r io.Reader) error {
	var head []byte
	for b := make([]byte, 1); !strings.HasSuffix(string(head), "\r\n\r\n"); head = append(head, b[0]) {
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
	}
	if !strings.HasPrefix(string(head), "HTTP/1.1 101 ") {
		return bridge.Errorf(bridge.CodeInternal, "the handshake got %q", head)
	}
	return nil
}
