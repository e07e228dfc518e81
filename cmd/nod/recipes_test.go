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
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/render"
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
	k.write("deploy.sh", "#!/bin/sh\n[ ! -e fails ] || exit 7\nprintf '%s\\n' \"$*\" >>deployed\n")
	k.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + k.dir, "LC_ALL=C.UTF-8"}
	return k
}

func (k *kitchen) write(name, text string) {
	k.t.Helper()
	programs.Write(k.t, filepath.Join(k.dir, name), text)
}

// deployed forgets the deployments, and returns them.
func (k *kitchen) deployed() []string {
	name := filepath.Join(k.dir, "deployed")
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	if err := os.Remove(name); err != nil {
		k.t.Error(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// nod returns the variables that nod needs.
func (k *kitchen) nod() []string {
	return []string{"NOD_URL=" + k.r.Daemons[0].URL, "NOD_TOKEN=" + rig.TestAgentToken}
}

// exec runs a program and returns its output and its exit code.
func (k *kitchen) exec(env []string, name string, args ...string) (string, int) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), await.Limit)
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

// answered runs f while a person answers every request, and returns the
// requests. The decisions are repeated.
func (k *kitchen) answered(f func(), decisions ...bridge.Decision) []bridge.Record {
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
				d := decisions[len(asked)%len(decisions)]
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

// cooked is a recipe under test.
type cooked struct {
	page   string // that shows it
	prompt string // is part of each of its cards
	// cook runs the recipe and reports whether it succeeded. Run names the run.
	cook func(run string) (ok bool)
}

// serve runs a recipe with a denial, with an approval, with a step that fails,
// twice at once, and without a daemon. One approval deploys once.
func (k *kitchen) serve(c cooked) {
	k.t.Helper()
	page := rig.ReadFile(k.t, "../../docs/recipes/"+c.page+".md")
	cook := func(run string, want bool, d bridge.Decision) {
		k.t.Helper()
		var ok bool
		asked := k.answered(func() { ok = c.cook(run) }, d)
		if done := k.deployed(); ok != want || len(done) > 0 != want {
			k.t.Errorf("%s: succeeded: %v, want %v; deployed %q", run, ok, want, done)
		}
		if len(asked) != 1 || !strings.Contains(asked[0].Interaction.Prompt, c.prompt) {
			k.t.Fatalf("%s: asked %d times, want once about %q", run, len(asked), c.prompt)
		}
		if label := render.DecisionLabel(asked[0].Interaction, bridge.DecideOnce); !strings.Contains(page, "**"+label+"**") {
			k.t.Errorf("the page does not name the button %q", label)
		}
	}
	cook("denied", false, bridge.DecideDeny)
	cook("approved", true, bridge.DecideOnce)
	k.write("fails", "")
	cook("fails", false, bridge.DecideOnce)
	if err := os.Remove(filepath.Join(k.dir, "fails")); err != nil {
		k.t.Fatal(err)
	}
	// Two at once: the first card is approved, the second one is not.
	var ok [2]bool
	asked := k.answered(func() {
		var both sync.WaitGroup
		for n, run := range []string{"left", "right"} {
			both.Go(func() { ok[n] = c.cook(run) })
		}
		both.Wait()
	}, bridge.DecideOnce, bridge.DecideDeny)
	if done := k.deployed(); len(asked) != 2 || ok[0] == ok[1] || len(done) != 1 {
		k.t.Errorf("two at once: asked %d times, succeeded: %v, deployed %q", len(asked), ok, done)
	}
	k.r.Daemons[0].Stop()
	if ok, done := c.cook("down"), k.deployed(); ok || done != nil {
		k.t.Errorf("it deployed %q without a daemon", done)
	}
}
