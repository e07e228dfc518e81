package documents

import (
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// idForm is the form of an ID in an order: a time in ms, and a number.
var idForm = lazyregexp.New(`^\d{1,15}-\d{1,15}$`)

// IsID reports whether a text can be the ID of an entry of a journal.
func IsID(s string) bool { return idForm.MatchString(s) }

// TimeOf returns the time in ms with which the ID of an entry starts.
func TimeOf(id string) int64 {
	ms, _, _ := strings.Cut(id, "-")
	at, _ := strconv.ParseInt(ms, 10, 64) // the store writes it
	return at
}
