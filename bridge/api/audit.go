package api

import (
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// receiptHeader carries the receipts of a response in a dialect, one per
// header.
const receiptHeader = "Nod-Receipt"

// interactionHeader carries the IDs of the requests of such a response, one per
// header.
const interactionHeader = "Nod-Interaction"

// answerHeader carries the signed statement that binds such a response to the
// outcomes of its requests.
const answerHeader = "Nod-Answer"

// audit writes the audit log as JSON lines.
func (s evidence) audit(w http.ResponseWriter, r *http.Request, p Principal) error {
	if !p.Auditor {
		return bridge.Errorf(bridge.CodeForbidden, "person %q may not read the audit log", p.Person).WithHint("set auditor: true for the person in the config")
	}
	requestRead(w) // exporting a long log takes longer than bodyTimeout
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Trailer", auditComplete)
	if err := s.engine.Audit.Export(r.Context(), w); err != nil {
		s.log.Error("audit log not exported", "error", err)
		// The response may have started. The missing trailer shows that it is
		// incomplete.
		return nil
	}
	w.Header().Set(auditComplete, "true")
	return nil
}

// auditComplete is the trailer that marks a complete export.
const auditComplete = "Nod-Complete"

// keys returns the public keys of receipts and seals. Every caller may read
// them.
func (s evidence) keys(w http.ResponseWriter, _ *http.Request) {
	_ = write(w, http.StatusOK, s.engine.Audit.PublicKeys()) // the caller may have disconnected
}
