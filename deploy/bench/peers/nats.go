package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsPeer does the job with a JetStream key-value bucket: a decision updates
// the first revision of a key, and one watcher tells the callers of the
// process. The deadline is stored, and nothing ends the request at that time.
type natsPeer struct {
	waiting
	server *process
	asks   *nats.Conn
	acts   *nats.Conn
	opens  jetstream.KeyValue
	settle jetstream.KeyValue
	watch  jetstream.KeyWatcher
}

// stored is the value of a key.
type stored struct {
	Prompt   string    `json:"prompt"`
	Deadline time.Time `json:"deadline"`
	Answer   string    `json:"answer,omitempty"`
}

func newNATS(ctx context.Context, c config) (peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "peers-nats-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	interval := `"1s"`
	if c.always {
		interval = "always"
	}
	file := filepath.Join(dir, "nats.conf")
	text := fmt.Sprintf("listen: 127.0.0.1:%d\njetstream { store_dir: %q, sync_interval: %s }\n", port, dir, interval)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p := &natsPeer{server: &process{cmd: exec.Command(self, "peer", "-nats", file), dir: dir}}
	if err := p.server.start(); err != nil {
		return nil, err
	}
	if err := p.connect(ctx, fmt.Sprintf("nats://127.0.0.1:%d", port)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// serveNATS runs a NATS server in this process until it is killed.
func serveNATS(file string) error {
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	s.WaitForShutdown()
	return nil
}

// connect opens a connection for the callers and another for the deciders.
func (p *natsPeer) connect(ctx context.Context, url string) error {
	err := await(func() (err error) {
		p.asks, err = nats.Connect(url)
		return err
	})
	if err != nil {
		return err
	}
	if p.acts, err = nats.Connect(url); err != nil {
		return err
	}
	js, err := jetstream.New(p.asks)
	if err != nil {
		return err
	}
	if p.opens, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "requests", History: 8, Storage: jetstream.FileStorage}); err != nil {
		return err
	}
	js, err = jetstream.New(p.acts)
	if err != nil {
		return err
	}
	if p.settle, err = js.KeyValue(ctx, "requests"); err != nil {
		return err
	}
	if p.watch, err = p.opens.WatchAll(ctx, jetstream.UpdatesOnly()); err != nil {
		return err
	}
	go func() {
		for e := range p.watch.Updates() {
			var s stored
			if e != nil && json.Unmarshal(e.Value(), &s) == nil && s.Answer != "" {
				p.tell(e.Key(), s.Answer)
			}
		}
	}()
	return nil
}

func (p *natsPeer) open(ctx context.Context, id string, deadline time.Time) (<-chan string, error) {
	told := p.add(id)
	raw, err := json.Marshal(stored{Prompt: prompt, Deadline: deadline})
	if err == nil {
		_, err = p.opens.Create(ctx, id, raw)
	}
	return told, err
}

func (p *natsPeer) decide(ctx context.Context, id, answer string) (bool, error) {
	e, err := p.settle.Get(ctx, id)
	if err != nil {
		return false, err
	}
	var s stored
	if err := json.Unmarshal(e.Value(), &s); err != nil {
		return false, err
	}
	if s.Answer != "" || time.Now().After(s.Deadline) {
		return false, nil
	}
	s.Answer = answer
	raw, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	_, err = p.settle.Update(ctx, id, raw, e.Revision())
	if errors.Is(err, jetstream.ErrKeyExists) { // the revision is no longer the newest
		return false, nil
	}
	return err == nil, err
}

func (p *natsPeer) close() {
	if p.watch != nil {
		_ = p.watch.Stop() // the server ends too
	}
	for _, c := range []*nats.Conn{p.asks, p.acts} {
		if c != nil {
			c.Close()
		}
	}
	p.server.stop()
}
