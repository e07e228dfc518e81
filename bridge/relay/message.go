package relay

import (
	"bytes"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// maxLine limits a message, in bytes. Results of tools can be pictures and files.
const maxLine = 128 << 20

// limits are the limits of a message. Tool output may be nested deeper than
// tool input.
var limits = strictjson.Limits{Depth: 500, Bytes: maxLine}

// Message is a JSON-RPC message. Codex omits the version.
type Message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
	// repaired means that the line contained bytes that JSON cannot represent.
	repaired bool
}

// IsRequest reports whether the sender expects a response.
func (m Message) IsRequest() bool { return m.Method != "" && len(m.ID) > 0 }

// IsResponse reports whether the message responds to a request.
func (m Message) IsResponse() bool { return m.Method == "" }

// JSON-RPC error codes.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
)

// rpcError is the error of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e rpcError) Error() string { return e.Message }

// nullID is the ID of a response to a message whose own ID is unknown.
var nullID = json.RawMessage("null")

// failure returns the response that refuses a request.
func failure(id json.RawMessage, code int, text string) Message {
	if len(id) == 0 {
		id = nullID
	}
	raw, err := json.Marshal(rpcError{code, "nod: " + text})
	if err != nil {
		raw = json.RawMessage(`{"code":-32603,"message":"nod: internal error"}`) // numbers and strings always encode
	}
	return Message{Version: "2.0", ID: id, Error: raw}
}

// encode returns a value as JSON on one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return limits.Compact(b.Bytes())
}

// parse parses a message. A strict message has a version and only fields that
// JSON-RPC defines. Otherwise, the version may be missing, and unknown fields
// are dropped unless the message has one of the decisive methods. nod encodes
// the forwarded message from its fields, and never copies the line.
func parse(line []byte, strict bool, decisive func(method string) bool) (Message, error) {
	line, err := limits.Compact(line)
	if err != nil {
		return Message{}, rpcError{codeParse, "message: " + err.Error()}
	}
	var w struct {
		Message
		Trace json.RawMessage `json:"trace"` // Codex sends this field, and nod does not forward it
	}
	if err := limits.Decode(line, &w); err != nil {
		return Message{}, rpcError{codeRequest, "message: " + err.Error()}
	}
	m := w.Message
	if strict && len(w.Trace) > 0 {
		return Message{}, rpcError{codeRequest, `message: unknown field "trace"`}
	}
	if strict || decisive(m.Method) {
		w.Message = Message{}
		if err := limits.DecodeKnown(line, &w); err != nil {
			return Message{}, rpcError{codeRequest, "message: " + err.Error()}
		}
	}
	if err := m.checkShape(strict); err != nil {
		return Message{}, err
	}
	if isNull(m.ID) && len(m.Error) > 0 {
		return m, nil // the response to a message that could not be parsed
	}
	if len(m.ID) > 0 {
		if m.ID = cleanID(m.ID); m.ID == nil {
			return Message{}, rpcError{codeRequest, "id: must be a string or a number"}
		}
	}
	return m, nil
}

// checkShape returns an error unless the message is exactly one of a request, a
// result and an error, of version 2.0. Only a strict message must contain the
// version.
func (m Message) checkShape(strict bool) error {
	request, result, failed := m.Method != "", len(m.Result) > 0, len(m.Error) > 0
	switch {
	case m.Version != "2.0" && (strict || m.Version != ""):
		return rpcError{codeRequest, `jsonrpc: must be "2.0"`}
	case request && (result || failed), result && failed, !request && len(m.Params) > 0:
		return rpcError{codeRequest, "message: must be only one of request, result and error"}
	case !request && (len(m.ID) == 0 || !result && !failed):
		return rpcError{codeRequest, "message: must be a request or a response"}
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// maxID limits an ID, in bytes.
const maxID = 256

// cleanID returns an ID with the digits that its sender used. It returns nil if
// the value is not an ID.
func cleanID(raw json.RawMessage) json.RawMessage {
	raw, err := strictjson.Limits{Bytes: maxID}.Compact(raw)
	if err != nil || len(raw) == 0 || raw[0] != '"' && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return nil
	}
	return raw
}

// idKey returns a text that is the same for every notation of an ID. Many
// programs read a number as a double, and return the rounded value.
func idKey(id json.RawMessage) string {
	if canonical, err := strictjson.Canonical(id); err == nil {
		return string(canonical)
	}
	return string(id)
}

// peek parses only the parts of an invalid line that are needed for a response
// to its sender. A lenient decoder is sufficient.
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

// maxEnd is the number of bytes at each end of an overlong line in which nod
// looks for its ID.
const maxEnd = 1 << 10

// Positions of the ID in a line: before or after all other fields, because
// encoders of JSON-RPC write it there.
var (
	firstID = lazyregexp.New(`^\s*\{(?:"jsonrpc":"2\.0",)?"id":("(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+),"(method|result|error)":`)
	lastID  = lazyregexp.New(`,"id":("(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+)(?:,"jsonrpc":"2\.0")?\}\s*$`)
)

// ends returns the fields of a response that the ends of an overlong line show.
func ends(line []byte) Message {
	if at := firstID.FindSubmatch(line); at != nil && string(at[2]) != "method" {
		return Message{Version: "2.0", ID: cleanID(at[1]), Result: nullID}
	}
	if at := lastID.FindSubmatch(line); at != nil && !bytes.Contains(line[:min(len(line), maxEnd)], []byte(`"method":`)) {
		return Message{Version: "2.0", ID: cleanID(at[1]), Result: nullID}
	}
	return Message{}
}

// isAnswer reports whether an invalid message seems to be a response.
func (m Message) isAnswer() bool { return m.Method == "" && (len(m.Result) > 0 || len(m.Error) > 0) }

// requestID returns the field requestId of the parameters of a notification.
func requestID(params json.RawMessage) json.RawMessage {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if limits.Decode(params, &p) != nil {
		return nil
	}
	return cleanID(p.ID)
}

// members decodes an object into its fields.
func members(raw json.RawMessage) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return out, nil
	}
	if raw[0] != '{' {
		return nil, bridge.Errorf(bridge.CodeInvalid, "must be an object")
	}
	return out, limits.Decode(raw, &out)
}

// withMember returns an object in which a field of nested objects is set. A
// value that is not an object is returned unchanged.
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
		return object // encoding decoded values never fails
	}
	return b
}
