package bridge

import "strings"

// Usable returns an error if an administrator must act before the platform can
// be used. A card waits for that: the platform looks again and again.
func Usable(p Platform) error {
	if h, ok := p.(HealthReporter); ok {
		if s := h.Health(); s.State == HealthDown {
			return Errorf(CodeUnavailable, "%s", downReason(p.Name(), s))
		}
	}
	return nil
}

// downReason returns why a platform that is down takes no card. The reason of its
// health may name the platform already.
func downReason(platform string, h Health) string {
	if strings.HasPrefix(h.Reason, platform+": ") {
		return h.Reason
	}
	return platform + ": " + h.Reason
}
