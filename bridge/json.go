package bridge

import (
	"errors"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// exactJSON limits the JSON that people decide on.
var exactJSON = strictjson.Limits{Depth: 512, Exact: true}

// CheckJSON returns CodeInvalid unless raw is exactly one JSON value that every
// parser reads in the same way. It rejects duplicate names, unpaired
// surrogates, and numbers that a float64 cannot represent exactly.
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
