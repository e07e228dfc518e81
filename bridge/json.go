package bridge

import (
	"errors"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// exactJSON bounds the JSON that people decide on.
var exactJSON = strictjson.Limits{Depth: 512, Exact: true}

// CheckJSON returns CodeInvalid unless raw is exactly one JSON value that every
// reader understands in the same way. It refuses a duplicate name, half a
// surrogate pair, and a number that a double does not hold exactly.
func CheckJSON(raw []byte) error {
	err := exactJSON.Check(raw)
	if err == nil {
		return nil
	}
	refused := Errorf(CodeInvalid, "json: %s", err)
	if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Path != "" {
		refused.Message = e.Error()
	}
	if errors.Is(err, strictjson.ErrInexact) {
		refused.Hint = "send it as a string"
	}
	return refused
}
