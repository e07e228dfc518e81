package setup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// surveyed holds the result of reading the settings of one agent.
type surveyed struct {
	Coverage
	findings []bridge.Finding
	ours     bool // nod is in the settings
}

// survey reads the settings of the installed agents. Its error is that the user
// has no home directory.
func survey(ctx context.Context) ([]surveyed, error) {
	m, err := thisMachine()
	if err != nil {
		return nil, err
	}
	var out []surveyed
	for _, a := range installables {
		s := a.survey(ctx, m)
		if s.ours || a.installed(m) {
			out = append(out, s)
		}
	}
	return out, nil
}

// examineAgents checks the settings of the coding agents on this machine: how
// far each needs a person, and which gates hold if nod fails.
func (d *Doctor) examineAgents(ctx context.Context) {
	found, err := survey(ctx)
	if err != nil {
		return // no home directory, so no settings
	}
	for _, s := range found {
		d.found(s.findings...)
		if s.ours || d.OnlyAgents || d.Require != "" {
			d.found(s.level(d.Require))
		}
		d.Agents = append(d.Agents, s.Coverage)
	}
	if len(found) == 0 && d.OnlyAgents {
		d.add("agents", bridge.FindingSkipped, "found no agent that nod knows: "+strings.Join(AgentNames(), ", "), "")
	}
}

// level returns the finding about the level of an agent, with the reasons that
// are not findings themselves. It failed if the level is below the required one.
func (s surveyed) level(required Level) bridge.Finding {
	f := bridge.Finding{Check: "agent." + s.Agent + ".level", Status: bridge.FindingOK, Fix: s.Fix}
	f.Detail = s.Level.Words() + ": " + strings.TrimSpace(s.Title+" "+s.Version) + ", " + s.Evidence()
	for _, reason := range s.Reasons {
		if !slices.ContainsFunc(s.findings, func(f bridge.Finding) bool { return f.Detail == reason }) {
			f.Detail += "; " + reason
		}
	}
	switch {
	case required != "" && !s.Level.AtLeast(required):
		f.Status = bridge.FindingFailed
	case !s.Level.AtLeast(LevelPartly):
		f.Status = bridge.FindingWarning
	}
	return f
}

// add records a finding, which is also a reason for the level. Its fix becomes
// the fix of the agent if nothing worse has one.
func (s *surveyed) add(check string, status bridge.FindingStatus, detail, fix string) {
	s.findings = append(s.findings, bridge.Finding{Check: check, Status: status, Detail: detail, Fix: fix})
	s.reason(detail)
	if fix != "" && (s.Fix == "" || status == bridge.FindingFailed) {
		s.Fix = fix
	}
}

// reason records a reason that the doctor does not show, because it is not a
// problem of the installation.
func (s *surveyed) reason(text string) {
	if !slices.Contains(s.Reasons, text) {
		s.Reasons = append(s.Reasons, text)
	}
}

// readSettings decodes a settings file. It reports false if there is none, or
// if it cannot be read, which it then records.
func (s *surveyed) readSettings(check, path string, v any) bool {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		raw, err = hujson.Standardize(raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		s.add(check, bridge.FindingWarning, path+" is not valid JSON, so the agent may ignore it", "correct the file")
		return false
	}
	s.removedNames(check, path, raw)
	return true
}

// removedNames records the removed flags and commands with which a settings file
// starts nod.
func (s *surveyed) removedNames(check, path string, raw []byte) {
	var settings any
	_ = json.Unmarshal(raw, &settings) // was decoded before
	for _, words := range commandLines(settings) {
		_, gone := removed.Cut(words, func(string) bool { return false })
		flags := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") })
		if flags < 0 {
			flags = len(words)
		}
		if row, ok := removed.Find(removed.Command, strings.Join(words[:flags], " ")); ok {
			gone = append(gone, row)
		}
		for _, row := range gone {
			f := bridge.Finding{
				Check: check, Status: bridge.FindingWarning, Fix: row.Instead,
				Detail: path + " starts nod with " + row.Name[strings.LastIndexByte(row.Name, ' ')+1:] + ", which was removed",
			}
			if !slices.Contains(s.findings, f) {
				s.findings = append(s.findings, f) // its fix does not change the level
				s.reason(f.Detail)
			}
		}
	}
}
