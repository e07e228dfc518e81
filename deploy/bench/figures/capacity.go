package figures

import (
	"fmt"
	"strings"

	"github.com/nodbridge/nod/deploy/bench/measure"
)

// figures holds the rows from which the capacity tables are computed.
type figures struct {
	idle        measure.Result // MiB of a daemon
	http        measure.Result // KiB of a daemon for each caller over HTTP
	socket      measure.Result // cycles over a WebSocket
	request     measure.Result // KiB of Redis for each request, without its text
	overHTTP    measure.Result // cycles
	cycles      measure.Result // cycles of the core, without HTTP
	connections measure.Result
	redisCores  measure.Result // while many wait
	cores       measure.Result
	atOnce      measure.Result // s
}

// newFigures finds the rows. Each must have figures.
func newFigures(results []measure.Result) (figures, error) {
	var f figures
	for name, at := range map[string]*measure.Result{
		"memory of an idle daemon": &f.idle, "memory of the daemon per caller that waits over HTTP": &f.http,
		"memory of the daemon per caller on a WebSocket of its own": &f.socket,
		"Redis memory per request, without payload":                 &f.request,
		"cycles over HTTP, 64 callers":                              &f.overHTTP, "cycles, 64 callers": &f.cycles,
		"connections to Redis, many callers blocked": &f.connections, "cores used by Redis while they wait": &f.redisCores,
		"cores used by the daemon while they wait": &f.cores, "time to process many simultaneous timeouts": &f.atOnce,
	} {
		for _, r := range results {
			if r.Name == name {
				*at = r
				break
			}
		}
		if at.Name == "" {
			return f, fmt.Errorf("the run has no row %q", name)
		}
	}
	if f.overHTTP.Cost == nil || f.cycles.Cost == nil {
		return f, fmt.Errorf("the run has no processor times")
	}
	return f, nil
}

// perSecond returns the number of operations per second that one core can
// process.
func perSecond(micros float64) string { return round(1e6 / micros) }

// round formats a number with two significant digits and commas.
func round(v float64) string {
	unit := 1.0
	for v/unit >= 100 {
		unit *= 10
	}
	n := int(v/unit+0.5) * int(unit)
	if n < 10 {
		return fmt.Sprintf("%.2g", v)
	}
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// memory formats KiB.
func memory(kib float64) string {
	switch {
	case kib < 1024:
		return round(kib) + " KiB"
	case kib < 1024*1024:
		return round(kib/1024) + " MiB"
	default:
		return round(kib/1024/1024) + " GiB"
	}
}

// rows writes the lines of a table.
func rows(head string, lines ...[]string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, l := range lines {
		b.WriteString("| " + strings.Join(l, " | ") + " |\n")
	}
	return b.String()
}

// table returns the table of the measured figures.
func (f figures) table(pending int) string {
	many := round(float64(pending))
	return rows("| Resource | Figure | |\n|---|---|---|\n",
		[]string{"Memory of an idle daemon", memory(f.idle.Value * 1024), "measured"},
		[]string{"Memory per caller that waits over HTTP", memory(f.http.Value) + " in the daemon", "measured"},
		[]string{"Memory per caller on a WebSocket of its own", memory(f.socket.Value) + " in the daemon", "measured"},
		[]string{"Redis per pending request", fmt.Sprintf("%.2g KiB in addition to its text", f.request.Value), "measured"},
		[]string{"Processor time of a request over HTTP, from opening to response", fmt.Sprintf(
			"%.2f ms of the daemon and its clients, %.2f ms of Redis", f.overHTTP.Cost.Process/1000, f.overHTTP.Cost.Redis/1000), "measured"},
		[]string{"The same by the core, without HTTP", fmt.Sprintf(
			"%.2f ms of the process, %.2f ms of Redis", f.cycles.Cost.Process/1000, f.cycles.Cost.Redis/1000), "measured"},
		[]string{"Requests per second and core of a daemon", perSecond(f.overHTTP.Cost.Process), "computed"},
		[]string{"Requests per second of one Redis", perSecond(f.overHTTP.Cost.Redis) + "; it does not depend on the number of pending requests", "computed"},
		[]string{"Requests per second over HTTP where all share two cores", round(f.overHTTP.Value), "measured"},
		[]string{"Connections to Redis of a daemon with " + many + " callers", round(f.connections.Value), "measured"},
		[]string{"Cores while " + many + " callers wait", fmt.Sprintf("%.2g for Redis, %.2g for the daemon", f.redisCores.Value, f.cores.Value), "measured"},
		[]string{"Simultaneous timeouts", fmt.Sprintf("%s in %.2g seconds", many, f.atOnce.Value), "measured"},
	)
}

const (
	workday = 8 * 3600 // s
	peak    = 10       // multiple of the mean of a workday
	halfUse = 0.5      // share of a core, so that a peak does not queue
)

// load returns the table of requests per day.
func (f figures) load() string {
	var lines [][]string
	for _, perDay := range []float64{10_000, 1_000_000, 10_000_000} {
		mean := perDay / workday
		cores := func(micros float64) string {
			c := peak * mean * micros / 1e6 / halfUse
			if c < 0.1 {
				return "less than 0.1"
			}
			return fmt.Sprintf("%.1f", c)
		}
		lines = append(lines, []string{
			round(perDay), round(mean), round(peak * mean), cores(f.overHTTP.Cost.Process), cores(f.overHTTP.Cost.Redis),
		})
	}
	return rows("| Requests per day, in 8 hours | Per second | Peak per second | Cores of daemons | Cores of Redis |\n|---|---|---|---|---|\n", lines...)
}

const (
	text     = 1     // KiB of a request
	mostOpen = 16384 // connections of a daemon, by default
)

// waiting returns the table of callers that wait.
func (f figures) waiting() string {
	var lines [][]string
	for _, n := range []float64{1000, 10_000, 100_000} {
		daemons := 1 + int(n-1)/mostOpen
		lines = append(lines, []string{
			round(n), memory(float64(daemons)*f.idle.Value*1024 + n*f.http.Value), memory(n * (f.request.Value + text)), fmt.Sprint(daemons),
		})
	}
	return rows("| Callers | Memory of the daemons | Redis | Daemons with the default `max_connections` |\n|---|---|---|---|\n", lines...)
}
