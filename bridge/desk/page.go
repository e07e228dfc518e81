package desk

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Limits of a page of a list. Every platform shows that much without cutting it.
const (
	maxLines = 15
	maxPage  = 3000 // as counted by lineCost
)

// escapedCost returns the length of a text in characters after a platform escapes
// it.
func escapedCost(s string) int { return utf8.RuneCountInString(html.EscapeString(s)) }

// lineCost returns the length of a line.
func lineCost(line string) int { return escapedCost(line) + 1 }

// listed writes a list under a title. A platform that has its own pages gets
// the complete list. Any other gets the page in the command, with the command
// for the next page.
func listed(title string, lines []string, c bridge.Command) string {
	if c.Whole {
		return title + "\n" + strings.Join(lines, "\n")
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	all := pages(lines)
	n, err := strconv.Atoi(strings.TrimSpace(rest))
	if err != nil {
		n = 1
	}
	n = min(max(n, 1), len(all))
	text := title + "\n" + strings.Join(all[n-1], "\n")
	if len(all) == 1 {
		return text
	}
	text += "\nPage " + strconv.Itoa(n) + " of " + strconv.Itoa(len(all)) + "."
	if n < len(all) {
		text += " Next: /" + bridge.CommandName + " " + strings.ToLower(word) + " " + strconv.Itoa(n+1)
	}
	return text
}

// listedAfter writes a list that changes while people read it. Its keys are
// sorted, and the next page starts after the last visible line. No line is
// skipped when others disappear.
func listedAfter(title string, keys, lines []string, c bridge.Command) string {
	word, rest, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	start := 0
	if after, ok := strings.CutPrefix(strings.TrimSpace(rest), "after "); ok {
		for start < len(keys) && keys[start] <= strings.TrimSpace(after) {
			start++
		}
	}
	if c.Whole {
		return title + "\n" + strings.Join(lines, "\n")
	}
	shown := pages(lines[start:])[0]
	end := start + len(shown)
	text := title + "\n" + strings.Join(shown, "\n")
	if start == 0 && end == len(lines) {
		return text
	}
	text += "\n" + strconv.Itoa(min(start+1, end)) + " to " + strconv.Itoa(end) + " of " + strconv.Itoa(len(lines)) + "."
	if end < len(lines) {
		text += " Next: /" + bridge.CommandName + " " + strings.ToLower(word) + " after " + keys[end-1]
	}
	return text
}

// listKey returns the key of a pending request in a list by deadline.
func listKey(r bridge.Record) string {
	id := string(r.Interaction.ID)
	return strconv.FormatInt(r.Interaction.Deadline.UnixMilli(), 36) + id[max(0, len(id)-6):]
}

// pages splits the lines of a list into at least one page. A line that is
// longer than a page continues on the next one, because the text of a grant
// must not be cut.
func pages(lines []string) [][]string {
	all, size := [][]string{nil}, 0
	for _, line := range lines {
		for _, part := range render.Split(line, maxPage-1, escapedCost) {
			last := len(all) - 1
			if n := len(all[last]); n == maxLines || n > 0 && size+lineCost(part) > maxPage {
				all, size = append(all, nil), 0
				last++
			}
			all[last] = append(all[last], part)
			size += lineCost(part)
		}
	}
	return all
}
