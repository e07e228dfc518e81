package raw_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

func decoded(t *testing.T, s string) raw.Object {
	t.Helper()
	var o raw.Object
	if err := json.Unmarshal([]byte(s), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestFields checks that fields of the wrong type read as absent.
func TestFields(t *testing.T) {
	t.Parallel()
	o := decoded(t, `{"text":"x","object":{"n":7},"list":[{"a":1},2],"number":3}`)
	if raw.Str(o, "text") != "x" || raw.Str(o, "number") != "" || raw.Sub(o, "object")["n"] != 7.0 ||
		raw.Sub(o, "list") != nil {
		t.Error("texts or objects are wrong")
	}
	if items := raw.Objects(o, "list"); len(items) != 2 || items[0] == nil || items[1] != nil ||
		len(raw.List(o, "text")) != 0 {
		t.Errorf("items %v", items)
	}
	if n, ok := raw.Number(o, "number"); n != 3 || !ok {
		t.Errorf("number %v %v", n, ok)
	}
	if raw.Int(7) != 7 || raw.Int(int64(7)) != 7 || raw.Int(7.0) != 7 || raw.Int("7") != 0 {
		t.Error("integers are wrong")
	}
	if raw.Text("x") != "x" || raw.Text(3e17) != "300000000000000000" || raw.Text(nil) != "" || raw.Runes("héé") != 3 {
		t.Error("texts of values are wrong")
	}
}

// TestCopy checks that a copy shares nothing with the original, and that a
// value that is not JSON panics.
func TestCopy(t *testing.T) {
	t.Parallel()
	o := decoded(t, `{"a":{"b":1}}`)
	c := raw.Copy(o)
	raw.Sub(c, "a")["b"] = 2
	if raw.Sub(o, "a")["b"] != 1.0 || raw.Copy(nil) != nil {
		t.Error("the copy shares data")
	}
	defer func() {
		if recover() == nil {
			t.Error("a channel was copied")
		}
	}()
	raw.Clone(make(chan int))
}

// TestTexts checks that texts are found under the field names of each service.
func TestTexts(t *testing.T) {
	t.Parallel()
	o := decoded(t, `{"text":"a","blocks":[{"text":{"text":"b"},"elements":[{"text":"c"}]}],
		"embeds":[{"title":"d","footer":{"text":"e"}}],
		"reply_markup":{"inline_keyboard":[[{"text":"f","callback_data":"no"}]]},"ts":"no"}`)
	if got := raw.Texts(o); got != "a b c d e f " {
		t.Errorf("texts %q", got)
	}
}

// TestWrite checks the answer to a request.
func TestWrite(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	raw.Write(w, 418, raw.Object{"a": 1})
	if w.Code != 418 || w.Body.String() != "{\"a\":1}\n" ||
		w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("wrote %d %q %v", w.Code, w.Body, w.Header())
	}
}
