package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// imageUser is the user and the group of the image.
const imageUser = 65532

// image is a directory with the files of the image. Programs see it as their
// root directory.
type image struct {
	dir   string
	env   []string
	start []string // ENTRYPOINT and CMD
	check []string // HEALTHCHECK
}

// newImage builds the image as deploy/Dockerfile describes it.
func newImage(t *testing.T, version string) image {
	t.Helper()
	m := image{dir: t.TempDir(), env: []string{"HOME=/", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}}
	words := func(list string) (out []string) {
		if err := json.Unmarshal([]byte(list), &out); err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		return out
	}
	text := strings.ReplaceAll(rig.ReadFile(t, "../../deploy/Dockerfile"), "\\\n", "")
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "RUN":
			if !strings.Contains(rest, "go build") {
				continue
			}
			build := exec.Command("sh", "-c", strings.Replace(rest, "-o /nod", `-o "$OUT"`, 1))
			build.Dir = rig.Root(t)
			build.Env = append(os.Environ(), "VERSION="+version, "OUT="+filepath.Join(m.dir, "nod"))
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", rest, err, out)
			}
		case "ENV":
			m.env = append(m.env, rest)
		case "HEALTHCHECK":
			_, list, _ := strings.Cut(rest, "CMD ")
			m.check = words(list)
		case "ENTRYPOINT", "CMD":
			m.start = append(m.start, words(rest)...)
		}
	}
	if err := os.MkdirAll(filepath.Join(m.dir, "etc/nod"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := rig.ReadFile(t, "../../deploy/nod.example.yaml")
	if !strings.Contains(config, "Europe/Madrid") {
		t.Fatal("the example config names no time zone")
	}
	if err := os.WriteFile(filepath.Join(m.dir, "etc/nod/nod.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(m.dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(m.dir, 0o755) }) // so that it can be removed
	return m
}

// command returns a command that runs in the image as its user: with chroot as
// root, otherwise in a user namespace.
func (m image) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Env = "/", m.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: m.dir}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: imageUser, Gid: imageUser}
		return cmd
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: imageUser, HostID: os.Getgid(), Size: 1}}
	return cmd
}

// run runs a command in the image and returns its output and its exit code.
func (m image) run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	out, err := m.command(t, args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if errors.Is(err, fs.ErrPermission) {
		t.Skip("needs root or user namespaces: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// TestImage builds the container image without Docker and runs it: a static
// binary in an empty root directory, as a user without rights, with the example
// config and its time zone. The image knows its version, and its health check
// follows the daemon.
func TestImage(t *testing.T) {
	level.CI(t)
	t.Parallel()
	m := newImage(t, "9.9.9")
	if out, code := m.run(t, "/nod", "version"); code != 0 || !strings.HasPrefix(out, "nod 9.9.9 ") {
		t.Fatalf("exit %d: %s", code, out)
	}
	r := rig.Outside(t)
	address := rig.FreeAddress(t)
	url := "http://" + address
	m.env = append(m.env,
		"NOD_LISTEN="+address, "NOD_REDIS_URL=redis://"+r.Redis.Addr,
		"NOD_TOKEN_KEY="+strings.Repeat("a1", 32), "NOD_RECEIPTS_KEY="+strings.Repeat("b2", 32),
		"NOD_TOKEN_CI=token-of-ci-for-the-image", "NOD_TOKEN_DEPLOY_BOT=token-of-the-bot-for-the-image",
		"SLACK_BOT_TOKEN="+sandbox.SlackBotToken, "SLACK_APP_TOKEN="+sandbox.SlackAppToken,
		"DISCORD_BOT_TOKEN="+sandbox.DiscordToken,
		"TELEGRAM_BOT_TOKEN="+sandbox.TelegramToken, "NOD_SANDBOX="+r.Base)
	config := slices.Index(m.start, "--config")
	if out, code := m.run(t, "/nod", "config", "check", "--config", m.start[config+1]); code != 0 {
		t.Fatalf("the config: exit %d: %s", code, out)
	}
	if out, code := m.run(t, m.check...); code != 1 || !strings.Contains(out, "unreachable") {
		t.Errorf("without a daemon, the health check exits with %d: %s", code, out)
	}
	serve := m.command(t, m.start...)
	log := &lockedBuffer{}
	serve.Stderr = log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	r.Eventually("the health check passes", func() bool {
		_, code := m.run(t, m.check...)
		return code == 0
	})
	resp, err := http.Get(url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	if metrics := rig.Fetch(r, url+"/metrics"); !strings.Contains(metrics, `nod_build_info{`) || !strings.Contains(metrics, `version="9.9.9"} 1`) {
		t.Error("the metrics do not name the version")
	}
	if !strings.Contains(log.String(), "msg=serving version=9.9.9") {
		t.Error("the log does not name the version")
	}
	r.Redis.Kill()
	r.Eventually("without Redis, the health check fails", func() bool { // what it knows may be a second old
		out, code := m.run(t, m.check...)
		return code == 1 && strings.Contains(out, "status: down")
	})
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = serve.Wait() // Redis is gone, so the exit code does not matter
}
