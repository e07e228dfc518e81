package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestForeignFolder checks that no command reads the config of the directory that
// it runs in, which may be someone else's and names where secrets go, and that
// each says so.
func TestForeignFolder(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(server.Close)
	folder, address := t.TempDir(), strings.TrimPrefix(server.URL, "http://")
	text := fmt.Sprintf("listen: %s\nredis: {url: \"redis://%[1]s\"}\nsandbox: %s\nslack: {signing_secret: x}\n"+
		"people: {ana: {slack: U1}}\nroutes: {default: {to: [\"slack:C1\"], responders: [ana]}}\n", address, server.URL)
	if err := os.WriteFile(filepath.Join(folder, "nod.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	with := map[string][]string{"nod doctor": {"--no-ask"}, "nod policy test": {"--tool", "x"}, "nod serve": nil, "nod health": nil, "nod config check": nil, "nod config show": nil, "nod config reload": nil}
	var commands []*cobra.Command
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Flags().Lookup("config") != nil && c.Runnable() {
			commands = append(commands, c)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand())
	for _, c := range commands {
		args, known := with[c.CommandPath()]
		if !known {
			if !strings.HasPrefix(c.CommandPath(), "nod init") { // nod init writes the config that it is given
				t.Errorf("%s has --config; add it to this test", c.CommandPath())
			}
			continue
		}
		delete(with, c.CommandPath())
		cmd := exec.CommandContext(t.Context(), rig.Binary(t), append(strings.Fields(c.CommandPath())[1:], args...)...)
		cmd.Dir, cmd.Env = folder, []string{"HOME=" + t.TempDir(), "SLACK_BOT_TOKEN=xoxb-secret", "NOD_URL="}
		if c.Name() == "health" || c.Name() == "reload" {
			cmd.Args = append(cmd.Args, "--url", "http://127.0.0.1:1")
		}
		out, _ := cmd.CombinedOutput() // the output describes the action
		if !strings.Contains(string(out), "nod.yaml in this directory is not read") {
			t.Errorf("%s says %s", c.CommandPath(), out)
		}
	}
	if len(with) > 0 || calls.Load() > 0 {
		t.Errorf("%d calls of the address in the foreign config; not run: %v", calls.Load(), with)
	}
}
