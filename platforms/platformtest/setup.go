package platformtest

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// runSetup checks the diagnosis of a setup, and the lookup of people and
// groups.
func runSetup(t *testing.T, h Harness) {
	r := New(t, h, Options{Sink: &Recorder{}, Still: true})
	t.Run("a good setup has no failures", func(t *testing.T) {
		r.Sandbox.SetGroup(h.Name, h.SandboxGroup, "ana") // an empty group would be a finding
		for check, f := range r.with(t).diagnose() {
			if f.Status != bridge.FindingOK && f.Status != bridge.FindingSkipped {
				t.Errorf("%s: %+v", check, f)
			}
			if !strings.HasPrefix(check, h.Name+".") {
				t.Errorf("the check %q does not begin with the platform", check)
			}
		}
	})
	wrong := append([]Finding{
		{sandbox.Fault{Kind: "revoke"}, "token", bridge.FindingFailed, "_TOKEN"},
		{sandbox.Fault{Kind: "error"}, "token", bridge.FindingFailed, "HTTPS_PROXY"},
		{sandbox.Fault{Kind: "skew", Delay: time.Hour}, "clock", bridge.FindingFailed, "NTP"},
		{sandbox.Fault{Kind: "skew", Delay: time.Minute}, "clock", bridge.FindingWarning, "NTP"},
	}, h.Findings...)
	for _, x := range wrong {
		t.Run(x.Fault.Kind+" "+x.Fault.Method+" "+x.Check, func(t *testing.T) {
			r.Fault(x.Fault)
			defer r.Sandbox.ClearFaults()
			all := r.with(t).diagnose()
			if f := all[h.Name+"."+x.Check]; f.Status != x.Status || !strings.Contains(f.Fix, x.Fix) {
				t.Errorf("%+v; all: %+v", f, all)
			}
		})
	}
	t.Run("another bot's token is refused", func(t *testing.T) {
		token := New(t, h, Options{Sink: &Recorder{}, Still: true, Token: "1:wrong"})
		if f := token.diagnose()[h.Name+".token"]; f.Status != bridge.FindingFailed || f.Fix == "" {
			t.Errorf("%+v", f)
		}
	})
	t.Run("a group has its members", func(t *testing.T) { belongs(r.with(t)) })
}

// diagnose returns the worst finding of each check.
func (r *Rig) diagnose() map[string]bridge.Finding {
	r.T.Helper()
	out := map[string]bridge.Finding{}
	needs := bridge.Needs{Destinations: []bridge.Destination{r.destination()}, Emails: true, Groups: []string{r.Harness.Group}}
	for _, f := range r.Platform.Diagnose(r.Ctx, needs) {
		if out[f.Check].Status != bridge.FindingFailed {
			out[f.Check] = f
		}
		if f.Detail == "" || f.Status == bridge.FindingOK && f.Fix != "" {
			r.T.Errorf("a finding without details, or a fix for nothing: %+v", f)
		}
		for _, secret := range []string{
			sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.DiscordToken, sandbox.TelegramToken,
		} {
			if strings.Contains(f.Detail+f.Fix, secret) {
				r.T.Errorf("%s prints a secret", f.Check)
			}
		}
	}
	return out
}

func belongs(r *Rig) {
	h := r.Harness
	r.Sandbox.SetGroup(h.Name, h.SandboxGroup, "ana")
	for who, want := range map[string]bool{r.account("ana"): true, r.account("bo"): false, "123456": false} {
		if got, err := r.Platform.Belongs(r.Ctx, h.Group, who); err != nil || got != want {
			r.T.Errorf("%s: %t, %v", who, got, err)
		}
	}
	r.Fault(sandbox.Fault{Kind: "error", Status: 502})
	defer r.Sandbox.ClearFaults()
	if got, err := r.Platform.Belongs(r.Ctx, h.Group, r.account("ana")); got || err == nil {
		r.T.Errorf("during an outage: %t, %v", got, err)
	}
}
