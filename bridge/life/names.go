package life

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Name is the document under the name of a call. It holds the last interaction
// that was opened under this name, and the digest of its content.
type Name struct {
	ID     bridge.ID `json:"id"`
	Digest string    `json:"digest"`
}

// Retried is the document under the name of the retries of a caller. Again
// means that another caller opened the interaction.
type Retried struct {
	ID    bridge.ID `json:"id"`
	Again bool      `json:"again,omitempty"`
}

var (
	names   = broker.NewDocs[Name]("call", 1)
	retries = broker.NewDocs[Retried]("retry", 1)
	// duplicates has the ID of the pending request that duplicates join.
	duplicates = broker.NewDocs[bridge.ID]("duplicate", 1)
)

// Keys returns the keys of the documents that the opening depends on: its own
// document, and those under its names.
func (o *Opening) Keys() []broker.Key {
	out := []broker.Key{Key(o.Interaction.ID)}
	if o.Identity.Name != "" {
		out = append(out, names.Key(o.Identity.Name))
	}
	if o.Identity.Retry != "" {
		out = append(out, retries.Key(o.Identity.Retry))
	}
	if o.Interaction.Join {
		out = append(out, o.duplicateKey())
	}
	return out
}

// duplicateKey returns the key of the document that names a pending duplicate: the
// same request of the same session, which the same people decide under the same
// rules. The requester may deny but not approve, so another requester is another
// request.
func (o *Opening) duplicateKey() broker.Key {
	i := &o.Interaction
	sum := sha256.Sum256([]byte(data(struct {
		Route, Digest, Requester string
		Approval                 *bridge.Approval
		Placement                bridge.Placement
		Governance               bridge.Governance
	}{i.Route, i.Digest, i.Requester, i.Approval, i.Placement, i.Governance})))
	return duplicates.Key(Owner(i.Agent, i.Session) + "\x00" + hex.EncodeToString(sum[:]))
}

// Found records the documents under Keys. It returns the IDs of the interactions
// for the fields First and Second; each is empty if there is none.
func (o *Opening) Found(docs []broker.Doc) (first, second bridge.ID, err error) {
	for _, d := range docs {
		var failed error
		switch {
		case names.Is(d.Key):
			o.nameDoc = d
			o.name, failed = names.Decode(d)
		case retries.Is(d.Key):
			o.retryDoc = d
			o.retried, failed = retries.Decode(d)
		case duplicates.Is(d.Key):
			o.duplicateDoc = d
			second, failed = duplicates.Decode(d)
		default:
			o.life = d
		}
		err = errors.Join(err, failed)
	}
	return cmp.Or(o.retried.ID, o.name.ID), second, err
}

// Retries reports whether the caller repeats its own call.
func (o *Opening) Retries() bool { return o.retryDoc.Exists() }

// recordNames records, under the names of a call, the interaction that its caller gets.
func (out *Opened) recordNames(o *Opening, found bridge.ID, again bool, retention time.Duration) {
	ttl := o.Interaction.Deadline.Sub(o.Interaction.Created) + retention
	if id := &o.Identity; id.Name != "" {
		putNamed(out, names, broker.Doc{Key: names.Key(id.Name), Version: o.nameDoc.Version, Keep: ttl}, Name{found, id.Digest})
	}
	if id := &o.Identity; id.Retry != "" {
		putNamed(out, retries, broker.Doc{Key: retries.Key(id.Retry), Version: o.retryDoc.Version, Keep: ttl}, Retried{found, again})
	}
}

// putNamed stores a document under a name. It ignores errors, because the values of names
// can always be marshaled.
func putNamed[T any](out *Opened, kind broker.Docs[T], d broker.Doc, v T) {
	_ = putDoc(&out.named, kind, d, &v)
}
