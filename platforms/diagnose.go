package platforms

import (
	"context"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Limits of the clock difference: the signatures of the platforms are valid for
// 5 minutes, and smaller differences show in the times that people read.
const (
	skewWarns = 30 * time.Second
	skewFails = 4 * time.Minute
)

// Clock compares the clock of this machine with the clock of a platform, using
// the Date header of a response. The response may be an error.
func Clock(ctx context.Context, c *http.Client, url, check string) bridge.Finding {
	f := bridge.Finding{Check: check, Status: bridge.FindingSkipped}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		f.Detail = "the URL of the service is invalid"
		return f
	}
	resp, err := c.Do(req)
	if err != nil {
		f.Detail = bridge.PublicError(NetworkError("the service", err)).Message
		return f
	}
	resp.Body.Close()
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		f.Detail = "the service does not report its time"
		return f
	}
	off := time.Since(date).Round(time.Second)
	f.Status, f.Detail = bridge.FindingOK, "this clock differs by "+off.Abs().String()+" from the clock of the service"
	if off.Abs() > skewWarns {
		f.Status, f.Fix = bridge.FindingWarning, "synchronize the clock of this machine with NTP"
	}
	if off.Abs() > skewFails {
		f.Status = bridge.FindingFailed
	}
	return f
}

// Report collects findings whose checks begin with a platform's name.
type Report struct {
	Platform string
	Findings []bridge.Finding
}

// Add adds a finding.
func (r *Report) Add(check string, s bridge.FindingStatus, detail, fix string) {
	r.Findings = append(r.Findings, bridge.Finding{Check: r.Platform + "." + check, Status: s, Detail: detail, Fix: fix})
}

// Fail adds a finding for an error. If fix is empty, the fix is the hint of the
// error.
func (r *Report) Fail(check string, err error, fix string) {
	e := bridge.PublicError(err)
	switch {
	case e.Code == bridge.CodeUnavailable:
		fix = "check the network, DNS and HTTPS_PROXY of this machine; the service may be down"
	case fix == "":
		fix = e.Hint
	}
	r.Add(check, bridge.FindingFailed, e.Message, fix)
}
