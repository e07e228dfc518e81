package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/render"
)

// resume tells how to continue a wait.
func resume(key string) string {
	return "to resume the wait, repeat the command with --key " + render.ShellQuote(key)
}

// withdrawn reports the outcome of the request of an interrupted command on
// stderr.
func (a *asking) withdrawn(stderr io.Writer, s cli.Interruption, left *client.LeftError, key string) {
	id, ended := left.ID, left.Ended
	switch {
	case a.keep:
		fmt.Fprintf(stderr, "nod: %s; %s stays open; %s\n", s, cmp.Or(string(id), "the request"), resume(key))
	case left.Err != nil && id == "":
		fmt.Fprintf(stderr, "nod: %s; unknown whether the request is open: %s\n", s, bridge.PublicText(left.Err))
	case left.Err != nil:
		fmt.Fprintf(stderr, "nod: %s; cannot cancel %s, which stays open: %s\n", s, id, bridge.PublicText(left.Err))
		fmt.Fprintf(stderr, "nod: hint: cancel it with: nod cancel %s\n", id)
	case !ended.State.Final():
		fmt.Fprintf(stderr, "nod: %s; %s stays open for the other calls that share its answer\n", s, id)
	case ended.State == bridge.StateCancelled:
		fmt.Fprintf(stderr, "nod: %s; cancelled %s\n", s, id)
	default:
		fmt.Fprintf(stderr, "nod: %s; %s was already %s; nothing was done\n", s, id, ended.Outcome())
	}
}
