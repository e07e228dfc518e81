package bridge

import "strings"

// Usable returns an error if an administrator must act before the platform can
// be used. Cards wait until then, because the platform keeps checking.
func Usable(p Platform) error {
	if h, ok := p.(HealthReporter); ok {
		if s := h.Health(); s.State == HealthDown {
			return Errorf(CodeUnavailable, "%s", downReason(p.Name(), s))
		}
	}
	return nil
}

// downReason returns the reason that a platform accepts no card. The reason in
// its health may already contain the name of the platform.
func downReason(platform string, h Health) string {
	if strings.HasPrefix(h.Reason, platform+": ") {
		return h.Reason
	}
	return platform + ": " + h.Reason
}
