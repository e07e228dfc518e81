package api

import (
	"net/http"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Headers that identify a call; see [bridge.CallID].
const (
	keyHeader        = "Idempotency-Key"
	callerHeader     = "Nod-Caller"
	callHeader       = "Nod-Call"
	connectionHeader = "Nod-Connection"
)

// doubtHeader holds a reason why no rule may allow the operation of a call.
// Only the machine of the agent can know it; see [bridge.Act].
const doubtHeader = "Nod-Doubt"

// doubtsOf returns the doubts of a call.
func doubtsOf(r *http.Request) ([]string, error) {
	doubts := r.Header.Values(doubtHeader)
	for _, d := range doubts {
		if err := bridge.CheckText(doubtHeader, d, bridge.MaxText); err != nil {
			return nil, err
		}
	}
	return doubts, nil
}

// callOf returns the identity of the call in the headers of a request.
func callOf(r *http.Request) (bridge.CallID, error) {
	for name, longest := range map[string]int{keyHeader: 200, callerHeader: 200, callHeader: 1000, connectionHeader: 200} {
		switch all := r.Header.Values(name); {
		case len(all) > 1:
			return bridge.CallID{}, bridge.Errorf(bridge.CodeInvalid, "%s: sent %d times; send it once", name, len(all))
		case len(all) == 1 && strings.TrimSpace(all[0]) == "":
			return bridge.CallID{}, bridge.Errorf(bridge.CodeInvalid, "%s: empty; send a value, or omit the header", name)
		}
		if err := bridge.CheckText(name, r.Header.Get(name), longest); err != nil {
			return bridge.CallID{}, err
		}
	}
	return bridge.CallID{
		Key: r.Header.Get(keyHeader), Caller: r.Header.Get(callerHeader),
		ID: dialect.CallID("call", r.Header.Get(callHeader)), Connection: r.Header.Get(connectionHeader),
	}, nil
}

// repeated is the body for a call with a key whose answer was already sent.
// Unlike a record, it has neither a state nor a response.
type repeated struct {
	Repeated    bool               `json:"repeated"`
	Interaction bridge.Interaction `json:"interaction"`
}
