package setup

import "slices"

// Level describes how many of an agent's tool calls need a person.
type Level string

// Levels, from worst to best.
const (
	LevelOpen   Level = "open"   // a gate is configured, but the tool runs if the gate fails
	LevelNone   Level = "none"   // nod does not see the tool calls
	LevelPartly Level = "partly" // nod sees some of the tool calls
	LevelGated  Level = "gated"  // no tool that changes anything runs without a person, even if nod fails
)

// Levels lists the levels from worst to best.
var Levels = []Level{LevelOpen, LevelNone, LevelPartly, LevelGated}

// AtLeast reports whether the level is at least as good as another.
func (l Level) AtLeast(other Level) bool {
	return slices.Index(Levels, l) >= slices.Index(Levels, other)
}

// Words returns the description of the level.
func (l Level) Words() string {
	return map[Level]string{LevelOpen: "fails open", LevelNone: "not at all", LevelPartly: "partly", LevelGated: "gated"}[l]
}

// Coverage describes which tool calls of an installed agent need a person.
type Coverage struct {
	Agent   string `json:"agent"`             // name in commands, such as claude
	Title   string `json:"title"`             // name of the product
	Version string `json:"version,omitempty"` // installed version; empty if unknown
	Level   Level  `json:"level"`
	// Reasons explains the level.
	Reasons []string `json:"reasons"`
	// Fix is the instruction that improves the level. It is empty if no fix is
	// known.
	Fix string `json:"fix,omitempty"`
	// Tested is the version of the program with which the behavior was tested.
	// It is empty if the behavior is known only from the documentation.
	Tested string `json:"tested,omitempty"`
}

// Evidence states the source of the facts about the agent.
func (c Coverage) Evidence() string {
	switch {
	case c.Tested == "":
		return "from its documentation"
	case c.Version == "" || c.Version == c.Tested:
		return "tested with " + c.Tested
	}
	return "tested with " + c.Tested + ", not with " + c.Version
}
