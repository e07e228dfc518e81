package proof_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// The example of RFC 8785, section 3.2.2, and its result of section 3.2.3.
const (
	rfcInput = `{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`
	rfcOutput = `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
)

func TestCanonicalVectors(t *testing.T) {
	t.Parallel()
	// A float64 cannot represent 333333333.33333329 exactly, so Canonical
	// rejects the unchanged example. With the nearest float64 it returns
	// the result in the RFC.
	if _, err := proof.Canonical([]byte(rfcInput)); bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), "numbers.0") {
		t.Errorf("an inexact number: %v", err)
	}
	sorting := `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
	sorted := "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}"
	for in, want := range map[string]string{
		strings.Replace(rfcInput, "333333333.33333329", "333333333.3333333", 1): rfcOutput,
		sorting:                            sorted, // section 3.2.3
		`[56,{"d":true,"10":null,"1":[]}]`: `[56,{"1":[],"10":null,"d":true}]`,
		` "a" `:                            `"a"`, `-0`: `0`, `1.0`: `1`, `100e-2`: `1`, `0e999999`: `0`,
	} {
		got, err := proof.Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	// Appendix B: the bits of a float64 and its text.
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0", 0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308", 0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992", 0x4430000000000000: "295147905179352830000", 0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23", 0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000", 0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001", 0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333", 0x41b3de4355555556: "333333333.3333334", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		in := strconv.FormatFloat(math.Float64frombits(bits), 'e', -1, 64)
		if got, err := proof.Canonical([]byte(in)); err != nil || string(got) != want {
			t.Errorf("%x: got %s, %v, want %s", bits, got, err, want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	for in, word := range map[string]string{
		`{"a":1,"b":{"command":"ls","command":"rm"}}`: `b: duplicate field "command"`, `{"a":1,"\u0061":2}`: "duplicate",
		`"\ud800"`: "surrogate", `"\udc00\ud800"`: "surrogate", `"\ud800\u0041"`: "surrogate", `{"id":12345678901234567890}`: "id: the number",
		`1e400`: "not exact", `1e-400`: "not exact", `0.1000000000000000055`: "not exact", `{"a":1} {"b":2}`: "followed by more", `{"a":1`: "not valid", ``: "empty",
		"\"\xff\"": "UTF-8", strings.Repeat("[", 600) + strings.Repeat("]", 600): "nested", `{"a":1}]`: "followed by more",
	} {
		if got, err := proof.Canonical([]byte(in)); bridge.ErrorCode(err) != bridge.CodeInvalid || !strings.Contains(err.Error(), word) {
			t.Errorf("%.60s: %s, %v; want %q", in, got, err, word)
		}
	}
	if got, err := proof.Canonical([]byte(`"\\ud800 \ud83d\ude00"`)); err != nil || string(got) != `"\\ud800 😀"` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestCanonicalAgrees checks that the canonical form has the same value, and is
// its own canonical form. The table of deploy/clients compares implementations.
func TestCanonicalAgrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := anyJSON(3).Draw(t, "value")
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := proof.Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		var was, is any
		if json.Unmarshal(raw, &was) != nil || json.Unmarshal(got, &is) != nil || !reflect.DeepEqual(was, is) {
			t.Fatalf("%s does not have the value of %s", got, raw)
		}
		if again, err := proof.Canonical(got); err != nil || string(again) != string(got) {
			t.Fatalf("again %s, %v", again, err)
		}
	})
}

// TestCanonicalTable checks the canonical forms and the digests that the clients
// and the verifier in JavaScript compute as well.
func TestCanonicalTable(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../deploy/clients/canonical.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ JSON, Canonical, Digest string }
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) < 40 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		ask := bridge.Ask{Prompt: "Go?", Approval: &bridge.Approval{Tool: "t", Input: json.RawMessage(row.JSON)}}
		got, err := proof.Canonical([]byte(row.JSON))
		digest, failed := proof.DigestAsSent(ask)
		if row.Canonical == "" {
			if bridge.ErrorCode(err) != bridge.CodeInvalid || bridge.ErrorCode(failed) != bridge.CodeInvalid {
				t.Errorf("%s is accepted as %s, %v, %v", row.JSON, got, err, failed)
			}
		} else if string(got) != row.Canonical || digest != row.Digest {
			t.Errorf("%s: got %s with the digest %s, %v, %v", row.JSON, got, digest, err, failed)
		}
	}
}

func anyJSON(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		most := 6
		if depth == 0 {
			most = 4
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.String().Draw(t, "string")
		case 3:
			return rapid.Float64Range(-1e25, 1e25).Draw(t, "number")
		case 4:
			return rapid.Int32().Draw(t, "integer")
		case 5:
			return rapid.SliceOfN(anyJSON(depth-1), 0, 4).Draw(t, "list")
		}
		return rapid.MapOfN(rapid.String(), anyJSON(depth-1), 0, 4).Draw(t, "object")
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(rfcInput))
	f.Add([]byte(`{"a":[1,2.5e-7,"\u0000"]}`))
	f.Add(binary.BigEndian.AppendUint64(nil, 42))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := proof.Canonical(in)
		if err != nil {
			return
		}
		if !json.Valid(in) || !json.Valid(got) {
			t.Fatalf("%q became %q", in, got)
		}
		if again, err := proof.Canonical(got); err != nil || string(again) != string(got) {
			t.Fatalf("%q became %q, then %q, %v", in, got, again, err)
		}
	})
}
