package bridge

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ID identifies an interaction. It is a UUIDv7 in the usual text form.
// Knowledge of an ID does not authorize anything.
type ID string

// NewID returns a new ID.
func NewID() (ID, error) {
	u, err := uuid.NewV7()
	if err != nil {
		return "", Wrap(CodeInternal, err, "create ID")
	}
	return ID(u.String()), nil
}

// ParseID parses the text form of an ID. It returns CodeInvalid for any other
// text.
func ParseID(s string) (ID, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 || u.Version() != 7 {
		return "", Errorf(CodeInvalid, "id: not an interaction ID").WithHint("use an ID such as 0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03")
	}
	return ID(u.String()), nil
}

// Time returns the time when the ID was created, in milliseconds, by the clock
// of the process that created it. It returns the zero time for a malformed ID.
func (id ID) Time() time.Time {
	raw, ok := id.bytes()
	if !ok {
		return time.Time{}
	}
	var ms [8]byte
	copy(ms[2:], raw[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC()
}

// Short returns the last digits of the ID, for people. Several IDs can share
// them.
func (id ID) Short() string {
	s := string(id)
	if n := len(s) - 8; n >= 0 && strings.IndexByte(s[n:], '-') < 0 {
		return s[n:]
	}
	s = strings.ReplaceAll(s, "-", "")
	if len(s) < 8 {
		return s
	}
	return s[len(s)-8:]
}

// bytes returns the 16 raw bytes.
func (id ID) bytes() ([16]byte, bool) {
	u, err := uuid.Parse(string(id))
	return u, err == nil
}

// Newest selects the newest of a list of IDs.
const Newest = "last"

// MinPart is the minimum length of the start or the end of an ID that people
// can enter instead of the ID.
const MinPart = 4

// Expand returns the ID that a person means by s. The IDs are sorted from new
// to old. The result is the ID s itself, the only ID that starts or ends with
// s, or the first ID if s is the word last. Expand returns CodeNotFound if no
// ID matches, and CodeInvalid if several match.
func Expand[T ~string](s string, ids []T) (T, error) {
	var found []T
	s = strings.TrimSpace(s)
	lower := strings.ToLower(s)
	for _, id := range ids {
		switch {
		case strings.EqualFold(string(id), s):
			return id, nil
		case s == Newest, len(s) < MinPart, slices.Contains(found, id):
		case strings.HasPrefix(strings.ToLower(string(id)), lower), strings.HasSuffix(strings.ToLower(string(id)), lower):
			found = append(found, id)
		}
	}
	switch {
	case s == Newest && len(ids) > 0:
		return ids[0], nil
	case len(found) == 0:
		return "", Errorf(CodeNotFound, "%q not found", s)
	case len(found) > 1:
		return "", Errorf(CodeInvalid, "several IDs start or end with %q, such as %s and %s", s, found[0], found[1]).
			WithHint("enter more characters of the ID")
	}
	return found[0], nil
}

// NewSecret returns a secret for a link.
func NewSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// HashText returns the SHA-256 hash of a text in hex. It is part of the key of
// a note about a secret.
func HashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
