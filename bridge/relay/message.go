package relay

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// maxLine bounds a message, in bytes.
const maxLine = 32 << 20

// limits of a message. The output of a tool may be deeper than its input.
var limits = strictjson.Limits{Depth: 500, Bytes: maxLine}

// Message is a JSON-RPC message. Codex omits the version.
type Message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// IsRequest reports whether its sender expects a response.
func (m Message) IsRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// IsResponse reports whether it responds to a request.
func (m Message) IsResponse() bool { return m.Method == "" }

// The codes of JSON-RPC errors.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
)

// rpcError is the error member of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e rpcError) Error() string { return e.Message }

// nullID is the ID of a response to a message whose own ID is not known.
var nullID = json.RawMessage("null")

// failure is the response that refuses a request.
func failure(id json.RawMessage, code int, text string) Message {
	if len(id) == 0 {
		id = nullID
	}
	raw, err := json.Marshal(rpcError{code, "nod: " + text})
	if err != nil {
		raw = json.RawMessage(`{"code":-32603,"message":"nod: internal error"}`) // a number and a text always marshal
	}
	return Message{Version: "2.0", ID: id, Error: raw}
}

// encode writes a value as one line that has one meaning.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return limits.Compact(b.Bytes())
}

// parse reads a message. A strict one has a version and no member that
// JSON-RPC does not define. Otherwise the version may be missing, and unknown
// members are dropped unless the message is about one of the decisive methods.
// The forwarded message is made from the fields, never from the line.
func parse(line []byte, strict bool, decisive func(method string) bool) (Message, error) {
	line, err := limits.Compact(line)
	if err != nil {
		return Message{}, rpcError{codeParse, "the message " + err.Error()}
	}
	var w struct {
		Message
		Trace json.RawMessage `json:"trace"` // Codex adds it; it is not forwarded
	}
	if err := limits.Decode(line, &w); err != nil {
		return Message{}, rpcError{codeRequest, "the message: " + err.Error()}
	}
	m := w.Message
	if strict && len(w.Trace) > 0 {
		return Message{}, rpcError{codeRequest, `the message: unknown member "trace"`}
	}
	if strict || decisive(m.Method) {
		w.Message = Message{}
		if err := limits.DecodeKnown(line, &w); err != nil {
			return Message{}, rpcError{codeRequest, "the message: " + err.Error()}
		}
	}
	if err := m.checkShape(strict); err != nil {
		return Message{}, err
	}
	if isNull(m.ID) && len(m.Error) > 0 {
		return m, nil // a response to a message that could not be read
	}
	if len(m.ID) > 0 {
		if m.ID = cleanID(m.ID); m.ID == nil {
			return Message{}, rpcError{codeRequest, "id is neither a string nor an integer"}
		}
	}
	return m, nil
}

// checkShape returns an error unless the message is exactly one of a request, a
// result and an error, of version 2.0. Only a strict one has to name the version.
func (m Message) checkShape(strict bool) error {
	request, result, failed := m.Method != "", len(m.Result) > 0, len(m.Error) > 0
	switch {
	case m.Version != "2.0" && (strict || m.Version != ""):
		return rpcError{codeRequest, `jsonrpc is not "2.0"`}
	case request && (result || failed), result && failed, !request && len(m.Params) > 0:
		return rpcError{codeRequest, "the message is more than one of request, result and error"}
	case !request && (len(m.ID) == 0 || !result && !failed):
		return rpcError{codeRequest, "the message is neither a request nor a response"}
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// maxID bounds an ID, in bytes.
const maxID = 256

// integerID matches the integers that every reader takes for the same one.
var integerID = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14})$`)

// cleanID returns an ID in its only spelling, or nil for a value that is not
// an ID.
func cleanID(raw json.RawMessage) json.RawMessage {
	raw, err := strictjson.Limits{Bytes: maxID}.Compact(raw)
	if err != nil || len(raw) == 0 || raw[0] != '"' && !integerID.Match(raw) {
		return nil
	}
	return raw
}

// peek reads from a line that was refused only what is needed to tell its
// sender so: a decoder that accepts more than parse is enough for that.
func peek(line []byte) Message {
	var m Message
	if json.Unmarshal(line, &m) != nil {
		return Message{}
	}
	m.ID = cleanID(m.ID)
	if m.Version != "2.0" {
		m.Version = ""
	}
	return m
}

// isAnswer reports whether a message that was refused seems to be a response.
func (m Message) isAnswer() bool { return m.Method == "" && (len(m.Result) > 0 || len(m.Error) > 0) }

// requestID reads the member requestId of the parameters of a notification.
func requestID(params json.RawMessage) json.RawMessage {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if limits.Decode(params, &p) != nil {
		return nil
	}
	return cleanID(p.ID)
}

// members reads an object whose members are its parts.
func members(raw json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return out, nil
	}
	if raw[0] != '{' {
		return nil, bridge.Errorf(bridge.CodeInvalid, "is not an object")
	}
	return out, limits.Decode(raw, &out)
}

// withMember sets a member of nested objects and keeps the others. A value
// that is not an object stays unchanged.
func withMember(object, value json.RawMessage, at ...string) json.RawMessage {
	m, err := members(object)
	if err != nil {
		return object
	}
	if len(at) > 1 {
		value = withMember(m[at[0]], value, at[1:]...)
	}
	m[at[0]] = value
	b, err := encode(m)
	if err != nil {
		return object // parts that were decoded before always encode
	}
	return b
}
