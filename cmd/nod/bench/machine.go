package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// mostOthers is the share of the machine that other processes may use before a
// row is marked.
const mostOthers = 0.1

// Machine returns one line on what a run measures: the processors, the system,
// Go, Redis and how often it flushes, and whether the load of other processes is
// unknown.
func Machine(ctx context.Context) (string, error) {
	addr, stop, err := ownRedis(ctx)
	if err != nil {
		return "", err
	}
	defer stop()
	client := newClient(addr)
	defer client.Close()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(info, "redis_version:")
	version, _, _ = strings.Cut(version, "\r\n")
	fsync, err := client.ConfigGet(ctx, "appendfsync").Result()
	line := fmt.Sprintf("%d processors, %s/%s, %s, Redis %s with appendfsync %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
		runtime.Version(), version, fsync["appendfsync"])
	if _, ok := loadNow(); !ok {
		line += ", load of other processes unknown"
	}
	return line, err
}

// load is the processor time that was used since the machine started, in ticks.
type load struct {
	total float64 // of the machine, with idle time
	busy  float64 // of the machine
	own   float64 // of this process and its descendants
}

// loadNow returns the load. It returns false on a system without /proc.
func loadNow() (load, bool) {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return load{}, false
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	var l load
	for n, f := range strings.Fields(first)[1:] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || n > 7 { // guest time is part of user time
			break
		}
		l.total += v
		if n != 3 && n != 4 { // idle, iowait
			l.busy += v
		}
	}
	l.own = treeTicks()
	return l, l.total > 0
}

// treeTicks returns the processor time of this process and its descendants,
// with those that have ended.
func treeTicks() float64 {
	parents, ticks := map[int]int{}, map[int]float64{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		at := strings.LastIndexByte(string(raw), ')') // a name may have spaces
		pid, err := strconv.Atoi(strings.Fields(string(raw))[0])
		f := strings.Fields(string(raw)[at+1:])
		if err != nil || len(f) < 15 {
			continue
		}
		parents[pid], _ = strconv.Atoi(f[1]) // the kernel writes numbers
		for _, n := range f[11:15] {         // utime, stime, cutime, cstime
			v, _ := strconv.ParseFloat(n, 64)
			ticks[pid] += v
		}
	}
	sum := 0.0
	for pid := range parents {
		for up := pid; up > 0; up = parents[up] {
			if up == os.Getpid() {
				sum += ticks[pid]
				break
			}
		}
	}
	return sum
}

// others returns the share of the machine that other processes used between two
// loads.
func others(from, to load) float64 {
	if to.total <= from.total {
		return 0
	}
	return max(0, (to.busy-from.busy)-(to.own-from.own)) / (to.total - from.total)
}
