package proof

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// receiptsKnown is the number of receipts that a Signer remembers. It exceeds
// the number of decisions between two seals of the audit log, because sealing
// checks the receipts again.
const receiptsKnown = 8192

// Receipt signs a decision on an interaction. If had is a receipt of the same
// decision, it returns had. It returns "" if the response is not a decision. It
// returns CodeForbidden if the signature of a person is for another decision.
func (s *Signer) Receipt(i bridge.Interaction, resp bridge.Response, votes []bridge.Vote, had string) (string, error) {
	if s == nil || !resp.Decided() {
		return "", nil
	}
	r, err := receiptOf(i, resp, votes)
	if err == nil {
		err = r.checkSigned()
	}
	if err != nil {
		return "", err
	}
	if had != "" {
		if claims, err := s.claims(had); err == nil && claims == string(Stable(r)) {
			return had, nil
		}
	}
	claims, err := json.Marshal(&r)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	token := s.signText(typeReceipt, claims)
	s.known.Add(token, string(stabilized(claims)))
	return token, nil
}

// claims verifies a receipt, and returns its claims in the form of Stable. It checks
// each signature only once.
func (s *Signer) claims(token string) (string, error) {
	if claims, known := s.known.Get(token); known {
		return claims, nil
	}
	got, err := s.public.VerifyReceipt(token)
	if err != nil {
		return "", err
	}
	claims := string(Stable(got))
	s.known.Add(token, claims)
	return claims, nil
}

// receipt is JWKS.VerifyReceipt, which checks each signature only once.
func (s *Signer) receipt(token string) (r Receipt, err error) {
	claims, err := s.claims(token)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal([]byte(claims), &r)
}
