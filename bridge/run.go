package bridge

import (
	"encoding/json"
)

// Text returns the reference as JSON.
func (r MessageRef) Text() string {
	b, _ := json.Marshal(r) // three strings always marshal
	return string(b)
}
