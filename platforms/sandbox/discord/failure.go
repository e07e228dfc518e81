package discord

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// failure is an error of the API. Code 0 means that the error has no JSON code.
type failure struct {
	status  int
	code    int
	message string
	errors  raw.Object
}

func (f *failure) write(rw http.ResponseWriter) {
	o := raw.Object{"code": f.code, "message": f.message}
	if f.errors != nil {
		o["errors"] = f.errors
	}
	answer(rw, f.status, o)
}

// answer writes JSON without a charset, like Discord.
func answer(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	raw.Write(rw, status, v)
}

// Errors of the API:
// docs.discord.com/developers/topics/opcodes-and-status-codes.
var (
	notFound           = &failure{404, 0, "404: Not Found", nil}
	unknownChannel     = &failure{404, 10003, "Unknown Channel", nil}
	unknownGuild       = &failure{404, 10004, "Unknown Guild", nil}
	unknownMember      = &failure{404, 10007, "Unknown Member", nil}
	unknownMessage     = &failure{404, 10008, "Unknown Message", nil}
	unknownUser        = &failure{404, 10013, "Unknown User", nil}
	unknownInteraction = &failure{404, 10062, "Unknown interaction", nil}
	acknowledged       = &failure{400, 40060, "Interaction has already been acknowledged.", nil}
	noAccess           = &failure{403, 50001, "Missing Access", nil}
	notOwn             = &failure{403, 50005, "Cannot edit a message authored by another user", nil}
	emptyMessage       = &failure{400, 50006, "Cannot send an empty message", nil}
	cannotSend         = &failure{400, 50007, "Cannot send messages to this user", nil}
	notAllowed         = &failure{403, 50013, "Missing Permissions", nil}
	tooManyEdits       = &failure{
		429, 30046, "Maximum number of edits to messages older than 1 hour reached. Try again later", nil,
	}
	threadArchived = &failure{400, 50083, "Thread is archived", nil}
	threadLocked   = &failure{400, 160005, "Thread is locked", nil}
	badToken       = &failure{401, 50027, "Invalid Webhook Token", nil}
	hasThread      = &failure{400, 160004, "A thread has already been created for this message", nil}
	internalError  = &failure{500, 0, "500: Internal Server Error", nil}
)

// injected returns the error in a fault: a JSON code with its message, such as
// "10003 Unknown Channel", or the error of an HTTP status.
func injected(status int, name string) *failure {
	number, message, _ := strings.Cut(name, " ")
	code, err := strconv.Atoi(number)
	if err != nil || code < 1000 { // an HTTP status has no JSON code
		if err == nil {
			status = code
		}
		return &failure{status, 0, fmt.Sprintf("%d: %s", status, http.StatusText(status)), nil}
	}
	status, fits := statusOf[code]
	if !fits {
		status = http.StatusBadRequest
	}
	return &failure{status, code, message, nil}
}

// statusOf maps JSON codes to HTTP statuses other than 400. The documentation
// does not list them. The sources are the errors above and reports of
// developers.
var statusOf = map[int]int{
	10003: 404, 10004: 404, 10007: 404, 10008: 404, 10011: 404, 10013: 404, 10015: 404, 10062: 404, 10063: 404,
	20016: 429, 20028: 429, 20029: 429, 30046: 429, 40001: 401, 40062: 429, 50001: 403, 50005: 403, 50007: 403,
	50013: 403, 50014: 401, 50027: 401, 50278: 403, 130000: 503,
}

// invalid returns "Invalid Form Body" with one error at a dotted path.
func invalid(path, code, message string) *failure {
	leaf := raw.Object{"_errors": []any{raw.Object{"code": code, "message": message}}}
	parts := strings.Split(path, ".")
	for n := len(parts) - 1; n >= 0; n-- {
		leaf = raw.Object{parts[n]: leaf}
	}
	return &failure{400, 50035, "Invalid Form Body", leaf}
}
