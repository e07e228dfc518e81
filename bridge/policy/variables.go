package policy

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// assigns reports whether an assignment is known not to change which programs
// run. Programs see the variable only if it is exported.
func (q *inquiry) assigns(a *syntax.Assign, exported bool) bool {
	text := ""
	if a.Value != nil {
		text = wordText(a.Value)
	}
	whole := text
	if a.Append {
		whole = one + text
	}
	switch {
	case a.Name == nil || a.Index != nil || !isOrdinary(a.Name.Value, text, exported) || q.names(whole):
		return false
	case a.Value != nil && !q.node(a.Value, false):
		return false
	}
	q.value(text)
	if exported && settingsVariable.MatchString(a.Name.Value) {
		q.ran = append(q.ran, text)
	}
	return a.Array == nil || q.node(a.Array, false)
}

// Variables that do not change which programs run. Other variables do: shells
// read some of them, such as PATH, and programs may take commands from some,
// such as PAGER.
var (
	shellVariable = lazyregexp.New(`^([a-z][a-z0-9_]*|[A-Z]{1,3}[0-9]*)$`)
	oddVariables  = set("path fpath cdpath manpath module_path mailpath argv prompt psvar histchars functions aliases galiases saliases options commands IFS ENV PWD PS1 PS2 PS3 PS4 CC CXX LD AR AS UID GID")
	dataVariable  = lazyregexp.New(`^([A-Z0-9]+_)*(DIR|FILE|ID|URL|HOST|PORT|NAME|EMAIL|DATE|TOKEN|KEY|COUNT|VERSION|LEVEL|LOG|LOGS|OUT|SRC|BASE|ROOT|TMP|BEFORE|AFTER|RESULT|USER|BRANCH|COMMIT|TAG|SHA|MODE|TZ|LANG)$`)
	plainValue    = lazyregexp.New(`^([0-9.]*|true|false|cat|yes|no|on|off|test|testing|development|dev|production|prod|staging|local|debug|info|warn|error|linux|darwin|windows|amd64|arm64|UTC|C|never|always)$`)
)

// settingsVariable matches variables that name a file with settings.
var settingsVariable = lazyregexp.New(`CONFIG|CREDENTIALS|SETTINGS`)

// startVariable matches variables that contain the directories and files of
// programs and their settings.
var startVariable = lazyregexp.New(`^npm_config_|(^|_)(PATH|HOME|SHELL|BASH_ENV)$|^(LD|DYLD)_|ZDOTDIR$|^PYTHONINSPECT$|^GIT_\w*DIR$|^(GH|GIT)_CONFIG|_INI_`)

// isOrdinary reports whether a variable with this value does not change which
// programs run.
func isOrdinary(name, value string, exported bool) bool {
	switch {
	case name == "IFS":
		return exported
	case oddVariables[name] || startVariable.MatchString(name):
		return false
	}
	return plainValue.MatchString(value) && value != "" || dataVariable.MatchString(name) || !exported && shellVariable.MatchString(name)
}

// value records the value of a variable.
func (q *inquiry) value(text string) {
	q.values = append(q.values, text)
	q.dashes = q.dashes || dash.MatchString(text)
	q.code = q.code || evaluable.MatchString(text)
	q.open = q.open || isOpen(text)
}

// dash matches values that may be or contain an option. The values of variables
// in them are checked too.
var dash = lazyregexp.New(`(^|[\s\x01\x02])-`)

// evaluable matches texts that a shell or make may evaluate.
var evaluable = lazyregexp.New("[;&|`$()<>\"'\\\\\\n]")
