package mcp_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// TestLines checks that IDs return unchanged, and that a line that is not a message
// gets an error and ends nothing.
func TestLines(t *testing.T) {
	t.Parallel()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	p, served := newPeople(), make(chan error, 1)
	go func() {
		served <- mcp.Serve(t.Context(), mcp.Lines{In: in, Out: out}, mcp.Options{Asker: p, Session: "s"})
	}()
	lines := bufio.NewScanner(answers)
	exchange := func(line string) string {
		t.Helper()
		fmt.Fprintln(client, line)
		if !lines.Scan() {
			t.Fatalf("%s: the connection ended", line)
		}
		return lines.Text()
	}
	exchange(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, id := range []string{`0`, `-5`, `1.5`, `1e2`, `9007199254740993`, `99999999999999999999`, `""`, `"a<b>é"`, `"7"`, `7`} {
		if got, want := exchange(`{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`), `{"id":`+id+`,"jsonrpc":"2.0","result":{}}`; got != want {
			t.Errorf("%s is answered with %s", id, got)
		}
	}
	for line, want := range map[string]string{
		`hello`:    `"code":-32700,"message":"the message is not valid JSON at byte 1"},"id":null`,
		`{"id":1`:  `"code":-32700,"message":"the message is not valid JSON: it ends too early"},"id":null`,
		`{}`:       `"code":-32600`,
		`"ping"`:   `"code":-32600`,
		`{"id":3}`: `"code":-32600`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:    `batches are not supported`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:   `"message":"id: must be a string or a number"},"id":null`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`:   `"message":"id: must be a string or a number"},"id":null`,
		`{"jsonrpc":"1.0","id":"x","method":"ping"}`:    `"id":"x"`,
		`{"jsonrpc":"2.0","id":"y","method":"unknown"}`: `"id":"y"`,
	} {
		if got := exchange(line); !strings.Contains(got, want) || !strings.Contains(got, `"error":{`) {
			t.Errorf("%s is answered with %s", line, got)
		}
	}
	const id = `9007199254740993`
	call := `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ask_human","arguments":` + question + `}}`
	fmt.Fprintln(client, call)
	rec := <-p.asked
	if got := exchange(call); !strings.Contains(got, "already used") || !strings.Contains(got, `"id":`+id) {
		t.Errorf("the same ID is answered with %s", got)
	}
	fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740992}}`)
	fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	await.Until(t, "the request is withdrawn", func() bool { return p.cancelled(rec.Interaction.ID) != "" })
	await.Until(t, "the ID is free again", func() bool {
		return !strings.Contains(exchange(`{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`), "already used")
	})
	client.Close()
	await.Receive(t, "the end of the server", served)
}
