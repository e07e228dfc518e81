package broker

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"hash"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Seals proves that a daemon with the same keys has stored a document: its
// kind, key, format, version and value. A seal cannot distinguish an earlier
// version of a document from the last one. Data that a decision depends on is
// therefore compared with other documents as well. Without keys, documents have
// no seal.
type Seals struct{ keys atomic.Pointer[[]*sealKey] }

// sealKey is a key with reusable hashes.
type sealKey struct{ hashes sync.Pool }

type sealHash struct {
	hash.Hash
	buf []byte
}

// NewSeals returns seals with the keys of the deployment. The first key seals,
// and all keys verify.
func NewSeals(keys ...[]byte) *Seals {
	s := &Seals{}
	s.Use(keys)
	return s
}

// Use replaces the keys. It may be called at any time.
func (s *Seals) Use(keys [][]byte) {
	all := make([]*sealKey, len(keys))
	for n, key := range keys {
		all[n] = &sealKey{sync.Pool{New: func() any { return &sealHash{Hash: hmac.New(sha256.New, key)} }}}
	}
	s.keys.Store(&all)
}

// A stored document consists of a header of a fixed length and the value. The
// header contains the version, the format and the seal. The ID of an entry follows the
// value, after a mark.
const (
	versionLen = 16 // number of digits, so that scripts can compare texts
	formatLen  = 4
	sealLen    = 22 // 16 bytes of a MAC
	headerLen  = versionLen + formatLen + sealLen
	entryMark  = "\x1e"
)

// unsealed takes the place of a seal.
var unsealed = strings.Repeat("-", sealLen)

// problemForged is the reason that a document does not verify.
const problemForged = "it was changed outside nod"

// Encode returns the stored form of a document with a version.
func (s *Seals) Encode(d Doc, version int64) string {
	var out strings.Builder
	out.Grow(headerLen + len(d.Value) + len(entryMark) + len(d.Entry))
	out.WriteString(digits(version, versionLen))
	out.WriteString(digits(int64(d.Format), formatLen))
	if keys := *s.keys.Load(); len(keys) == 0 {
		out.WriteString(unsealed)
	} else {
		seal := keys[0].mac(d, version)
		out.Write(seal[:])
	}
	out.Write(d.Value)
	if d.Entry != "" {
		out.WriteString(entryMark)
		out.WriteString(d.Entry)
	}
	return out.String()
}

// EncodeVersion returns the first bytes of the stored form of a document with a
// version. Scripts compare these bytes. They are empty for version 0, and
// malformedMark for [Malformed].
func EncodeVersion(version int64) string {
	switch version {
	case 0:
		return ""
	case Malformed:
		return malformedMark
	}
	return digits(version, versionLen)
}

// digits returns a number with leading zeros.
func digits(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(0, width-len(s))) + s
}

// malformedMark stands for all texts that do not start with a version.
const malformedMark = "-"

// decodeVersion returns the version at the start of a stored text, or
// [Malformed]. do.lua implements the same rule.
func decodeVersion(stored string) int64 {
	if len(stored) < versionLen {
		return Malformed
	}
	version, err := strconv.ParseUint(stored[:versionLen], 10, 63)
	if err != nil || version == 0 {
		return Malformed
	}
	return int64(version)
}

// VersionLen is the length of a version in the stored form.
const VersionLen = versionLen

// Decode returns a document from its stored form. The stored form of a missing
// document is empty.
func (s *Seals) Decode(k Key, stored string) Doc {
	d := Doc{Key: k}
	if stored == "" {
		return d
	}
	d.Version = decodeVersion(stored)
	if d.Version == Malformed || len(stored) < headerLen {
		d.Problem = problemForged
		return d
	}
	format, err := strconv.ParseUint(stored[versionLen:versionLen+formatLen], 10, 31)
	if err != nil {
		d.Problem = problemForged
		return d
	}
	seal, rest := stored[versionLen+formatLen:headerLen], stored[headerLen:]
	if n := strings.LastIndex(rest, entryMark); n >= 0 {
		rest, d.Entry = rest[:n], rest[n+len(entryMark):]
	}
	d.Format, d.Value = int(format), []byte(rest)
	if keys := *s.keys.Load(); len(keys) > 0 && !verifies(keys, d, seal) {
		d.Problem = problemForged
	}
	return d
}

func verifies(keys []*sealKey, d Doc, seal string) bool {
	good := false
	for _, key := range keys {
		mac := key.mac(d, d.Version)
		good = subtle.ConstantTimeCompare([]byte(seal), mac[:]) == 1 || good
	}
	return good
}

// mac returns the seal of a document with a version.
func (k *sealKey) mac(d Doc, version int64) (seal [sealLen]byte) {
	h, _ := k.hashes.Get().(*sealHash) // the pool holds nothing else
	defer k.hashes.Put(h)
	h.Reset()
	head := h.buf[:0]
	for _, part := range [...]string{d.Kind, d.ID} {
		head = append(binary.BigEndian.AppendUint64(head, uint64(len(part))), part...)
	}
	head = binary.BigEndian.AppendUint64(head, uint64(d.Format))
	h.buf = binary.BigEndian.AppendUint64(head, uint64(version))
	h.Write(h.buf)
	h.Write(d.Value)
	h.buf = h.Sum(h.buf[:0])
	base64.RawURLEncoding.Encode(seal[:], h.buf[:16])
	return seal
}
