package bridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// filler sets every text in a value to a word of its own.
type filler struct{ words map[string]string } // paths by words

func (f filler) word(path string) string {
	w := fmt.Sprintf("word%dend", len(f.words))
	f.words[w] = path
	return w
}

func (f filler) fill(path string, v reflect.Value) {
	switch v.Interface().(type) {
	case json.RawMessage:
		v.SetBytes([]byte(`"` + f.word(path) + `"`))
		return
	case bridge.Answer:
		v.Set(reflect.ValueOf(bridge.TextAnswer(f.word(path))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() { // other types have constants as their values
			v.SetString(f.word(path))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(path, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(path+"[]", v.Index(0))
	case reflect.Map:
		one := reflect.New(v.Type().Elem()).Elem()
		f.fill(path+"{}", one)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), one)
	case reflect.Struct:
		for n := range v.NumField() {
			if !v.Type().Field(n).IsExported() {
				continue
			}
			f.fill(path+"."+v.Type().Field(n).Name, v.Field(n))
		}
	}
}

// TestEveryTextHasARow checks that no text of an ask is missing in the tables of
// texts, and that a change of each that is not kept changes the copy only.
func TestEveryTextHasARow(t *testing.T) {
	t.Parallel()
	var a bridge.Ask
	f := filler{map[string]string{}}
	f.fill("Ask", reflect.ValueOf(&a).Elem())
	before, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	own := a.Editable()
	missing, paths := map[string]string{}, map[string]bool{}
	for w, path := range f.words {
		missing[w] = path
	}
	want := 0
	for text := range own.Texts() {
		if paths[text.Path] {
			t.Errorf("two texts have the path %s", text.Path)
		}
		paths[text.Path] = true
		for w := range f.words {
			if strings.Contains(*text.Value, w) {
				delete(missing, w)
			}
		}
		if text.Use.Has(bridge.TextShown | bridge.TextExecuted | bridge.TextDropped) {
			*text.Value = "changed"
			want++
		}
	}
	for _, path := range missing {
		if path != "Ask.Approval.Input" { // the redactor goes through its values
			t.Errorf("%s has no row", path)
		}
	}
	after, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	changes := strings.Count(string(after), `"changed"`)
	if changes != want {
		t.Errorf("%d texts are changed in the copy, want %d: %s", changes, want, after)
	}
	if now, err := json.Marshal(a); err != nil || string(now) != string(before) {
		t.Errorf("the original became %s, %v", now, err)
	}
}

// TestReportsHaveRows checks that no text of a report or a completion is missing in
// the tables of texts.
func TestReportsHaveRows(t *testing.T) {
	t.Parallel()
	var report bridge.SessionReport
	var done bridge.Completion
	for name, x := range map[string]struct {
		value reflect.Value
		texts iter.Seq[bridge.Text]
	}{
		"SessionReport": {reflect.ValueOf(&report).Elem(), report.Texts()}, "Completion": {reflect.ValueOf(&done).Elem(), done.Texts()},
	} {
		f := filler{map[string]string{}}
		f.fill(name, x.value)
		for text := range x.texts {
			delete(f.words, *text.Value)
		}
		for _, path := range f.words {
			t.Errorf("%s has no row", path)
		}
	}
}

// TestDigestCovers checks that the request digest changes with each text that the
// table says it covers, and with no other.
func TestDigestCovers(t *testing.T) {
	t.Parallel()
	var a bridge.Ask
	f := filler{map[string]string{}}
	f.fill("Ask", reflect.ValueOf(&a).Elem())
	digest := func(a bridge.Ask) string {
		out, err := proof.Digest(a)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	was := digest(a)
	for text := range a.Texts() {
		word := strings.Trim(*text.Value, `"`)
		var now bridge.Ask
		if err := json.Unmarshal(bytes.Replace(raw, []byte(word), []byte("another"), 1), &now); err != nil {
			t.Fatal(err)
		}
		if covered := digest(now) != was; covered != text.Use.Has(bridge.TextCovered) {
			t.Errorf("%s: covered is %v", text.Path, covered)
		}
	}
	if a.Approval.Input = json.RawMessage(`"another"`); digest(a) == was {
		t.Error("approval.input: not covered")
	}
}
