package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

var startRows = []row{
	{"start of the daemon until ready", "s", limited, 1, true},
	{"memory of an idle daemon", "MiB", limited, 1, true},
	{"size of the binary", "MiB", limited, 1, true},
	{"nod demo --autoplay", "s", limited, 1, true},
}

const (
	mostReady  = 1   // s
	mostIdle   = 64  // MiB
	mostBinary = 64  // MiB
	mostDemo   = 120 // s
)

// starting measures nod as a daemon and as the demo.
func starting(ctx context.Context, b *harness) ([]figures, error) {
	file, err := os.Stat(b.nod)
	if err != nil {
		return nil, err
	}
	ready, memory, err := b.startNod(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	demo := exec.CommandContext(ctx, b.nod, "demo", "--autoplay", "--listen", "127.0.0.1:0")
	if out, err := demo.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("demo: %w: %s", err, out)
	}
	return []figures{{ready, mostReady}, {memory, mostIdle}, {float64(file.Size()) / (1 << 20), mostBinary}, {time.Since(began).Seconds(), mostDemo}}, nil
}

// startNod returns the time in seconds until a daemon is ready, and its memory
// in MiB shortly after.
func (b *harness) startNod(ctx context.Context) (ready, memory float64, err error) {
	began := time.Now()
	d, err := b.startDaemon(ctx, "start")
	if err != nil {
		return 0, 0, err
	}
	defer d.stop()
	ready = time.Since(began).Seconds()
	bridge.Pause(ctx, b.span/2)
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(d.pid)).Output()
	if err != nil {
		return ready, 0, nil // a system without ps
	}
	kib, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return ready, kib / 1024, err
}
