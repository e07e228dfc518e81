package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/ingress"
	"github.com/restatedev/sdk-go/server"
)

// restatePeer does the job with the durable execution of Restate: a handler of
// this process stores the request and waits. With promises, a workflow waits for
// a durable promise; without, a service waits for an awakeable, and whoever
// decides second is not told.
type restatePeer struct {
	waiting
	process
	promises bool
	service  *httptest.Server
	client   *ingress.Client
	url      string   // URL of the ingress
	keys     sync.Map // ID to chan string, the awakeable of the request
	requests http.Client
}

// ask holds a request and the time until its deadline.
type ask struct {
	ID       string
	Request  json.RawMessage
	Deadline time.Duration
}

func newAwakeables(ctx context.Context, c config) (peer, error) { return newRestate(ctx, c, false) }

func newPromises(ctx context.Context, c config) (peer, error) { return newRestate(ctx, c, true) }

func newRestate(ctx context.Context, c config, promises bool) (peer, error) {
	binary, err := restateServer(ctx)
	if err != nil {
		return nil, err
	}
	p := &restatePeer{promises: promises}
	p.requests.Transport = &http.Transport{MaxIdleConnsPerHost: 2 * c.callers}
	handler, err := server.NewRestate().WithLogger(slog.DiscardHandler, true).Bind(p.definition()).Handler()
	if err != nil {
		return nil, err
	}
	p.service = httptest.NewUnstartedServer(handler)
	p.service.Config.Protocols = new(http.Protocols)
	p.service.Config.Protocols.SetUnencryptedHTTP2(true)
	p.service.Start()
	if err := p.serve(ctx, binary); err != nil {
		p.service.Close()
		return nil, err
	}
	return p, nil
}

// restateServer returns the path of the server, from the PATH or otherwise from
// npm.
func restateServer(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("restate-server"); err == nil {
		return path, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", missing("restate-server is not on the PATH")
	}
	const version = "1.7.12"
	dir := filepath.Join(cache, "nod-bench", "restate-"+version)
	programs := filepath.Join(dir, "node_modules", "@restatedev", "*", "bin", "restate-server")
	if found, _ := filepath.Glob(programs); len(found) > 0 { // the pattern is valid
		return found[0], nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", missing("neither restate-server nor npm is on the PATH")
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", dir, "@restatedev/restate-server@"+version)
	if out, err := install.CombinedOutput(); err != nil {
		return "", missing(fmt.Sprintf("npm has no @restatedev/restate-server: %s", bytes.TrimSpace(out)))
	}
	found, _ := filepath.Glob(programs) // as above
	if len(found) == 0 {
		return "", missing("@restatedev/restate-server has no program for this system")
	}
	return found[0], nil
}

func (p *restatePeer) definition() restate.ServiceDefinition {
	if p.promises {
		return restate.NewWorkflow("request").
			Handler("Run", restate.NewWorkflowHandler(func(ctx restate.WorkflowContext, a ask) (string, error) {
				answer := restate.Promise[string](ctx, "answer")
				return first(ctx, a, answer, answer.Result)
			})).
			Handler("Decide", restate.NewWorkflowSharedHandler(func(ctx restate.WorkflowSharedContext, answer string) (bool, error) {
				return restate.Promise[string](ctx, "answer").Resolve(answer) == nil, nil
			}))
	}
	return restate.NewService("request").
		Handler("Run", restate.NewServiceHandler(func(ctx restate.Context, a ask) (string, error) {
			answer := restate.Awakeable[string](ctx)
			if told, ok := p.keys.Load(a.ID); ok {
				select {
				case told.(chan string) <- answer.Id():
				default: // the step runs again after a failure
				}
			}
			return first(ctx, a, answer, answer.Result)
		}))
}

// first waits for an answer until the deadline.
func first(ctx restate.Context, a ask, answer restate.Future, result func() (string, restate.TerminalError)) (string, error) {
	done, err := restate.WaitFirst(ctx, answer, restate.After(ctx, a.Deadline))
	if err != nil {
		return "", err
	}
	if done != answer {
		return "expired", nil
	}
	text, err := result()
	if err != nil {
		return "", err
	}
	return text, nil
}

// serve starts the server and registers the service of this process.
func (p *restatePeer) serve(ctx context.Context, binary string) error {
	var ports [3]int
	for n := range ports {
		var err error
		if ports[n], err = freePort(); err != nil {
			return err
		}
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "nod-restate"); err != nil {
		return err
	}
	p.cmd = exec.Command(binary, "--no-logo", "--node-name", "bench", "--base-dir", p.dir, "--listen-mode", "tcp",
		"--bind-ip", "127.0.0.1", "--bind-port", fmt.Sprint(ports[0]))
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("RESTATE_INGRESS__BIND_ADDRESS=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("RESTATE_ADMIN__BIND_ADDRESS=127.0.0.1:%d", ports[2]), "RESTATE_DISABLE_TELEMETRY=true", "RUST_LOG=error")
	if err := p.start(); err != nil {
		return err
	}
	p.url = fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	p.client = ingress.NewClient(p.url, ingress.WithHttpClient(&p.requests))
	admin := fmt.Sprintf("http://127.0.0.1:%d/deployments", ports[2])
	if err := await(func() error { return p.post(ctx, admin, map[string]any{"uri": p.service.URL}) }); err != nil {
		p.stop()
		return err
	}
	return nil
}

func (p *restatePeer) open(ctx context.Context, id string, deadline time.Time) (<-chan string, error) {
	told := p.add(id)
	run := ingress.Service[ask, string](p.client, "request", "Run")
	if p.promises {
		run = ingress.Workflow[ask, string](p.client, "request", id, "Run")
	} else {
		p.keys.Store(id, make(chan string, 1))
	}
	go func() {
		answer, err := run.Request(ctx, ask{id, json.RawMessage(prompt), time.Until(deadline)})
		if err != nil {
			answer = err.Error()
		}
		p.tell(id, answer)
	}()
	return told, nil
}

func (p *restatePeer) decide(ctx context.Context, id, answer string) (bool, error) {
	if p.promises {
		return ingress.Workflow[string, bool](p.client, "request", id, "Decide").Request(ctx, answer)
	}
	key, ok := p.keys.Load(id)
	if !ok {
		return false, nil
	}
	select {
	case awakeable := <-key.(chan string):
		p.keys.Delete(id)
		return true, p.post(ctx, p.url+"/restate/awakeables/"+awakeable+"/resolve", answer)
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// post sends a value as JSON.
func (p *restatePeer) post(ctx context.Context, url string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.requests.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("restate: %s: %s", resp.Status, said)
	}
	return err
}

func (p *restatePeer) close() {
	p.stop()
	p.requests.CloseIdleConnections()
	p.service.Close()
}
