package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// End states the outcome of a request that is answered in another format.
type End struct {
	ID     bridge.ID    `json:"id"`
	Digest string       `json:"digest"`
	State  bridge.State `json:"state"`
	Reason string       `json:"reason,omitempty"`
}

// answerClaims bind an answer in another format to how its requests ended. The
// decision itself is proven by its receipt.
type answerClaims struct {
	Ends []End  `json:"ends"`
	Body string `json:"body"` // hex SHA-256
}

// Answer signs an answer in another format that was made of verified records.
func (s *Signer) Answer(records []bridge.Record, body []byte) (string, error) {
	sum := sha256.Sum256(body)
	c := answerClaims{Ends: make([]End, len(records)), Body: hex.EncodeToString(sum[:])}
	for n, r := range records {
		c.Ends[n] = End{ID: r.Interaction.ID, Digest: r.Interaction.Digest, State: r.State}
		if r.Response != nil {
			c.Ends[n].Reason = r.Response.Reason
		}
	}
	return s.sign(typeAnswer, c)
}

// VerifyEnds returns how the requests ended that an answer in another format
// is about. The answer has to be the one that was signed with them.
func (set *JWKS) VerifyEnds(statement string, body []byte) ([]End, error) {
	raw, err := set.payload(typeAnswer, statement)
	if err != nil {
		return nil, err
	}
	var c answerClaims
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "answer")
	}
	if sum := sha256.Sum256(body); c.Body != hex.EncodeToString(sum[:]) {
		return nil, bridge.Errorf(bridge.CodeForbidden, "the answer is not the one that was signed")
	}
	return c.Ends, nil
}

// CoversEnd checks that an end is that of a request, and has a receipt if it is
// a decision. It returns the receipt, which for any other end holds only the
// state and the reason.
func (set *JWKS) CoversEnd(end End, req bridge.Request, receipt string) (Receipt, error) {
	bare := Receipt{ID: end.ID, Kind: req.Kind, State: end.State, Reason: end.Reason, Digest: end.Digest}
	digest, err := Digest(req.Ask)
	if err != nil {
		return bare, err
	}
	if digest != end.Digest {
		return bare, bridge.Errorf(bridge.CodeForbidden, "the answer is for another request").WithHint("it is for %s, the request is %s", end.Digest, digest)
	}
	if !end.State.Decided() {
		return bare, nil
	}
	got, err := set.receipt(receipt)
	if err != nil {
		return bare, err
	}
	if got.ID != end.ID || got.State != end.State || got.Digest != digest {
		return bare, bridge.Errorf(bridge.CodeForbidden, "the receipt is for another decision than the one that came back")
	}
	return got, nil
}
