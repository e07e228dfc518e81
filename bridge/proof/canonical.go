package proof

import (
	"github.com/gowebpki/jcs"

	"github.com/nodbridge/nod/bridge"
)

// Canonical returns JSON in the canonical form of RFC 8785, so that the same
// value has the same bytes, whoever wrote it. It returns CodeInvalid for a value
// that CheckJSON refuses: the RFC rounds numbers, and a digest must not.
func Canonical(raw []byte) ([]byte, error) {
	if err := bridge.CheckJSON(raw); err != nil {
		return nil, err
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "json: cannot be written in the canonical form")
	}
	return out, nil
}
