package rendertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares v, as JSON, with testdata/NAME.json; with -update it writes
// the file.
func Golden(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	compare(t, name+".json", b.String())
}

// compare compares a text with a golden file, or writes the file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if d := lines(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// lines returns the lines in which two texts differ.
func lines(want, got string) string {
	return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
}

// Complete reports whether all subtests run. Otherwise, the golden file must
// not be compared.
func Complete() bool {
	return !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
}

// cards is the name of the file of a Book.
const cards = "cards.txt"

// A Book compares the visible text of the cards of a platform with
// testdata/cards.txt, in which each card has its name and indented lines. With
// -update, it writes the file.
type Book struct {
	t     *testing.T
	read  Reader
	want  map[string]string // texts of cards by name
	known map[string]string // names of cards by text
	text  strings.Builder
}

// NewBook returns a book for cards that read can read.
func NewBook(t *testing.T, read Reader) *Book {
	t.Helper()
	b := &Book{t: t, read: read, want: map[string]string{}, known: map[string]string{}}
	t.Cleanup(func() {
		if !t.Failed() && Complete() { // otherwise, a card is missing, or the test has reported the difference
			compare(t, cards, b.text.String())
		}
	})
	file, err := os.ReadFile(filepath.Join("testdata", cards))
	if err != nil && !*update {
		t.Fatalf("%v; write it with -update", err)
	}
	name := ""
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, " ") && line != "\n" {
			name = strings.TrimSpace(line)
		}
		b.want[name] += line
	}
	return b
}

// Add adds a card. It returns the payload in the form that the platform gets.
func (b *Book) Add(name string, payload any, err error) []byte {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		b.t.Fatal(err)
	}
	if path := os.Getenv("NOD_PAYLOADS"); path != "" {
		b.keep(path, name, raw)
	}
	b.t.Run(name, func(t *testing.T) {
		seen, err := b.read.read(decoded)
		if err != nil {
			t.Fatal(err)
		}
		if !testing.Short() || len(b.known)%8 == 0 { // make ci does this with every card
			notices(t, b.read, decoded, seen)
		}
		got := b.write(name, seen)
		if d := lines(b.want[name], got); d != "" && !*update {
			t.Errorf("the card looks different (-want +got):\n%s", d)
		}
	})
	return raw
}

// keep appends a payload to a file for the validators of other projects.
func (b *Book) keep(path, name string, payload json.RawMessage) {
	b.t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		b.t.Fatal(err)
	}
	line, err := json.Marshal(map[string]any{"service": strings.TrimSuffix(filepath.Base(dir), "msg"), "shape": name, "content": payload})
	if err != nil {
		b.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		b.t.Fatal(err)
	}
}

// write adds a text to the file. If an earlier card has the same text, it adds
// the name of that card.
func (b *Book) write(name, text string) string {
	if other := b.known[text]; other != "" {
		text = "looks like " + other + "\n"
	} else {
		b.known[text] = name
	}
	card := name + "\n"
	for line := range strings.Lines(text) {
		card += strings.TrimRight("  "+line, " \n") + "\n"
	}
	b.text.WriteString(card)
	return card
}
