package peers

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"time"
)

// prompt is the text of every request.
const prompt = `{"prompt":"Deploy version 2 to production?","tool":"deploy","input":{"command":"kubectl apply -f v2.yaml"}}`

// stopTime limits how long a server takes to end.
const stopTime = 5 * time.Second

// process is a server that is started for a measurement, with its data.
type process struct {
	cmd *exec.Cmd
	dir string
}

func (p *process) start() error {
	if err := p.cmd.Start(); err != nil {
		return errors.Join(err, os.RemoveAll(p.dir))
	}
	return nil
}

func (p *process) stop() {
	// The server ends its child processes first, so that their processor time
	// counts toward the server.
	_ = p.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(stopTime, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait()
	late.Stop()
	_ = os.RemoveAll(p.dir)
}

// await repeats f until it succeeds, for half a minute.
func await(f func() error) error {
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
