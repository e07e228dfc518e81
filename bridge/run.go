package bridge

import (
	"encoding/json"
)

// Leases of platforms that only one daemon may receive from: a dead holder is
// replaced after leaseTTL.
const ()

func (r MessageRef) Text() string {
	b, _ := json.Marshal(r) // three strings always marshal
	return string(b)
}
