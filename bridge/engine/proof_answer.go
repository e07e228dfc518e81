package engine

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

func answerOf(records []bridge.Record, body []byte) proof.AnswerClaims {
	sum := sha256.Sum256(body)
	c := proof.AnswerClaims{Ends: make([]proof.End, len(records)), Body: hex.EncodeToString(sum[:])}
	for n, r := range records {
		c.Ends[n] = proof.End{ID: r.Interaction.ID, Digest: r.Interaction.Digest, State: r.State}
		if r.Response != nil {
			c.Ends[n].Reason = r.Response.Reason
		}
	}
	return c
}

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
	return e.signer.Sign(proof.TypeAnswer, answerOf(records, body))
}
