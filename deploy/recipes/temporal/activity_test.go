package approval

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

const (
	agentToken  = "token-of-the-agent-in-these-tests"
	personToken = "token-of-the-person-in-these-tests"
)

// serve starts the daemon that NOD_BINARY names on the sandbox, and returns its
// address.
func serve(t *testing.T) string {
	t.Helper()
	binary := os.Getenv("NOD_BINARY")
	if binary == "" {
		t.Skip("NOD_BINARY is not set")
	}
	sandbox := exec.Command(binary, "sandbox", "--listen", "127.0.0.1:0", "--no-limits")
	out, err := sandbox.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begin(t, sandbox)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	config := filepath.Join(t.TempDir(), "nod.yaml")
	text := fmt.Sprintf(`
listen: %s
log_level: error
telegram: {bot_token: "7000:sandbox-telegram-token", api_url: "%s/telegram", pacing: false}
people: {ana: {telegram: "7001", token: %s}}
routes: {default: {to: ["telegram:-1001000000001"], responders: [ana]}}
agents: {tester: {token: %s}}
`, address, strings.TrimSuffix(strings.Fields(line)[1], "/"), personToken, agentToken)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command(binary, "serve", "--dev", "--config", config)
	begin(t, daemon)
	for range 600 {
		if resp, err := http.Get("http://" + address + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return "http://" + address
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the daemon did not start")
	return ""
}

func begin(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

// respond answers the next pending request as a person.
func respond(ctx context.Context, url string, reply bridge.Reply) {
	person := client.New(url, personToken, nil)
	for bridge.Pause(ctx, 20*time.Millisecond) {
		page, err := person.List(ctx, bridge.ListFilter{State: bridge.StatePending})
		if err == nil && len(page.Items) > 0 {
			if _, err = person.Respond(ctx, page.Items[0].Interaction.ID, reply); err == nil {
				return
			}
		}
	}
}

// deploy runs the workflow in Temporal's own test environment, and returns the
// released versions.
func deploy(t *testing.T, url string) ([]string, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	nod := client.New(url, agentToken, nil)
	nod.Patience = time.Second
	env.RegisterActivity(&Activities{Nod: nod})
	var released []string
	release := func(_ context.Context, version string) error {
		released = append(released, version)
		return nil
	}
	env.RegisterActivityWithOptions(release, activity.RegisterOptions{Name: "Release"})
	env.ExecuteWorkflow(Deploy, "v2")
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow did not end")
	}
	return released, env.GetWorkflowError()
}

// TestDeploy checks that only a yes deploys.
func TestDeploy(t *testing.T) {
	url := serve(t)
	go respond(t.Context(), url, bridge.Reply{Decision: bridge.DecideOnce})
	if released, err := deploy(t, url); err != nil || len(released) != 1 {
		t.Errorf("approved: released %v, error %v", released, err)
	}
	// The test environment has one run ID, so this is a retry. No one answers it.
	if released, err := deploy(t, url); err != nil || len(released) != 1 {
		t.Errorf("a retry: released %v, error %v", released, err)
	}
	page, err := client.New(url, agentToken, nil).List(t.Context(), bridge.ListFilter{})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("a retry asked again: %v, %v", page.Items, err)
	}
	other := serve(t)
	go respond(t.Context(), other, bridge.Reply{Decision: bridge.DecideDeny})
	released, err := deploy(t, other)
	if err == nil || !strings.Contains(err.Error(), "not approved: denied") || len(released) != 0 {
		t.Errorf("denied: released %v, error %v", released, err)
	}
}

// TestFailures checks that a failure is not a yes, and which ones are retried.
func TestFailures(t *testing.T) {
	url := serve(t)
	nowhere := client.New("http://127.0.0.1:1", agentToken, nil)
	nowhere.Patience = time.Millisecond
	for name, c := range map[string]struct {
		nod   *client.Client
		final bool
	}{"unauthenticated": {client.New(url, "wrong-token-of-the-agent", nil), true}, "unreachable": {nowhere, false}} {
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivity(&Activities{Nod: c.nod})
		_, err := env.ExecuteActivity("Approve", "Deploy?", "deploy", map[string]string{})
		var failure *temporal.ApplicationError
		if !errors.As(err, &failure) || !strings.Contains(err.Error(), name) || failure.NonRetryable() != c.final {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCancel checks that a cancelled activity cancels its request.
func TestCancel(t *testing.T) {
	url := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{BackgroundActivityContext: ctx})
	nod := client.New(url, agentToken, nil)
	env.RegisterActivity(&Activities{Nod: nod})
	go func() {
		defer cancel()
		for bridge.Pause(t.Context(), 20*time.Millisecond) {
			page, err := nod.List(t.Context(), bridge.ListFilter{State: bridge.StatePending})
			if err == nil && len(page.Items) > 0 {
				return
			}
		}
	}()
	if _, err := env.ExecuteActivity("Approve", "Deploy?", "deploy", map[string]string{}); err == nil {
		t.Error("a cancelled activity has no error")
	}
	page, err := nod.List(t.Context(), bridge.ListFilter{})
	if err != nil || len(page.Items) != 1 || page.Items[0].State != bridge.StateCancelled {
		t.Errorf("the requests are %v, %v", page.Items, err)
	}
}
