package bridge

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// CoverageLevel is the extent to which the tool calls of an agent need a person.
type CoverageLevel string

// The levels, from worst to best.
const (
	CoverageOpen   CoverageLevel = "open"   // a gate is configured, but the tool runs if the gate fails
	CoverageNone   CoverageLevel = "none"   // nod does not see the tool calls
	CoveragePartly CoverageLevel = "partly" // nod sees some of the tool calls
	CoverageGated  CoverageLevel = "gated"  // no tool that changes anything runs without a person, even if nod fails
)

// coverageLevels lists the levels from worst to best.
var coverageLevels = []CoverageLevel{CoverageOpen, CoverageNone, CoveragePartly, CoverageGated}

// rank returns the position of the level, or -1 if it is unknown.
func (l CoverageLevel) rank() int {
	for n, known := range coverageLevels {
		if l == known {
			return n
		}
	}
	return -1
}

// Valid reports whether the level is known.
func (l CoverageLevel) Valid() bool { return l.rank() >= 0 }

// AtLeast reports whether the level is as good as another one. An unknown level
// is not.
func (l CoverageLevel) AtLeast(other CoverageLevel) bool {
	return l.Valid() && l.rank() >= other.rank()
}

// Words returns the level for people.
func (l CoverageLevel) Words() string {
	return map[CoverageLevel]string{
		CoverageOpen: "fails open", CoverageNone: "not at all", CoveragePartly: "partly", CoverageGated: "gated",
	}[l]
}

// AgentCoverage describes which tool calls of an installed agent need a person.
type AgentCoverage struct {
	Agent   string        `json:"agent"`             // name in commands, such as claude
	Title   string        `json:"title"`             // name of the product
	Version string        `json:"version,omitempty"` // installed version; empty if unknown
	Level   CoverageLevel `json:"level"`
	// Reasons explains the level.
	Reasons []string `json:"reasons"`
	// Fix is the instruction that improves the level. It is empty if there is
	// none.
	Fix string `json:"fix,omitempty"`
	// Tested is the version of the program with which the behavior was tested.
	// It is empty if the behavior is known only from the documentation.
	Tested string `json:"tested,omitempty"`
}

// Evidence describes how the behavior of the agent is known.
func (a AgentCoverage) Evidence() string {
	switch {
	case a.Tested == "":
		return "from its documentation"
	case a.Version == "" || a.Version == a.Tested:
		return "tested with " + a.Tested
	}
	return "tested with " + a.Tested + ", not with " + a.Version
}

// HostCoverage describes the agents that one user has on one host.
type HostCoverage struct {
	Host string `json:"host"`
	User string `json:"user,omitempty"` // account of the operating system
	// Reporter is the agent whose token reported it. The daemon sets it, and the
	// time At.
	Reporter string          `json:"reporter,omitempty"`
	At       time.Time       `json:"at,omitzero"`
	Program  string          `json:"program,omitempty"` // version of nod on the host
	Agents   []AgentCoverage `json:"agents"`
}

// Limits of the coverage that hosts report.
const (
	MaxHosts      = 1000                // reports that are kept
	HostRetention = 30 * 24 * time.Hour // time after which a report is dropped
	maxHostAgents = 50
	maxReasons    = 100
)

// Hosts stores the coverage that hosts report.
type Hosts interface {
	// PutHost stores a report in place of the earlier one of the same reporter,
	// host and user. It returns CodeRateLimited if MaxHosts others are kept.
	PutHost(context.Context, HostCoverage) error
	// ListHosts returns the reports that are not older than HostRetention, in no
	// order.
	ListHosts(context.Context) ([]HostCoverage, error)
}

// Check returns CodeInvalid if a report that came from a host is malformed.
func (h HostCoverage) Check() error {
	if err := checkHostText("host", h.Host, true); err != nil {
		return err
	}
	if len(h.Agents) > maxHostAgents {
		return Errorf(CodeInvalid, "agents: too many (at most %d)", maxHostAgents)
	}
	for name, text := range map[string]string{"user": h.User, "program": h.Program} {
		if err := checkHostText(name, text, false); err != nil {
			return err
		}
	}
	for n, a := range h.Agents {
		field := "agents[" + strconv.Itoa(n) + "]."
		if !a.Level.Valid() {
			return Errorf(CodeInvalid, "%slevel: unknown level %q (levels: open, none, partly, gated)", field, a.Level)
		}
		if err := a.check(field); err != nil {
			return err
		}
	}
	return nil
}

func (a AgentCoverage) check(field string) error {
	if len(a.Reasons) > maxReasons {
		return Errorf(CodeInvalid, "%sreasons: too many (at most %d)", field, maxReasons)
	}
	if err := checkHostText(field+"agent", a.Agent, true); err != nil {
		return err
	}
	for _, text := range append([]string{a.Title, a.Version, a.Fix, a.Tested}, a.Reasons...) {
		if err := checkHostText(strings.TrimSuffix(field, "."), text, false); err != nil {
			return err
		}
	}
	return nil
}

func checkHostText(field, text string, required bool) error {
	if text == "" && required {
		return Errorf(CodeInvalid, "%s: required", field)
	}
	return CheckText(field, text, 1000)
}
