// Package timespan reads durations as people write them: 90s, 1h30m, 30d or 2w.
// The config, the API, MCP and the command line all read them with it. Points in
// time do not belong here.
package timespan

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Day and Week are the lengths of the units that Go does not have. Clock changes
// do not affect them.
const (
	Day  = 24 * time.Hour
	Week = 7 * Day
)

// Examples are for error messages and the help.
const Examples = "90s, 5m, 1h30m, 30d or 2w"

var errInvalid = errors.New("invalid duration")

// long matches the leading weeks and days of a duration.
var long = lazyregexp.New(`^([+-]?)(?:(\d+(?:\.\d+)?)w)?(?:(\d+(?:\.\d+)?)d)?(.*)$`)

// Parse reads a duration. In addition to the units of time.ParseDuration, it
// accepts weeks (w) and days (d) in front of the others, as in 2w, 30d or 1d12h.
func Parse(s string) (time.Duration, error) {
	if !strings.ContainsAny(s, "wd") {
		return short(s)
	}
	m := long.FindStringSubmatch(s)
	if m == nil || m[2] == "" && m[3] == "" {
		return short(s)
	}
	var sum time.Duration
	if m[4] != "" {
		rest, err := short(m[4])
		if err != nil || m[4][0] == '-' || m[4][0] == '+' {
			return 0, errInvalid
		}
		sum = rest
	}
	for n, unit := range []time.Duration{Week, Day} {
		if m[2+n] == "" {
			continue
		}
		count, err := strconv.ParseFloat(m[2+n], 64)
		if err != nil || count*float64(unit) > float64(1<<62) {
			return 0, errInvalid
		}
		if sum += time.Duration(count * float64(unit)); sum < 0 {
			return 0, errInvalid // the sum overflows
		}
	}
	if m[1] == "-" {
		sum = -sum
	}
	return sum, nil
}

func short(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errInvalid
	}
	return d, nil
}

// Format writes a duration so that Parse reads it, without its trailing zero parts:
// 5m instead of 5m0s.
func Format(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}
