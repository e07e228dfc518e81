package brokertest

import (
	"fmt"
	"testing"

	"github.com/nodbridge/nod/broker"
)

// malformed lists texts that are not the stored form of a document.
var malformed = []string{
	"x", "{}", "-", "-1", "12", "0000000000000000", "00000000000000000001", "+000000000000007", "-000000000000007", "0x00000000000007",
	"             7", "0000000000000007", "0000000000000007x", "9999999999999999", "000000000000000700010123456789", "0000000000000007-0010123456789012345678901{}",
	"\x00", "\xff\xfe", "not a document, but a text that is longer than the header of one, as others store it",
}

// Malformed checks that a malformed text under the key of a document counts as a
// document that does not verify, and that it can be replaced and dropped. Plant
// stores a text under a key.
func Malformed(t *testing.T, s broker.Store, plant func(k broker.Key, raw string)) {
	t.Helper()
	for n, raw := range malformed {
		id := fmt.Sprint("a", n)
		plant(key(id), raw)
		d := get(t, s, id)
		if !d.Exists() || d.Problem == "" {
			t.Errorf("%q: got %+v", raw, d)
		}
		for _, version := range []int64{0, 1, d.Version + 1} {
			if version != d.Version {
				refused[*broker.Stale](t, s, raw, broker.Change{If: []broker.Version{{Key: key(id), Version: version}}, Journal: []broker.Entry{entry("x")}})
			}
		}
		do(t, s, broker.Change{If: []broker.Version{d.At()}})
		d.Format, d.Value = 1, []byte("v")
		do(t, s, broker.Change{Put: []broker.Doc{d}})
		if got := get(t, s, id); got.Problem != "" || string(got.Value) != "v" {
			t.Errorf("%q was replaced by %+v", raw, got)
		}
		refused[*broker.Stale](t, s, raw, broker.Change{If: []broker.Version{{Key: key(id), Version: broker.Malformed}}})
		plant(key(id), raw)
		do(t, s, broker.Change{Drop: []broker.Version{get(t, s, id).At()}})
		if get(t, s, id).Exists() {
			t.Errorf("%q was not dropped", raw)
		}
		refused[*broker.Stale](t, s, raw, broker.Change{If: []broker.Version{{Key: key(id), Version: broker.Malformed}}})
	}
}
