package engine

import (
	"github.com/nodbridge/nod/bridge"
)

// StateAnswer signs an answer in another format that was made of verified
// records. It is empty without a signer.
func (e *Engine) StateAnswer(records []bridge.Record, body []byte) (string, error) {
	if e.signer == nil {
		return "", nil
	}
	for _, r := range records {
		if err := r.Trusted(); err != nil {
			return "", err
		}
	}
	return e.signer.Answer(records, body)
}
