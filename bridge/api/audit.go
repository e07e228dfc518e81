package api

import (
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// receiptHeader carries the receipts of an answer in another system's format,
// one each.
const receiptHeader = "Nod-Receipt"

// answerHeader carries what binds such an answer to how its requests ended.
const answerHeader = "Nod-Answer"

// audit writes the audit log as JSON lines.
func (s *Server) audit(w http.ResponseWriter, r *http.Request, p Principal) error {
	if !p.Auditor {
		return bridge.Errorf(bridge.CodeForbidden, "%s may not read the audit log", p.Person).WithHint("set auditor of the person in the config")
	}
	requestRead(w) // a long log takes longer than a request may
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", auditComplete)
	if err := s.engine.Audit.Export(r.Context(), w); err != nil {
		s.log.Error("audit log not exported", "error", err)
		return nil // the lines may have begun; that the trailer is missing says so
	}
	w.Header().Set(auditComplete, "true")
	return nil
}

// auditComplete is the trailer of an export that nothing cut short.
const auditComplete = "Nod-Complete"

// keys are the public keys of receipts and seals; they are for everybody.
func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	_ = write(w, http.StatusOK, s.engine.Audit.PublicKeys()) // the caller may have gone
}
