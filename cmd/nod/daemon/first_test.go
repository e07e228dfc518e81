package daemon_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// maxFirstCommands is the number of commands that a new user may need.
const maxFirstCommands = 5

// first is a new user at a terminal with a phone.
type first struct {
	t     *testing.T
	dir   string
	env   []string
	total time.Duration
}

// TestFirstApproval runs the commands of the quickstart with the real program,
// from the build to the first approved command. The person answers on a phone.
// Run it with -v for the time of each step.
func TestFirstApproval(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.Outside(t)
	commands := firstCommands(t)
	f := &first{t: t, dir: t.TempDir()}
	listen := "127.0.0.1:" + strconv.Itoa(redistest.FreePort(t))
	f.env = append(os.Environ(), "HOME="+f.dir, "XDG_CONFIG_HOME=", "NOD_LISTEN="+listen, "NOD_URL=http://"+listen, "NOD_SANDBOX="+r.Base, "TELEGRAM_BOT_TOKEN="+sandbox.TelegramToken)
	drive(t, ctx, "the phone", chromedp.EmulateViewport(390, 844), chromedp.Navigate(r.Base), browsing.Click(`//button[@data-service="telegram"]`), be("ana"))

	f.step(commands[0], func(line string) {
		build := exec.Command("sh", "-c", strings.Replace(line, "-o nod", "-o '"+filepath.Join(f.dir, "nod")+"'", 1))
		build.Dir = rig.Root(t)
		f.run(build)
	})
	f.step(commands[1], func(line string) {
		prompted, prompts := io.Pipe()
		go func() { // the group, when nod has asked for it
			waitFor(prompted, "Send /nod in the group now")
			drive(t, ctx, "write in the group", browsing.Type("#telegram .composer input", "/nod\n"))
			_, _ = io.Copy(io.Discard, prompted)
		}()
		cmd := f.shell(line)
		cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Repeat("\n", 10)), prompts
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		_ = prompts.Close() // nothing fails there
	})
	var serve *exec.Cmd
	var log bytes.Buffer
	f.step(commands[2], func(line string) {
		serve = f.shell("exec " + strings.TrimSuffix(line, " &"))
		serve.Stderr = &log
		if err := serve.Start(); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		if err := serve.Wait(); err != nil || t.Failed() {
			t.Errorf("nod serve: %v\n%s", err, log.String())
		}
	})
	f.step(commands[3], func(line string) {
		out, err := f.shell(line + ` && printf %s "$NOD_TOKEN"`).Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("%s: %q, %v", line, out, err)
		}
		f.env = append(f.env, "NOD_TOKEN="+string(out))
	})
	f.step(commands[4], func(line string) {
		cmd := f.shell(line)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		drive(t, ctx, "the card", says("telegram", "touch approved"))
		if _, err := os.Stat(filepath.Join(f.dir, "approved")); err == nil {
			t.Error("the command ran before it was approved")
		}
		drive(t, ctx, "tap", click("telegram", "Run command"))
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	})
	if _, err := os.Stat(filepath.Join(f.dir, "approved")); err != nil {
		t.Error("the command did not run")
	}
	t.Logf("%-52s %6.1f s", "total", f.total.Seconds())
}

// firstCommands returns the commands of the quickstart.
func firstCommands(t *testing.T) []string {
	t.Helper()
	doc := rig.ReadFile(t, filepath.Join(rig.Root(t), "docs/quickstart.md"))
	block := regexp.MustCompile("(?s)TestFirstApproval.*?```sh\n(.*?)```").FindStringSubmatch(doc)
	if block == nil {
		t.Fatal("the quickstart does not have the commands")
	}
	lines := strings.Split(strings.TrimSpace(block[1]), "\n")
	if len(lines) != maxFirstCommands {
		t.Fatalf("the quickstart has %d commands, want %d: %q", len(lines), maxFirstCommands, lines)
	}
	return lines
}

// step runs a command and prints its time.
func (f *first) step(line string, do func(string)) {
	f.t.Helper()
	began := time.Now()
	do(line)
	took := time.Since(began)
	f.total += took
	f.t.Logf("%-52s %6.1f s", line, took.Seconds())
}

func (f *first) shell(line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = f.dir, f.env
	return cmd
}

func (f *first) run(cmd *exec.Cmd) {
	f.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// waitFor reads until a text arrives.
func waitFor(r io.Reader, text string) {
	var seen bytes.Buffer
	part := make([]byte, 4096)
	for !strings.Contains(seen.String(), text) {
		n, err := r.Read(part)
		seen.Write(part[:n])
		if err != nil {
			return
		}
	}
}
