// Command peers measures the task queue library asynq for nod bench --peers. It
// is a separate module, so that nod does not depend on its peers. Only
// libraries that nod is compared with belong here.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
)

func main() {
	addr := flag.String("addr", "", "address of a Redis server")
	callers := flag.Int("callers", 64, "number of concurrent callers")
	span := flag.Duration("span", 2*time.Second, "how long to measure")
	flag.Parse()
	rate, err := tasks(context.Background(), *addr, *callers, *span)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(map[string]float64{"asynq": rate})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// tasks returns the number of tasks that the callers complete per second. The
// worker notifies the caller within the process.
func tasks(ctx context.Context, addr string, callers int, span time.Duration) (float64, error) {
	o := asynq.RedisClientOpt{Addr: addr}
	client := asynq.NewClient(o)
	defer func() { _ = client.Close() }() // nothing is stored
	server := asynq.NewServer(o, asynq.Config{
		Concurrency: callers, TaskCheckInterval: 5 * time.Millisecond, LogLevel: asynq.FatalLevel, ShutdownTimeout: time.Second,
	})
	var waiting sync.Map
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		if ch, ok := waiting.LoadAndDelete(string(t.Payload())); ok {
			close(ch.(chan struct{}))
		}
		return nil
	}))
	if err != nil {
		return 0, err
	}
	defer server.Shutdown()
	run, stop := context.WithCancel(ctx)
	var done atomic.Int64
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			for k := 0; run.Err() == nil; k++ {
				name, told := fmt.Sprint(n, "/", k), make(chan struct{})
				waiting.Store(name, told)
				if _, err := client.EnqueueContext(run, asynq.NewTask("ask", []byte(name))); err != nil {
					continue
				}
				select {
				case <-told:
					done.Add(1)
				case <-run.Done():
				}
			}
		})
	}
	began := time.Now()
	time.Sleep(span)
	for done.Load() == 0 { // a slow machine
		time.Sleep(time.Millisecond)
	}
	rate := float64(done.Load()) / time.Since(began).Seconds()
	stop()
	wg.Wait()
	return rate, nil
}
