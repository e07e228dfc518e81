package proof

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// End states the outcome of a request that nod answers in another format.
type End struct {
	ID     bridge.ID    `json:"id"`
	Digest string       `json:"digest"`
	State  bridge.State `json:"state"`
	Reason string       `json:"reason,omitempty"`
	Stop   bool         `json:"stop,omitempty"` // the session is stopped
}

// answerClaims binds an answer in another format to the outcomes of its
// requests. The decision itself is proven by its receipt.
type answerClaims struct {
	Ends []End  `json:"ends"`
	Body string `json:"body"` // hex SHA-256
}

// Answer signs an answer in another format, based on verified records.
func (s *Signer) Answer(records []bridge.Record, body []byte) (string, error) {
	c := answerClaims{Ends: make([]End, len(records)), Body: hashOf(body)}
	for n, r := range records {
		c.Ends[n] = End{ID: r.Interaction.ID, Digest: r.Interaction.Digest, State: r.State}
		if r.Response != nil {
			c.Ends[n].Reason, c.Ends[n].Stop = r.Response.Reason, r.Response.Stops()
		}
	}
	return s.sign(typeAnswer, c)
}

// VerifyEnds returns the outcomes of the requests behind an answer in another
// format. It returns CodeForbidden unless the answer was signed together with
// them.
func (set *JWKS) VerifyEnds(statement string, body []byte) ([]End, error) {
	raw, err := set.payload(typeAnswer, statement)
	if err != nil {
		return nil, err
	}
	var c answerClaims
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "answer")
	}
	if c.Body != hashOf(body) {
		return nil, bridge.Errorf(bridge.CodeForbidden, "the answer differs from the signed answer")
	}
	return c.Ends, nil
}

// CoversEnd checks that an end belongs to a request, and that a decision has a
// receipt. It returns the receipt. For an end without a decision, the receipt
// contains only the request, the state, the reason, and the state of the
// session (stopped or not).
func (set *JWKS) CoversEnd(end End, req bridge.Request, receipt string) (Receipt, error) {
	bare := Receipt{ID: end.ID, Kind: req.Kind, State: end.State, Reason: end.Reason, Stop: end.Stop, Digest: end.Digest}
	digest, err := DigestAsSent(req.Ask)
	if err != nil {
		return bare, err
	}
	if digest != end.Digest {
		return bare, bridge.Errorf(bridge.CodeForbidden, "the answer is for another request").WithHint("compare the digests: the answer is for %s, the request is %s", end.Digest, digest)
	}
	if !end.State.Decided() {
		return bare, nil
	}
	got, err := set.receipt(receipt)
	if err != nil {
		return bare, err
	}
	if got.ID != end.ID || got.State != end.State || got.Digest != digest {
		return bare, bridge.Errorf(bridge.CodeForbidden, "the receipt is for another decision")
	}
	return got, nil
}
