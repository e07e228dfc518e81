package platforms

import (
	"context"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Limits of a clock's difference: the services' signatures hold for 5 minutes,
// and what people read is off by the rest.
const (
	skewWarns = 30 * time.Second
	skewFails = 4 * time.Minute
)

// Clock compares the clock of this machine with that of a service, by the date
// of an answer. The call need not be allowed.
func Clock(ctx context.Context, c *http.Client, url, check string) bridge.Finding {
	f := bridge.Finding{Check: check, Status: bridge.FindingSkipped}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		f.Detail = "the address of the service can not be used"
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
		f.Detail = "the service does not say its time"
		return f
	}
	off := time.Since(date).Round(time.Second)
	f.Status, f.Detail = bridge.FindingOK, "this clock is "+off.Abs().String()+" off the service's"
	if off.Abs() > skewWarns {
		f.Status, f.Fix = bridge.FindingWarning, "set this machine's clock, by NTP"
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

// Fail adds a finding of an error; its hint is the fix where there is no
// other.
func (r *Report) Fail(check string, err error, fix string) {
	e := bridge.PublicError(err)
	switch {
	case e.Code == bridge.CodeUnavailable:
		fix = "look at this machine's network, its DNS and HTTPS_PROXY; the service may be down"
	case fix == "":
		fix = e.Hint
	}
	r.Add(check, bridge.FindingFailed, e.Message, fix)
}
