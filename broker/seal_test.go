package broker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/broker"
)

// TestSeals checks that a document verifies only as it was stored, with one of the keys.
func TestSeals(t *testing.T) {
	t.Parallel()
	first, second := []byte("first"), []byte("second")
	s := broker.NewSeals(first)
	key := broker.Key{Kind: "thing", ID: "a"}
	d := broker.Doc{Key: key, Format: 3, Value: []byte(`{"a":1}`)}
	raw := s.Encode(d, 7)
	other := d
	other.Value = []byte(`{"a":2}`)
	swapped := s.Encode(other, 7)
	newer := d
	newer.Format = 4
	change := func(at int, to byte) string { return raw[:at] + string(to) + raw[at+1:] }
	head := len(raw) - len(d.Value)
	for name, x := range map[string]struct {
		key  broker.Key
		raw  string
		want bool
	}{
		"as it was":          {key, raw, true},
		"value":              {key, change(head+5, '2'), false},
		"longer value":       {key, raw + " ", false},
		"shorter value":      {key, raw[:len(raw)-1], false},
		"no value":           {key, raw[:head], false},
		"version":            {key, change(broker.VersionLen-1, '8'), false},
		"format":             {key, change(broker.VersionLen+3, '2'), false},
		"seal":               {key, change(broker.VersionLen+6, '.'), false},
		"seal of another":    {key, swapped[:head] + string(d.Value), false},
		"of another key":     {broker.Key{Kind: "thing", ID: "b"}, raw, false},
		"of another kind":    {broker.Key{Kind: "other", ID: "a"}, raw, false},
		"another border":     {broker.Key{Kind: "thin", ID: "ga"}, raw, false},
		"unsealed":           {key, broker.NewSeals().Encode(d, 7), false},
		"another deployment": {key, broker.NewSeals(second).Encode(d, 7), false},
		"no number":          {key, "x" + raw[1:], false},
		"negative":           {key, "-" + raw[1:], false},
		"short":              {key, "12", false},
		"only a version":     {key, raw[:broker.VersionLen], false},
		"signed version":     {key, "+" + raw[1:], false},
		"signed format":      {key, change(broker.VersionLen, '+'), false},
		"version 0":          {key, strings.Repeat("0", broker.VersionLen) + raw[broker.VersionLen:], false},
		"with an entry":      {key, raw + "\x1e5-1", true}, // which is not sealed
	} {
		got := s.Decode(x.key, x.raw)
		if (got.Problem == "") != x.want || !got.Exists() {
			t.Errorf("%s: %+v", name, got)
		}
		if bare := broker.NewSeals().Decode(x.key, x.raw); len(x.raw) > head && x.raw[0] == '0' && bare.Problem != "" && !slices.Contains([]string{"signed format", "version 0"}, name) {
			t.Errorf("%s: without keys: %+v", name, bare)
		}
	}
	want := d
	want.Version, want.Entry = 7, "5-1"
	if diff := cmp.Diff(want, s.Decode(key, raw+"\x1e5-1")); diff != "" {
		t.Errorf("with an entry: %s", diff)
	}
	if got := s.Decode(key, ""); got.Exists() || got.Problem != "" {
		t.Errorf("none is %+v", got)
	}
	s.Use([][]byte{second, first}) // a new key; what the old one sealed is still good
	if got := s.Decode(key, raw); got.Problem != "" {
		t.Errorf("with the older key: %+v", got)
	}
	fresh := s.Encode(d, 8)
	s.Use([][]byte{second})
	if s.Decode(key, raw).Problem == "" || s.Decode(key, fresh).Problem != "" {
		t.Error("a key that was removed verifies, or the new one does not")
	}
}
