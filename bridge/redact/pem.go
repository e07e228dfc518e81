package redact

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

const (
	maxKey      = 64 << 10 // in bytes, including the markers
	minKeyLine  = 16       // in base64 characters, if the lines are not a valid key
	minOpenLine = 40       // the same if the end marker is missing too
)

var (
	keyBegin = lazyregexp.New(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyEnd   = lazyregexp.New(`-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	// keyBreak matches a line break in a key: a real one, or an escaped one, as
	// in JSON.
	keyBreak  = lazyregexp.New(`(?:\\+[rn]|[\r\n])+[ \t]*`)
	keyHeader = lazyregexp.New(`^(?:Proc-Type: 4,ENCRYPTED|DEK-Info: [A-Z0-9-]+,[A-F0-9]+|Version: [^\n\\'";|&<>()$` + "`" + `]*|Comment: "[^\n\\"]*")$`)
	keyWord   = lazyregexp.New(`^[A-Za-z0-9+/]+={0,2}$`)
)

// privateKeys finds the bodies of private keys. A marker alone redacts nothing:
// only lines that consist of one base64 word are redacted.
func privateKeys(s string) []span {
	var out []span
	begins, ends := keyBegin.FindAllStringIndex(s, -1), keyEnd.FindAllStringIndex(s, -1)
	for n, m := range begins {
		limit := min(len(s), m[1]+maxKey)
		if n+1 < len(begins) {
			limit = min(limit, begins[n+1][0])
		}
		for len(ends) > 0 && ends[0][0] < m[1] {
			ends = ends[1:]
		}
		least := minOpenLine
		if len(ends) > 0 && ends[0][0] < limit {
			limit, least = ends[0][0], minKeyLine
			if wholeKey(s[m[1]:limit]) {
				out = append(out, span{m[0], ends[0][1], "private key"})
				continue
			}
		}
		out = append(out, keyLines(s[m[1]:limit], m[1], least)...)
	}
	return out
}

// body splits the text between the markers into lines.
func body(s string) []string { return keyBreak.Split(strings.TrimSpace(s), -1) }

// wholeKey reports whether a body is a private key: base64 of a key in DER, in
// the format of OpenSSH, or in packets of OpenPGP.
func wholeKey(s string) bool {
	text, encrypted, ok := keyText(s)
	if !ok {
		return false
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		raw, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil || len(raw) < 32 {
		return false
	}
	return encrypted || isDER(raw) || bytes.HasPrefix(raw, []byte("openssh-key-v1\x00")) || raw[0]&0x80 != 0 && len(raw) > 128
}

// keyText returns the base64 text of a body without its headers, and reports
// whether the headers mark the key as encrypted. It returns false for any other
// text.
func keyText(s string) (text string, encrypted, ok bool) {
	var b strings.Builder
	for _, line := range body(s) {
		switch line = strings.TrimRight(line, " \t"); {
		case line == "":
		case keyHeader.MatchString(line):
			encrypted = encrypted || strings.HasPrefix(line, "DEK-Info")
		case keyWord.MatchString(line):
			b.WriteString(line)
		case len(line) == 5 && line[0] == '=' && keyWord.MatchString(line[1:]): // a checksum of OpenPGP
		default:
			return "", false, false
		}
	}
	return b.String(), encrypted, true
}

// isDER reports whether raw is a single SEQUENCE whose length matches.
func isDER(raw []byte) bool {
	if raw[0] != 0x30 {
		return false
	}
	n := int(raw[1])
	if n < 0x80 {
		return n == len(raw)-2
	}
	size, bytes := 0, n&0x7f
	if bytes == 0 || bytes > 3 {
		return false
	}
	for _, b := range raw[2 : 2+bytes] {
		size = size<<8 | int(b)
	}
	return size == len(raw)-2-bytes
}

// keyLines finds the first lines that consist of one long base64 word each. It
// excludes a line that may be a path or a command.
func keyLines(s string, at, least int) []span {
	var out []span
	pos := 0
	for _, br := range append(keyBreak.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		line := strings.TrimRight(s[pos:br[0]], " \t")
		switch {
		case line == "", keyHeader.MatchString(line), len(line) >= minOpenLine && line[0] == '/' && keyWord.MatchString(line):
		case len(line) >= least && keyWord.MatchString(line) && line[0] != '/' && random(line):
			out = append(out, span{at + pos, at + pos + len(line), "private key"})
		case len(out) > 0 && len(line) < least && keyWord.MatchString(line) && strings.HasSuffix(line, "="):
			return append(out, span{at + pos, at + pos + len(line), "private key"})
		default:
			return out
		}
		pos = br[1]
	}
	return out
}
