package render

import (
	"fmt"
	"strconv"
	"strings"
)

// Gaps above these limits push the text after them out of sight. The card shows
// their length instead.
const (
	maxBlanks = 60 // spaces or tabs in a row; code is rarely indented more
	maxEmpty  = 5  // empty lines in a row
)

// gaps replaces long gaps in a text with their length: ⟨3,000 spaces⟩ or ⟨80
// empty lines⟩. A line of a diff starts with one of marks, and is empty if
// nothing follows the mark.
func gaps(s, marks string) string {
	lines := strings.Split(s, "\n")
	var out []string
	for n := 0; n < len(lines); {
		mark, end := markOf(lines[n], marks), n
		for end < len(lines) && markOf(lines[end], marks) == mark && strings.Trim(lines[end][len(mark):], " \t") == "" {
			end++
		}
		if end-n > maxEmpty {
			out = append(out, mark+emptyLines(lines[n:end], mark))
			n = end
			continue
		}
		out = append(out, gap(lines[n]))
		n++
	}
	return strings.Join(out, "\n")
}

// markOf returns the mark of a line, or nothing.
func markOf(line, marks string) string {
	if line != "" && strings.Contains(marks, line[:1]) {
		return line[:1]
	}
	return ""
}

// emptyLines describes lines without ink.
func emptyLines(lines []string, mark string) string {
	blanks := 0
	for _, l := range lines {
		blanks += len(l) - len(mark)
	}
	if blanks == 0 {
		return "⟨" + Count(len(lines)) + " empty lines⟩"
	}
	return fmt.Sprintf("⟨%s empty lines with %s spaces or tabs⟩", Count(len(lines)), Count(blanks))
}

// gap replaces the long runs of blanks in a line with their length.
func gap(line string) string {
	var b strings.Builder
	for line != "" {
		word := strings.IndexAny(line, " \t")
		if word < 0 {
			word = len(line)
		}
		rest := strings.TrimLeft(line[word:], " \t")
		blanks := line[word : len(line)-len(rest)]
		b.WriteString(line[:word] + blanksAs(blanks))
		line = rest
	}
	return b.String()
}

// blanksAs returns a run of blanks, or its length if it is long.
func blanksAs(s string) string {
	tabs := strings.Count(s, "\t")
	switch {
	case len(s) <= maxBlanks:
		return s
	case tabs == 0:
		return "⟨" + Count(len(s)) + " spaces⟩"
	case tabs == len(s):
		return "⟨" + Count(tabs) + " tabs⟩"
	}
	return "⟨" + Count(len(s)-tabs) + " spaces mixed with " + Count(tabs) + " tabs⟩"
}

// Count returns a number with separators: 1,953.
func Count(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
