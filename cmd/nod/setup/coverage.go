package setup

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// surveyed holds the result of reading the settings of one agent.
type surveyed struct {
	Coverage
	agent    agent
	findings []bridge.Finding
	ours     bool // nod is in the settings
	// redirects maps the variables that a file of the project sets for nod to
	// that file. Such a variable can select another daemon to decide.
	redirects map[string]string
	// ignored lists the files that the agent ignores.
	ignored []string
}

// newSurvey returns an empty survey of the agent.
func (a agent) newSurvey(ctx context.Context) surveyed {
	return surveyed{
		Coverage: Coverage{Agent: a.name, Title: a.title, Version: a.version(ctx), Level: LevelNone, Tested: a.tested},
		agent:    a, redirects: map[string]string{},
	}
}

// survey reads the settings of the installed agents. It returns an error if the
// user has no home directory.
func survey(ctx context.Context) ([]surveyed, error) {
	m, err := thisMachine()
	if err != nil {
		return nil, err
	}
	var out []surveyed
	for _, a := range agents() {
		s := a.survey(ctx, m, a)
		s.unread(m)
		if s.ours && a.ask != nil {
			s.heed(a.ask(ctx, m, a))
		}
		s.foreign()
		if s.ours || a.installed(m) {
			out = append(out, s)
		}
	}
	return out, nil
}

// unread finds nod's entries in the default folder of the settings, if a
// variable has moved the settings elsewhere.
func (s *surveyed) unread(m machine) {
	if s.agent.moved == "" || m.moved(s.agent.moved) == "" {
		return
	}
	former := m
	former.moved = func(string) string { return "" }
	for _, f := range s.agent.edits {
		was, now := f.file(former), f.file(m)
		if was != now && runsNod(was) {
			s.add("", bridge.FindingWarning, s.Title+" does not read "+was+", which has nod's entries: "+s.agent.moved+" moves its settings to "+filepath.Dir(now),
				"run nod init all with "+s.agent.moved+" in the environment")
		}
	}
}

// heed adds the problems that the agent's program reports about files with
// nod's entries.
func (s *surveyed) heed(all []complaint) {
	for _, c := range all {
		if !runsNod(c.path) || slices.ContainsFunc(s.ignored, func(path string) bool { return samePath(path, c.path) }) {
			continue
		}
		status := bridge.FindingWarning
		if c.ignored {
			status = bridge.FindingFailed
			s.ignored = append(s.ignored, c.path)
			s.Level = LevelNone
		}
		s.add("", status, c.path+": "+c.text, "correct the file")
	}
}

// foreign lowers the level if files of the project select the daemon.
func (s *surveyed) foreign() {
	if !s.ours {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.redirects)) {
		s.Level = LevelOpen
		s.add("", bridge.FindingFailed, s.redirects[name]+" sets "+name+" for nod, so a daemon other than yours may decide",
			"remove it there, and set it in your own environment")
	}
}

// examineAgents checks the settings of the coding agents on this machine: which
// tool calls of each agent need a person, and which gates still block if nod
// fails.
func (d *Doctor) examineAgents(ctx context.Context) {
	found, err := survey(ctx)
	if err != nil {
		return // without a home directory, nod finds no settings
	}
	if len(found) > 0 {
		d.examineHook()
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
// are not findings themselves. It fails if the level is below the required one.
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
// the fix of the agent unless a worse finding has one. The check is added to
// the name of the agent's check, and may be empty.
func (s *surveyed) add(check string, status bridge.FindingStatus, detail, fix string) {
	name := "agent." + s.Agent
	if check != "" {
		name += "." + check
	}
	s.findings = append(s.findings, bridge.Finding{Check: name, Status: status, Detail: detail, Fix: fix})
	s.reason(detail)
	if fix != "" && (s.Fix == "" || status == bridge.FindingFailed) {
		s.Fix = fix
	}
}

// reason records a reason for the level that is not a problem with the
// installation.
func (s *surveyed) reason(text string) {
	if !slices.Contains(s.Reasons, text) {
		s.Reasons = append(s.Reasons, text)
	}
}

// readSettings decodes a settings file. It reports false if the file does not
// exist, or if the agent ignores it. In the latter case, it records the file as
// ignored.
func (s *surveyed) readSettings(path string, v any) bool {
	raw, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		s.add("", bridge.FindingWarning, path+" "+err.Error(), "correct the file")
		return false
	}
	if target, out := outside(path); out {
		s.add("", bridge.FindingWarning, path+" is a link to "+target+", outside of this directory", "replace the link with a file")
	}
	settings, readable := lenient(raw)
	lines := commandLines(settings)
	ignored := false
	for _, c := range s.agent.check(path, raw) {
		detail, status := path+" "+c.text, bridge.FindingWarning
		if strings.HasPrefix(c.text, "hooks") {
			detail = path + ": " + c.text
		}
		if ignored = ignored || c.ignored; c.ignored {
			detail += ", so " + s.Title + " ignores the whole file"
			s.ignored = append(s.ignored, path)
		}
		if len(lines) > 0 || strings.Contains(string(raw), " hook "+s.Agent) || strings.Contains(string(raw), hookProgram+" "+s.Agent) || !readable && strings.Contains(string(raw), "nod") {
			status, s.ours = bridge.FindingFailed, true
		}
		s.add("", status, detail, "correct the file")
		if c.ignored {
			break
		}
	}
	if ignored || !readable {
		return false
	}
	plain, err := json.Marshal(settings)
	if err != nil || decode(plain, v) != nil {
		s.add("", bridge.FindingWarning, path+" has an unknown format, so "+s.Title+" may ignore it", "correct the file")
		return false
	}
	s.removedNames(path, lines)
	s.redirected(path, settings, lines)
	return true
}

// lenient decodes JSON with or without comments. If members have the same name,
// the last one wins.
func lenient(raw []byte) (v any, ok bool) {
	raw, err := hujson.Standardize([]byte(strings.TrimPrefix(string(raw), string(byteOrderMark))))
	return v, err == nil && decode(raw, &v) == nil
}

// runsNod reports whether a settings file starts nod.
func runsNod(path string) bool {
	raw, err := ReadFile(path)
	if err != nil {
		return false
	}
	v, readable := lenient(raw)
	return len(commandLines(v)) > 0 || !readable && strings.Contains(string(raw), "nod")
}

// removedNames records the removed flags and commands that a settings file uses
// to start nod.
func (s *surveyed) removedNames(path string, lines [][]string) {
	for _, words := range lines {
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
				Check: "agent." + s.Agent, Status: bridge.FindingWarning, Fix: row.Instead,
				Detail: path + " starts nod with " + row.Name[strings.LastIndexByte(row.Name, ' ')+1:] + ", which was removed",
			}
			if !slices.Contains(s.findings, f) {
				s.findings = append(s.findings, f) // the fix of this finding does not change the level
				s.reason(f.Detail)
			}
		}
	}
}

// localSettings is the settings file in a project that is private to the user.
var localSettings = filepath.Join(".claude", "settings.local.json")

// redirected records the variables and flags in a file that select the daemon
// for nod. Everyone who can write to the repository can change a file of the
// project, and so select the daemon. The user's own files may select any
// daemon.
func (s *surveyed) redirected(path string, settings any, lines [][]string) {
	names := steering(settings)
	for _, words := range lines {
		if slices.ContainsFunc(words, func(w string) bool { return w == "--url" || strings.HasPrefix(w, "--url=") }) {
			names = append(names, "--url")
		}
	}
	for _, name := range names {
		if filepath.IsAbs(path) || path == localSettings {
			delete(s.redirects, name)
		} else {
			s.redirects[name] = path
		}
	}
}

// steering returns the variables in settings that affect nod: nod's own, and
// those with which an attacker could redirect its connection to the daemon.
func steering(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, steering(x)...)
		}
	case map[string]any:
		raw, _ := json.Marshal(v) // was decoded from JSON
		var p process
		if decode(raw, &p) == nil && len(p.words()) > 0 && len(commandLines(v)) == 0 {
			return nil // this is the environment of another program
		}
		for name, x := range v {
			if env, ok := x.(map[string]any); ok && name == "env" {
				for variable := range env {
					if steers(variable) {
						out = append(out, variable)
					}
				}
				continue
			}
			out = append(out, steering(x)...)
		}
	case string:
		if len(commandLines(v)) == 0 {
			return nil
		}
		for word := range strings.FieldsSeq(v) {
			if name, _, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "NOD_") {
				out = append(out, name)
			}
		}
	}
	return out
}

func steers(variable string) bool {
	upper := strings.ToUpper(variable)
	return strings.HasPrefix(upper, "NOD_") ||
		slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_PRELOAD"}, upper)
}
