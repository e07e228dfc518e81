package strictjson

import (
	"bytes"
	"encoding/json"
)

// Encode returns a value as compact JSON without escapes for HTML, so that &&
// stays readable and a raw message keeps its bytes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
