package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

const recipeFiles = "../../deploy/recipes"

// TestRecipePages checks that the documents show exactly the files of the
// recipes.
func TestRecipePages(t *testing.T) {
	t.Parallel()
	fence := regexp.MustCompile("(?ms)^( *)```[a-z]+\n(.*?)^ *```$")
	entries, err := os.ReadDir(recipeFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var shown []string
		for _, m := range fence.FindAllStringSubmatch(rig.ReadFile(t, "../../docs/recipes/"+e.Name()+".md"), -1) {
			shown = append(shown, strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n")[1:])
		}
		files, err := os.ReadDir(filepath.Join(recipeFiles, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text := rig.ReadFile(t, filepath.Join(recipeFiles, e.Name(), f.Name()))
			if !slices.Contains(shown, text) {
				t.Errorf("docs/recipes/%s.md does not show deploy/recipes/%[1]s/%[2]s", e.Name(), f.Name())
			}
		}
	}
}

// kitchen runs recipes: a daemon on the sandbox, a directory, and stubs that
// replace programs that a recipe calls.
type kitchen struct {
	t   *testing.T
	r   *rig.Rig
	dir string
	env []string // without NOD_URL and NOD_TOKEN
}

// newKitchen starts a daemon. Each stub is a script with the name of a program.
func newKitchen(t *testing.T, stubs map[string]string) *kitchen {
	t.Helper()
	k := &kitchen{t: t, r: rig.New(t, rig.Options{Config: rig.Only("telegram")}), dir: t.TempDir()}
	bin := filepath.Join(k.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(rig.Binary(t), filepath.Join(bin, "nod")); err != nil {
		t.Fatal(err)
	}
	for name, script := range stubs {
		k.write("bin/"+name, "#!/bin/sh\nset -eu\n"+script+"\n")
	}
	// deploy.sh is the step that must not run without a yes.
	k.write("deploy.sh", "#!/bin/sh\nprintf '%s\\n' \"$*\" >>deployed\n")
	k.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + k.dir, "LC_ALL=C.UTF-8"}
	return k
}

func (k *kitchen) write(name, text string) {
	k.t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o755); err != nil {
		k.t.Fatal(err)
	}
}

// clear forgets a deployment, and reports whether there was one.
func (k *kitchen) clear() bool { return os.Remove(filepath.Join(k.dir, "deployed")) == nil }

// nod returns the variables that nod needs.
func (k *kitchen) nod() []string {
	return []string{"NOD_URL=" + k.r.Daemons[0].URL, "NOD_TOKEN=" + rig.TestAgentToken}
}

// exec runs a program and returns its output and its exit code.
func (k *kitchen) exec(env []string, name string, args ...string) (string, int) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	for _, v := range slices.Concat(k.env, env) { // the program is on the PATH of the recipe
		if path, ok := strings.CutPrefix(v, "PATH="); ok && !strings.Contains(name, "/") {
			for dir := range strings.SplitSeq(path, ":") {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					name = filepath.Join(dir, name)
					break
				}
			}
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = k.dir, slices.Concat(k.env, env)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		k.t.Fatal(name, err)
	}
	k.t.Logf("%s: exit code %d\n%s", name, cmd.ProcessState.ExitCode(), out)
	return string(out), cmd.ProcessState.ExitCode()
}

// answered runs f while a person answers every request with a decision, and
// returns the requests.
func (k *kitchen) answered(d bridge.Decision, f func()) []bridge.Record {
	k.t.Helper()
	ctx, stop := context.WithCancel(k.t.Context())
	var people sync.WaitGroup
	var asked []bridge.Record
	people.Go(func() {
		for bridge.Pause(ctx, 20*time.Millisecond) {
			page, err := k.r.Person.List(ctx, bridge.ListFilter{State: bridge.StatePending})
			if err != nil {
				continue
			}
			for _, rec := range page.Items {
				if rec.Interaction.Approval == nil {
					continue
				}
				// The end of f must not cancel a response that has ended it.
				if _, err := k.r.Person.Respond(k.t.Context(), rec.Interaction.ID, bridge.Reply{Decision: d}); err == nil {
					asked = append(asked, rec)
				}
			}
		}
	})
	f()
	stop()
	people.Wait()
	return asked
}

// both cooks a recipe twice, with a yes and with a no. The recipe reports
// whether it succeeded. Only a yes may deploy.
func (k *kitchen) both(prompt string, cook func(run string) (ok bool)) {
	k.t.Helper()
	for n, d := range []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce} {
		var ok bool
		run := string(d)
		asked := k.answered(d, func() { ok = cook(run) })
		if want := n == 1; ok != want || k.clear() != want {
			k.t.Errorf("%s: succeeded: %v, want %v", d, ok, want)
		}
		if len(asked) != 1 || !strings.Contains(asked[0].Interaction.Prompt, prompt) {
			k.t.Errorf("%s: asked %d times, want once about %q", d, len(asked), prompt)
		}
	}
	// Without a daemon, nothing is deployed.
	k.r.Daemons[0].Stop()
	if cook("down") || k.clear() {
		k.t.Error("it deployed without a daemon")
	}
}
