package render

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// exact returns a text of an input in which invisible characters are code
// points, and long gaps show their length.
func exact(s string) string { return gaps(inky(s), "") }

// exactName is exact for a name within a sentence, where a line break is shown as
// a code point too.
func exactName(s string) string { return exact(strings.ReplaceAll(s, "\n", codePoint('\n'))) }

// exactDiff is exact for a diff, whose lines start with a mark.
func exactDiff(s string) string { return gaps(inky(s), "+- ") }

// inky returns a text in which every character without ink is a code point,
// except spaces, tabs and line breaks.
func inky(s string) string { return Clean(strings.ReplaceAll(s, "\r", codePoint('\r'))) }

func codePoint(r rune) string { return fmt.Sprintf("⟨U+%04X⟩", r) }

// windows is the line ending of files from Windows.
const windows = "\r\n"

// unixLines replaces CR LF with LF, and reports whether every line of every
// text ended with CR LF. Otherwise it returns the texts unchanged.
func unixLines(texts ...string) ([]string, bool) {
	found := false
	for _, s := range texts {
		n := strings.Count(s, windows)
		if strings.Count(s, "\r") != n || strings.Count(s, "\n") != n {
			return texts, false
		}
		found = found || n > 0
	}
	if !found {
		return texts, false
	}
	out := slices.Clone(texts)
	for n := range out {
		out[n] = strings.ReplaceAll(out[n], windows, "\n")
	}
	return out, true
}

// shellBlock returns a command as code. A shell passes CR on to the program, so
// CR is shown even at the end of each line.
func shellBlock(cmd string) []Block { return []Block{{Kind: Code, Text: exact(cmd), Lang: "sh"}} }

// codeBlock returns the text of a file as code.
func codeBlock(s, lang string) []Block {
	texts, crlf := unixLines(s)
	block := Block{Kind: Code, Text: exact(texts[0]), Lang: lang}
	if lang == "diff" {
		block.Text = exactDiff(texts[0])
	}
	if crlf {
		return []Block{sentence("Every line ends with CR and LF:"), block}
	}
	return []Block{block}
}

// revealed returns a diff in which a removed line never looks the same as an
// added line next to it: the characters that differ are shown as code points.
func revealed(diff string) string {
	lines := strings.Split(diff, "\n")
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && isChange(lines[to]) {
			to++
		}
		for n := from; n < to; n++ {
			revealPairs(lines[from:to], n-from)
		}
		from = max(to, from+1)
	}
	return strings.Join(lines, "\n")
}

func isChange(line string) bool { return strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") }

// revealPairs compares line n of a change, if it is removed, with the added
// lines.
func revealPairs(lines []string, n int) {
	was := lines[n]
	if was[0] != '-' {
		return
	}
	for k, now := range lines {
		if now[0] == '+' && now[1:] != was[1:] && look(now[1:]) == look(was[1:]) {
			lines[n], lines[k] = "-"+reveal(was[1:]), "+"+reveal(now[1:])
		}
	}
}

// alike maps characters to the common characters that they resemble.
var alike = strings.NewReplacer(pairs(
	"аАвВсСеЕеНіІјЈкКмМоОрРѕЅтТхХуУԁԛһαΑΒεΕΖΗιΙκΚΜνΝοΟρΡΤυΥχΧ’‘ʼ′“”–—‐‑−",
	"aABBcCeEeHiIjJkKmMoOpPsSTTxXyYdqhaABeEZHiIkKMvNoOpPTuYxX''''\"\"-----")...)

// pairs returns the arguments of a replacer.
func pairs(from, to string) []string {
	var out []string
	plain := []rune(to)
	for n, r := range []rune(from) {
		out = append(out, string(r), string(plain[n]))
	}
	return out
}

// maxAlike is the number of words with look-alike letters that a card names.
const maxAlike = 3

// lookalikes names the words of a text whose letters resemble other letters:
// words that mix alphabets, and words that consist only of such letters. It
// returns an empty string if the text has none.
func lookalikes(s string) string {
	var found []string
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if said := lookalike(word); said != "" && !slices.Contains(found, said) {
			found = append(found, said)
		}
	}
	if more := len(found) - maxAlike; more > 0 {
		found = append(found[:maxAlike], Count(more)+" more words")
	}
	return strings.Join(found, "; ")
}

// identical lists letters of other alphabets that look like a Latin letter in
// every font.
const identical = "АВСЕНІЈКМОРЅТХаеорсухѕіјһԁԛΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"

// lookalike describes the first letter of a word that resembles a Latin letter,
// if the word also has Latin letters or consists only of such letters.
func lookalike(word string) string {
	odd, latin, own := rune(0), false, false
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			latin = true
		case !strings.ContainsRune(identical, r):
			own = true
			fallthrough
		default:
			if odd == 0 && len(alike.Replace(string(r))) == 1 {
				odd = r
			}
		}
	}
	if odd == 0 || own && !latin {
		return ""
	}
	return "“" + word + "” has " + alphabet(odd) + " “" + string(odd) + "” (" + fmt.Sprintf("U+%04X", odd) + ")"
}

// alphabet names the script of a letter.
func alphabet(r rune) string {
	for _, script := range []string{"Cyrillic", "Greek"} {
		if unicode.Is(unicode.Scripts[script], r) {
			return "the " + script
		}
	}
	return "a"
}

// look returns the same text for lines that people cannot tell apart.
func look(s string) string {
	s = alike.Replace(norm.NFKC.String(strings.ReplaceAll(s, "\r", "")))
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	if strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && unicode.IsSpace(r) }) || strings.Contains(s, "  ") {
		s = strings.Join(strings.Fields(" "+s), " ")
	}
	return s
}

// reveal shows every character of a line that is not printable ASCII, and every
// space that is easy to miss, as a code point.
func reveal(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for n, r := range runes {
		edge := n == 0 || n == len(runes)-1 || runes[n-1] == ' '
		if r > ' ' && r < 0x7f || r == ' ' && !edge {
			b.WriteRune(r)
			continue
		}
		b.WriteString(codePoint(r))
	}
	return b.String()
}
