package broker

import (
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// recordField is a field of the hash that stores a record.
type recordField struct {
	name    string // '#' is the index of a destination or a reminder
	format  string
	meaning string
	// decode sets the field of the record. It is not called for an empty value,
	// and it is nil for a field that only the scripts read.
	decode func(*decoder, string) error
}

// Names of the fields that are also read separately.
const (
	fieldOpened   = "req"
	fieldPacked   = "c"
	fieldState    = "st"
	fieldResponse = "res"
	fieldQueued   = "q"
)

// recordFields lists all fields of a record, in the order in which they are
// decoded. lua/base.lua has the same list for readers of the scripts.
var recordFields = []recordField{
	{fieldOpened, "JSON", "the interaction as it was opened", decodeOpened},
	{"cur", "JSON", "the interaction as it was changed since", decodeCurrent},
	{fieldPacked, "packed", "the values that scripts read of every record; see pack", decodePacked},
	{fieldState, "text", "the final state; absent while it is pending", decodeState},
	{"at", "ms", "when it was resolved", nil},
	{fieldResponse, "JSON", "the response", decodeResponse},
	{"n", "text", "the nonce of the settlement that won", nil},
	{"nw", "flag", "no one waited for the response when it came", decodeUnawaited},
	{"to", "JSON", "the response at the deadline", nil},
	{"tq", "JSON", "the response at the end of the hold", nil},
	{"se", "text", "the session", nil},
	{"x", "JSON", "the correlation ids of its events", nil},
	{"cl", "list", "the callers that wait, '*' for one without an ID; see mark.lua", nil},
	{"w", "list", "the channels of the daemons whose callers wait", nil},
	{fieldQueued, "ms", "when it was deferred", decodeQueued},
	{"hq", "text", "the proof of the length of its hold", decodeHeld},
	{"sn", "ms", "when the response was first sent to a caller", decodeSent},
	{"sc", "text", "the caller that got it, if no other may", nil},
	{"dv", "ms", "when the response was delivered to the agent", decodeDelivered},
	{"co", "JSON", "the result that the agent reported", decodeCompletion},
	{"rev", "number", "the number of changes that its messages show", decodeRevision},
	{"jn", "number", "the number of duplicates that joined it", decodeJoined},
	{"av", "number", "the number of amendments", decodeAmended},
	{"sp", "number", "the next step of its escalation", decodeStep},
	{"rn", "number", "the number of reminders", decodeReminders},
	{"vs", "votes", "the votes so far; see vote.lua", decodeVoted},
	{"an", "id", "its entry in the journal", decodeAudit},
	{"rt", "id", "the first round, whose messages show this one", nil},
	{"nx", "id", "the next round", decodeNext},
	{"hd", "id", "the last round, on the first", decodeHead},
	{"m#", "JSON", "the message at a destination", decodeMessage},
	{"f#", "text", "the reason that a destination could not be reached", decodeFailure},
	{"l#", "ms", "when a rate-limited destination is expected to be posted to", decodeLate},
	{"s#", "text", "the digest of the content that a destination shows in full", decodeShown},
	{"p#", "lines", "the digest of the content being sent, and each part sent so far", decodeParts},
	{"r#", "JSON", "a reminder", decodeReminder},
}

// decoded lists the fields with one value that are decoded. numbered has the
// fields with an index, by the letter before the index.
var decoded, numbered = func() ([]recordField, map[byte]recordField) {
	var one []recordField
	many := map[byte]recordField{}
	for _, f := range recordFields {
		switch {
		case strings.HasSuffix(f.name, "#"):
			many[f.name[0]] = f
		case f.decode != nil:
			one = append(one, f)
		}
	}
	return one, many
}()

// recordVersion is the version of the records that the scripts write; see pack in
// lua/lib.lua. A record of another version is refused.
const recordVersion = "1"

// read decodes a record that was read.
func read(id bridge.ID, fields *redis.MapStringStringCmd) (bridge.Record, error) {
	f, err := fields.Result()
	if err != nil {
		return bridge.Record{}, unavailable(err)
	}
	return decodeRecord(id, f)
}

func decodeRecord(id bridge.ID, f map[string]string) (bridge.Record, error) {
	if f[fieldOpened] == "" {
		return bridge.Record{}, bridge.NotFound(id)
	}
	d := &decoder{id: id, fields: f, Record: bridge.Record{State: bridge.StatePending, Revision: 1}}
	for _, field := range decoded {
		if v := f[field.name]; v != "" || field.name == fieldPacked {
			if err := field.decode(d, v); err != nil {
				return d.Record, err
			}
		}
	}
	for name, v := range f {
		if len(name) < 2 || name[1] < '0' || name[1] > '9' { // an error of Atoi costs more
			continue
		}
		n, err := strconv.Atoi(name[1:])
		field, known := numbered[name[0]]
		if err != nil || n < 0 || !known {
			continue
		}
		d.index = n
		if err := field.decode(d, v); err != nil {
			return d.Record, err
		}
	}
	return d.Record, nil
}

// data returns v as JSON. It must be one of the plain structs of nod, which
// always marshal.
func data(v any) []byte {
	out, _ := bridge.EncodeJSON(v)
	return out
}
