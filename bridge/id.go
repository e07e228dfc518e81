package bridge

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ID names an interaction: a UUIDv7 in its usual text form. Its last byte
// carries the partition of the store the interaction lives in, so whoever
// holds an id finds the record without a look-up; 66 random bits remain, and
// nothing is authorized by knowing an id.
type ID string

// MaxPartitions is how many partitions the last byte of an ID can name.
const MaxPartitions = 256

// NewID returns a fresh id in the given partition, 0 to MaxPartitions-1.
func NewID(partition int) (ID, error) {
	u, err := uuid.NewV7()
	if err != nil {
		return "", Wrap(CodeInternal, err, "no random numbers for an id")
	}
	u[15] = byte(partition)
	return ID(u.String()), nil
}

// ParseID accepts the text form only. Errors are CodeInvalid.
func ParseID(s string) (ID, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != 36 || u.Version() != 7 {
		return "", Errorf(CodeInvalid, "id: not an interaction id").WithHint("ids look like 0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03")
	}
	return ID(u.String()), nil
}

// Partition is the partition named by the id; 0 for a malformed id.
func (id ID) Partition() int {
	if len(id) != 36 {
		return 0
	}
	b, err := hex.DecodeString(string(id[34:36]))
	if err != nil {
		return 0
	}
	return int(b[0])
}

// Time is when the id was made, in whole ms, by the clock of the process that
// made it; the zero time for a malformed id.
func (id ID) Time() time.Time {
	raw, ok := id.bytes()
	if !ok {
		return time.Time{}
	}
	var ms [8]byte
	copy(ms[2:], raw[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC()
}

// Short is a readable tail of the id for people; it is not unique.
func (id ID) Short() string {
	s := strings.ReplaceAll(string(id), "-", "")
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
