package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Kinds of exchanges.
const (
	ByBot     = "call"   // a call of a bot that the service accepted
	ToService = "answer" // the answer of a bot to an event
	ToBot     = "event"  // an event that the service sent to a bot
)

// RecordVariable is the environment variable with the path of the file for
// Recording.
const RecordVariable = "NOD_SANDBOX_RECORD"

// exchange is one line of a recording.
type exchange struct {
	Kind    string `json:"kind"`
	Service string `json:"service"`
	Method  string `json:"method"`
	Payload any    `json:"payload,omitempty"`
	Answer  any    `json:"answer,omitempty"` // the service's response to a call
	Shape   string `json:"shape"`            // equal for exchanges that differ only in IDs and numbers
}

// Recorder writes the messages between bots and services as JSON lines, for
// validators that know the services. It writes one exchange of each shape. A
// nil Recorder discards everything. A Recorder is safe for concurrent use.
type Recorder struct {
	mu   sync.Mutex
	out  io.Writer
	seen map[string]bool
}

// NewRecorder returns a recorder that writes to out.
func NewRecorder(out io.Writer) *Recorder { return &Recorder{out: out, seen: map[string]bool{}} }

// Recording returns the recorder of this process. It appends to the file in the
// environment variable NOD_SANDBOX_RECORD. It returns nil if the variable is
// empty. It panics if the file cannot be opened.
var Recording = sync.OnceValue(func() *Recorder {
	path := os.Getenv(RecordVariable)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic("sandbox: " + err.Error())
	}
	return NewRecorder(f)
})

// Watch copies the payload of a call before the service reads it. If the
// service accepts the call, the caller must pass the response to the returned
// function.
func (r *Recorder) Watch(service, method string, payload any) (accepted func(answer any)) {
	if r == nil {
		return func(any) {}
	}
	sent := encode(payload)
	return func(answer any) {
		r.write(exchange{Kind: ByBot, Service: service, Method: method, Payload: sent, Answer: encode(answer)})
	}
}

// Note records an event or the response to an event.
func (r *Recorder) Note(kind, service, method string, payload any) {
	if r != nil {
		r.write(exchange{Kind: kind, Service: service, Method: method, Payload: encode(payload)})
	}
}

// encode returns the JSON of a value, or nil if the value cannot be encoded.
func encode(v any) json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil || bytes.Equal(encoded, []byte("null")) {
		return nil
	}
	return encoded
}

func (r *Recorder) write(x exchange) {
	x.Shape = shape(x)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[x.Shape] {
		return
	}
	r.seen[x.Shape] = true
	encoded, err := json.Marshal(x)
	if err != nil {
		panic("sandbox: an exchange does not marshal: " + err.Error())
	}
	if _, err := r.out.Write(append(encoded, '\n')); err != nil {
		panic("sandbox: record: " + err.Error())
	}
}

var (
	// opaque matches fields whose strings only a bot or a service understands.
	opaque = lazyregexp.New(`"(action_id|block_id|callback_data|callback_id|callback_query_id|client_msg_id|custom_id|` +
		`data|event_id|external_id|file_id|file_unique_id|hash|id|nonce|private_metadata|response_url|root_view_id|` +
		`token|trigger_id|value|view_id)":"[^"]*"`)
	// serial matches numbers and identifiers.
	serial = lazyregexp.New(`[0-9a-f]{8,}|[0-9]+`)
)

// shape returns a digest of an exchange without its IDs and numbers.
func shape(x exchange) string {
	encoded, err := json.Marshal(x)
	if err != nil {
		panic("sandbox: an exchange does not marshal: " + err.Error())
	}
	encoded = opaque.ReplaceAll(encoded, []byte(`"$1":""`))
	encoded = serial.ReplaceAll(encoded, []byte("0"))
	return fmt.Sprintf("%x", sha256.Sum256(encoded))[:16]
}
