package measure

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

// Machine returns one line about the measured machine: the processors, the
// system, Go, Redis and how often it flushes, and whether the load of other
// processes is unknown.
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
	total float64 // time of the machine, including idle time
	busy  float64 // busy time of the machine
	own   float64 // time of this process and its descendants
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
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir)) // the pattern has only numbers
		f := statOf(pid)
		if f == nil {
			continue // the process has ended
		}
		parents[pid] = int(f[0])
		ticks[pid] = f[10] + f[11] + f[12] + f[13]
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

// statOf returns the fields of /proc/PID/stat, starting with the parent. [10]
// and [11] are the ticks of the process, [12] and [13] are the ticks of its
// ended children. It returns nil if the file does not exist.
func statOf(pid int) []float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	at := strings.LastIndexByte(string(raw), ')') // a name may contain spaces
	words := strings.Fields(string(raw)[at+1:])
	if len(words) < 15 {
		return nil
	}
	var fields []float64
	for _, w := range words[1:15] {
		v, _ := strconv.ParseFloat(w, 64) // the kernel writes numbers
		fields = append(fields, v)
	}
	return fields
}

// others returns the share of the machine that other processes used between two
// loads.
func others(from, to load) float64 {
	if to.total <= from.total {
		return 0
	}
	return max(0, (to.busy-from.busy)-(to.own-from.own)) / (to.total - from.total)
}
