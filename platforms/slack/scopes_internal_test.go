package slack

import (
	"maps"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// TestScopes checks which scopes a diagnosis misses, and which of them nod cannot do
// without.
func TestScopes(t *testing.T) {
	t.Parallel()
	const failed, warning = bridge.FindingFailed, bridge.FindingWarning
	everything := bridge.Needs{Emails: true, Groups: []string{"S1"}, Destinations: []bridge.Destination{{Channel: "U1"}}}
	for name, x := range map[string]struct {
		have  string
		needs bridge.Needs
		want  map[string]bridge.FindingStatus // by missing scope
	}{
		"not reported":      {"", everything, nil},
		"nothing asked":     {"chat:write, commands", bridge.Needs{}, nil},
		"nothing missing":   {"chat:write,commands,im:write,users:read,users:read.email,usergroups:read", everything, nil},
		"only the optional": {"chat:write", bridge.Needs{}, map[string]bridge.FindingStatus{"commands": warning}},
		"everything missing": {"x", everything, map[string]bridge.FindingStatus{
			"chat:write": failed, "im:write": failed, "users:read": failed, "users:read.email": failed, "usergroups:read": failed, "commands": warning,
		}},
		"in a channel": {"x", bridge.Needs{Destinations: []bridge.Destination{{Channel: "C1"}}}, map[string]bridge.FindingStatus{"chat:write": failed, "commands": warning}},
	} {
		r := &platforms.Report{}
		reportScopes(r, strings.Split(x.have, ","), x.needs)
		got := map[string]bridge.FindingStatus{}
		for _, f := range r.Findings {
			if scope, missing := strings.CutPrefix(f.Detail, "missing scope "); missing {
				scope, _, _ = strings.Cut(scope, ",")
				got[scope] = f.Status
			}
		}
		if !maps.Equal(got, x.want) || len(r.Findings) == 0 {
			t.Errorf("%s: found %+v, want %v", name, r.Findings, x.want)
		}
	}
}
