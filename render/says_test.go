package render

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestBoilerplate checks which prompts say nothing that the headline does not say, so
// that the card leaves them out, and that every other prompt is shown.
func TestBoilerplate(t *testing.T) {
	t.Parallel()
	i := bridge.Interaction{Agent: "ci"}
	i.Approval = &bridge.Approval{Tool: "deploy", Where: "/repo"}
	for text, want := range map[string]bool{
		"deploy": true, "Run this command?": true, "Allow deploy?": true, `Allow "deploy"?`: true, "Allow deploy? in /repo": true,
		"Codex wants to run a command": true, "ci wants to change files": true, "The agent wants to use deploy": true, "Claude Code wants to do deploy in /repo": true,
		"Allow prod?": false, `Allow "prod"?`: false, `Allow 'deploy'?`: false, `Allow "deploy""?`: false, "Allow deploy": false, "deploy in /srv": false, "deploy /repo": false,
		"bo wants to run a command": false, "ci wants to use prod": false, "ci wants to stop deploy": false, "ci wants to use": false, "run a command": false, "May I?": false, "": false,
	} {
		if got := boilerplate(i, text); got != want {
			t.Errorf("%q is left out: %t, want %t", text, got, want)
		}
	}
}
