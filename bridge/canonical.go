package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting is how deep canonical JSON may go.
const maxNesting = 512

// Canonical returns JSON in the canonical form of RFC 8785, so that the same
// value has the same bytes, whoever wrote it. What two readers could take for
// different values is CodeInvalid: a name that is listed twice, half a
// surrogate pair, a number that a double does not hold exactly.
func Canonical(raw []byte) ([]byte, error) {
	if err := checkEncoding(raw); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	w := canonicalWriter{dec: dec}
	if err := w.value("", 0); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, Errorf(CodeInvalid, "json: is followed by more data")
	}
	return w.out, nil
}

// checkEncoding refuses text that decoders repair in silence.
func checkEncoding(raw []byte) error {
	if !utf8.Valid(raw) {
		return Errorf(CodeInvalid, "json: is not valid UTF-8")
	}
	for n := 0; n+1 < len(raw); n++ {
		if raw[n] != '\\' {
			continue
		}
		n++ // the escaped character
		if raw[n] != 'u' {
			continue
		}
		u := escaped(raw[n:])
		if !utf16.IsSurrogate(u) {
			continue
		}
		n += 5 // the second of the pair
		if n+1 >= len(raw) || raw[n] != '\\' || raw[n+1] != 'u' || utf16.DecodeRune(u, escaped(raw[n+1:])) == utf8.RuneError {
			return Errorf(CodeInvalid, "json: holds half a surrogate pair")
		}
		n++
	}
	return nil
}

// escaped is the character of an escape, which begins with its u; -1 for none.
func escaped(b []byte) rune {
	if len(b) < 5 {
		return -1
	}
	v, err := strconv.ParseUint(string(b[1:5]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(v)
}

type canonicalWriter struct {
	dec *json.Decoder
	out []byte
}

func (w *canonicalWriter) value(path string, depth int) error {
	if depth > maxNesting {
		return Errorf(CodeInvalid, "json: is nested more than %d levels deep", maxNesting)
	}
	t, err := w.dec.Token()
	if err != nil {
		return Wrap(CodeInvalid, err, "json: is not valid")
	}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return w.object(path, depth)
		}
		return w.array(path, depth)
	case json.Number:
		s, err := canonicalNumber(string(v))
		if err != nil {
			return Errorf(CodeInvalid, "%sthe number %s cannot be kept exactly", at(path), clipped(string(v))).WithHint("send it as a string")
		}
		w.out = append(w.out, s...)
	case string:
		w.out = appendString(w.out, v)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	default:
		w.out = append(w.out, "null"...)
	}
	return nil
}

func at(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func clipped(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (w *canonicalWriter) array(path string, depth int) error {
	w.out = append(w.out, '[')
	for n := 0; w.dec.More(); n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(join(path, strconv.Itoa(n)), depth+1); err != nil {
			return err
		}
	}
	return w.end(']')
}

// end takes the token that ends an object or an array.
func (w *canonicalWriter) end(b byte) error {
	if _, err := w.dec.Token(); err != nil {
		return Wrap(CodeInvalid, err, "json: is not valid")
	}
	w.out = append(w.out, b)
	return nil
}

type entry struct {
	name  string
	units []uint16 // what members are sorted by
	value []byte
}

func (w *canonicalWriter) object(path string, depth int) error {
	var members []entry
	seen := map[string]bool{}
	outer := w.out
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return Wrap(CodeInvalid, err, "json: is not valid")
		}
		name, _ := t.(string) // the decoder gives nothing else here
		if seen[name] {
			return Errorf(CodeInvalid, "%sduplicate member %q", at(path), clipped(name))
		}
		seen[name] = true
		w.out = nil
		if err := w.value(join(path, name), depth+1); err != nil {
			return err
		}
		members = append(members, entry{name, utf16.Encode([]rune(name)), w.out})
	}
	slices.SortFunc(members, func(a, b entry) int { return slices.Compare(a.units, b.units) })
	w.out = append(outer, '{')
	for n, m := range members {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(appendString(w.out, m.name), ':')
		w.out = append(w.out, m.value...)
	}
	return w.end('}')
}

// appendString writes a string with the escapes of RFC 8785, section 3.2.2.2.
func appendString(out []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	out = append(out, '"')
	for n := range len(s) {
		c := s[n]
		short := strings.IndexByte("\b\t\n\f\r\"\\", c)
		switch {
		case short >= 0:
			out = append(out, '\\', `btnfr"\`[short])
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// canonicalNumber writes a number as ECMAScript does; an error if that is
// another number than the one that was written.
func canonicalNumber(s string) (string, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return "", err
	}
	out := ecmaNumber(f)
	if !sameDecimal(s, out) {
		return "", strconv.ErrRange
	}
	return out, nil
}

// ecmaNumber is Number::toString of ECMA-262.
func ecmaNumber(f float64) string {
	if f == 0 {
		return "0" // also of -0
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	sign, digits := exponent[:1], strings.TrimLeft(exponent[1:], "0")
	return mantissa + "e" + sign + digits
}

// sameDecimal reports whether two decimal numbers are equal, exactly.
func sameDecimal(a, b string) bool {
	an, ad, ae := decimal(a)
	bn, bd, be := decimal(b)
	return ad == bd && (ad == "" || an == bn && ae == be)
}

// decimal takes a number apart: whether it is negative, its digits without
// zeros around them, and the power of ten of the last one.
func decimal(s string) (negative bool, digits string, exponent int) {
	s, negative = strings.TrimPrefix(s, "-"), strings.HasPrefix(s, "-")
	if n := strings.IndexAny(s, "eE"); n >= 0 {
		exponent, _ = strconv.Atoi(s[n+1:]) // ParseFloat took it; a huge one belongs to a zero or is not equal
		s = s[:n]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	cut := strings.TrimRight(digits, "0")
	return negative, cut, exponent + len(digits) - len(cut)
}

// digestOf is the hex SHA-256 over the canonical form of a value.
func digestOf(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", Wrap(CodeInternal, err, "digest")
	}
	canonical, err := Canonical(b.Bytes())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// payload is what a decision is bound to.
type payload struct {
	Kind      Kind       `json:"kind"`
	Prompt    string     `json:"prompt"`
	Questions []Question `json:"questions,omitempty"`
	Approval  *action    `json:"approval,omitempty"`
}

// action is what would be done: of an approval, all but how it is asked for.
type action struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
	Key   string          `json:"key,omitempty"`
	Where string          `json:"where,omitempty"`
}

// Digest is what a decision about the request is bound to: the hex SHA-256
// over the canonical form (RFC 8785) of its kind, prompt and questions, and of
// the tool, input, key and where of an approval. The daemon makes the same of what it
// was sent; an agent compares both before it acts.
func (r Request) Digest() (string, error) {
	if err := r.Normalize(); err != nil {
		return "", err
	}
	return r.NormalizedDigest()
}

// NormalizedDigest is Digest of a request that is normalized.
func (r Request) NormalizedDigest() (string, error) {
	p := payload{Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions}
	if a := r.Approval; a != nil {
		p.Approval = &action{a.Tool, a.Input, a.Key, a.Where}
	}
	return digestOf(p)
}

// WithInput is the request for an approval with another input: what a person
// approved who changed it.
func (r Request) WithInput(input json.RawMessage) Request {
	a := *r.Approval
	a.Input = input
	r.Approval = &a
	return r
}

// sentVersion begins the digest of what an agent sent, as it is stored with an
// idempotency key. Older ones were made of the record and have no version.
const sentVersion = "sent-1:"

// Sent is a digest over exactly what the agent sent, to tell a repeat under the
// same idempotency key from another request. Nothing that a config, a trace or
// the time makes of a request is in it. Previous is the interaction that it
// asks again.
func (r Request) Sent(previous ID) (string, error) {
	raw, err := json.Marshal(struct {
		Previous ID
		Request  Request
	}{previous, r})
	if err != nil {
		return "", Errorf(CodeInvalid, "the request cannot be encoded as JSON")
	}
	sum := sha256.Sum256(raw)
	return sentVersion + hex.EncodeToString(sum[:]), nil
}
