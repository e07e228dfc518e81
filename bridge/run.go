package bridge

import (
	"encoding/json"
)

func (r MessageRef) Text() string {
	b, _ := json.Marshal(r) // three strings always marshal
	return string(b)
}
