package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/timespan"
	"github.com/nodbridge/nod/platforms"
)

// limit holds the valid values of a setting. Every duration and every count has
// one.
type limit struct {
	from, to    time.Duration // range of a duration, inclusive
	least, most int           // range of a count, inclusive
	zero        bool          // zero is also valid and has a special meaning
	words       []string      // valid texts; if nil, every text is valid
	form        platforms.ID  // form of an ID on a platform
	of          string        // section that must have an entry with this name
	zone        bool          // name of a time zone
	empty       bool          // a list may be empty, which has a special meaning
	spaces      bool          // a secret may have spaces inside
}

const (
	year     = 365 * timespan.Day
	eternity = 100 * year
	// maxQuorum is the maximum number of people that an approval can require.
	maxQuorum = 10
	// maxCount is the maximum of a number that only memory limits.
	maxCount = 1_000_000
)

// limits holds the limits of settings, by their path in docs/configuration.md.
var limits = map[string]limit{
	"log_level":                        {words: []string{"debug", "info", "warn", "error"}},
	"max_connections":                  {least: 1, most: maxCount},
	"redis.wait_replicas":              {least: 0, most: 100},
	"redis.password":                   {spaces: true},
	"redis.sentinel_password":          {spaces: true},
	"retention":                        {from: time.Hour, to: eternity},
	"audit.retention":                  {from: timespan.Day, to: eternity, zero: true},
	"console.oidc.client_secret":       {spaces: true},
	"oncall.NAME.rotation.people[]":    {of: "people"},
	"oncall.NAME.rotation.zone":        {zone: true},
	"groups.NAME.people[]":             {of: "people"},
	"groups.NAME.oncall":               {of: "oncall"},
	"webhooks.NAME.agents[]":           {of: "agents"},
	"routes.NAME.quiet.zone":           {zone: true},
	"routes.NAME.escalation[].route":   {of: "routes"},
	"agents.NAME.routes[]":             {of: "routes"},
	"agents.NAME.owners[]":             {of: "people"},
	"policy[].route":                   {of: "routes"},
	"oncall.NAME.rotation.every":       {from: time.Minute, to: year},
	"routes.NAME.quorum":               {least: 0, most: maxQuorum},
	"routes.NAME.step_up":              {words: []string{"passkey"}},
	"routes.NAME.deny":                 {words: []string{"ends", "counts"}},
	"routes.NAME.mention":              {words: []string{MentionResponders, "group", "none"}},
	"routes.NAME.preview":              {words: []string{PreviewFull, "none"}},
	"routes.NAME.payload":              {words: []string{"card", PayloadPrivate}},
	"routes.NAME.snooze":               {from: time.Second, to: 7 * timespan.Day},
	"routes.NAME.escalation[].after":   {from: time.Second, to: 30 * timespan.Day},
	"routes.NAME.escalation[].times":   {least: 0, most: maxTimes},
	"routes.NAME.escalation[].give_up": {words: []string{"expire", "deny"}},
	"agents.NAME.kinds[]":              {words: []string{"ask", "approval", "notice"}},
	"agents.NAME.scopes[]":             {words: []string{"once", "session", "always"}},
	"agents.NAME.per_minute":           {least: 1, most: maxCount},
	"agents.NAME.max_pending":          {least: 1, most: maxCount},
	"risks[].quorum":                   {least: 0, most: maxQuorum},
	"risks[].step_up":                  {words: []string{"passkey"}},
	"policy[].options":                 {empty: true},
	"policy[].then":                    {words: []string{"allow", "ask", "deny"}},
	"policy[].scopes[]":                {words: []string{"once", "session", "always"}},
	"policy[].timeout":                 {from: time.Second, to: 30 * timespan.Day},
	"policy[].on_timeout":              {words: []string{"expire", "deny", "escalate"}},
	"policy[].quorum":                  {least: 0, most: maxQuorum},
	"policy[].step_up":                 {words: []string{"passkey"}},
	"policy[].grant_for":               {from: time.Minute, to: 30 * timespan.Day},
	"policy[].grant":                   {words: []string{"input", "rule"}},
}

// duration returns the problem with a duration, or "".
func (l limit) duration(d time.Duration, text string) string {
	if d == 0 && l.zero || d >= l.from && d <= l.to {
		return ""
	}
	return fmt.Sprintf("%s is out of range (%s to %s)", text, span(l.from), span(l.to))
}

// count returns the problem with a count, or "".
func (l limit) count(n int) string {
	if n == 0 && l.zero || n >= l.least && n <= l.most {
		return ""
	}
	return fmt.Sprintf("%d is out of range (%d to %d)", n, l.least, l.most)
}

// word returns the problem with a text, or "".
func (l limit) word(s string) string {
	if l.words == nil || slices.Contains(l.words, s) {
		return ""
	}
	return fmt.Sprintf("unknown value %q (%s)%s", s, OrOf(l.words), meant(s, l.words))
}

// span writes a duration with its largest unit.
func span(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{timespan.Day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.unit && d%u.unit == 0 {
			return fmt.Sprint(int64(d/u.unit), u.name)
		}
	}
	return d.String()
}

// meant returns a suggestion for a mistyped name, or "".
func meant(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// nearest returns the known name that is most similar to name, or "" if none is
// similar.
func nearest(name string, known []string) string {
	best, least := "", min(3, len(name)/2+1)
	for _, k := range slices.Sorted(slices.Values(known)) {
		if n := distance(strings.ToLower(name), strings.ToLower(k)); n < least {
			best, least = k, n
		}
	}
	return best
}

// distance returns the number of letters to change, add, remove, or swap with
// their neighbor to turn a into b. It returns a large number for long texts.
func distance(a, b string) int {
	const longest = 100
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now := make([]int, len(b)+1)
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last = last, now
	}
	return last[len(b)]
}
