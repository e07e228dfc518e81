package rig

import (
	"encoding/json"
	"net/http"
	"regexp"
)

// answerHead is the size of the part of a response that watched keeps, in
// bytes.
const answerHead = 1 << 10

// watched is a response writer that keeps the status and the start of the body.
type watched struct {
	http.ResponseWriter
	status int
	head   []byte
}

// Unwrap implements the interface of http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	w.head = append(w.head, b[:min(len(b), answerHead-len(w.head))]...)
	return w.ResponseWriter.Write(b)
}

// complaint returns the reason why a service refused the content of a call. It
// is empty if the service accepted the call, or refused it for a reason other
// than its content, such as its rate limit.
func (w *watched) complaint(service string) string {
	var answer struct {
		Error       string `json:"error"`       // error code from Slack
		Description string `json:"description"` // error text from Telegram
	}
	text := string(w.head)
	_ = json.Unmarshal(w.head, &answer) // a long answer is not an error
	refused := w.status == http.StatusBadRequest
	switch service {
	case "slack":
		refused = slackContent.MatchString(answer.Error) && answer.Error != "invalid_auth"
	case "telegram":
		refused = refused && !telegramState.MatchString(answer.Description)
	}
	if !refused {
		return ""
	}
	return text
}

// slackContent matches the errors of Slack about the content of a call.
var slackContent = regexp.MustCompile(`^invalid_|too_long$|too_large$|^no_text$`)

// telegramState matches the errors of Telegram that depend on its state rather
// than on the content of a call.
var telegramState = regexp.MustCompile(`not modified|not found|is too old|not enough rights`)

// NoComplaints fails the test if a service refused the content of a call. It
// also logs the number of calls to each service.
func (r *Rig) NoComplaints() {
	r.T.Helper()
	r.Shown.mu.Lock()
	defer r.Shown.mu.Unlock()
	for _, s := range Services {
		r.T.Logf("conformance: %d payloads sent to %s, %d complaints", r.Shown.calls[s], s, len(r.Shown.complaints[s]))
		for _, c := range r.Shown.complaints[s] {
			r.T.Errorf("%s complains: %s", s, c)
		}
	}
}
