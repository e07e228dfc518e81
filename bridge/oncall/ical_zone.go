package oncall

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// lastYear is the last year for which the changes of a zone are computed, and
// maxChanges the maximum number of changes.
const (
	lastYear   = 2100
	maxChanges = 2000
)

// change is a change of the UTC offset of a zone.
type change struct {
	at       int64 // Unix time
	from, to int   // offsets in seconds
}

// newZone returns the zone of a VTIMEZONE. It returns nil if the zone cannot be
// read.
func newZone(z *block) *time.Location {
	var all []change
	for _, name := range []string{"STANDARD", "DAYLIGHT"} {
		for _, o := range z.all(name) {
			some, ok := changesOf(o)
			if all = append(all, some...); !ok || len(all) > maxChanges {
				return nil
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b change) int { return int(min(max(a.at-b.at, -1), 1)) })
	zone, err := time.LoadLocationFromTZData(z.text("TZID"), tzif(all))
	if err != nil {
		return nil
	}
	return zone
}

// changesOf returns the changes of a STANDARD or DAYLIGHT component.
func changesOf(o *block) ([]change, bool) {
	from, ok1 := offset(o.text("TZOFFSETFROM"))
	to, ok2 := offset(o.text("TZOFFSETTO"))
	start, err := time.Parse("20060102T150405", strings.TrimSuffix(o.text("DTSTART"), "Z"))
	if !ok1 || !ok2 || err != nil {
		return nil, false
	}
	walls := []time.Time{start}
	for _, p := range o.props["RDATE"] {
		for value := range strings.SplitSeq(p.value, ",") {
			at, err := time.Parse("20060102T150405", value)
			if err != nil {
				return nil, false
			}
			walls = append(walls, at)
		}
	}
	for _, p := range o.props["RRULE"] {
		if start.Year() < firstYear && !strings.Contains(strings.ToUpper(p.value), "COUNT=") { // Outlook starts in 1601
			start = start.AddDate(firstYear-start.Year(), 0, 0)
			walls = nil
		}
		r, err := newRule(p.value, start, time.FixedZone("", from), false)
		if err != nil || r.OrigOptions.Freq != rrule.YEARLY {
			return nil, false
		}
		next := r.Iterator()
		for at, ok := next(); ok && at.Year() < lastYear; at, ok = next() {
			if walls = append(walls, at); len(walls) > maxChanges {
				return nil, false
			}
		}
	}
	var out []change
	for _, wall := range walls {
		out = append(out, change{wall.Unix() - int64(from), from, to})
	}
	return out, true
}

// offset returns an offset such as +0100 in seconds.
func offset(s string) (int, bool) {
	if len(s) != 5 && len(s) != 7 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	n, err := strconv.Atoi(s[1:] + strings.Repeat("0", 7-len(s)))
	n = n/10000*3600 + n/100%100*60 + n%100
	if s[0] == '-' {
		n = -n
	}
	return n, err == nil && n > -86400 && n < 86400
}

// tzif returns changes of a clock in the format of zone files (RFC 8536).
func tzif(all []change) []byte {
	types := []int{all[0].from} // the first offset is in effect before all changes
	var at, index []byte
	for _, c := range all {
		n := slices.Index(types[1:], c.to) + 1
		if n == 0 {
			n = len(types)
			types = append(types, c.to)
		}
		at = binary.BigEndian.AppendUint64(at, uint64(c.at))
		index = append(index, byte(n))
	}
	header := func(times, kinds, chars int) []byte {
		out := append([]byte("TZif2"), make([]byte, 15+3*4)...)
		for _, n := range []int{times, kinds, chars} {
			out = binary.BigEndian.AppendUint32(out, uint32(n))
		}
		return out
	}
	var b bytes.Buffer
	b.Write(header(0, 0, 0))
	b.Write(header(len(all), len(types), 1))
	b.Write(at)
	b.Write(index)
	for _, t := range types {
		b.Write(append(binary.BigEndian.AppendUint32(nil, uint32(int32(t))), 0, 0))
	}
	b.WriteString("\x00\n\n")
	return b.Bytes()
}
