package proof

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Canonical returns JSON in the canonical form of RFC 8785, in which the same
// value always has the same bytes. It returns CodeInvalid for a value that
// CheckJSON rejects, because the RFC rounds numbers, and a digest must not
// cover rounded values.
func Canonical(raw []byte) ([]byte, error) {
	if err := bridge.CheckJSON(raw); err != nil {
		return nil, err
	}
	out, err := strictjson.Canonical(raw)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "json: cannot be converted to the canonical form")
	}
	return out, nil
}
