package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Stable returns v as JSON that does not change when it is stored and read
// again. Marshal alone would change it: it escapes the replacement character
// for invalid UTF-8, but writes that character unescaped if it is in the text.
func Stable(v any) []byte {
	out, err := bridge.MarshalJSON(v)
	if err != nil {
		return nil // unreachable, because v is a plain struct
	}
	return stabilized(out)
}

// useStable calls use with v in the form of Stable. Use must not keep the text.
func useStable(v any, use func(text []byte)) {
	_ = bridge.UseMarshaled(v, func(raw []byte) { use(stabilized(raw)) }) // v is a plain struct
}

// stabilized returns JSON that Marshal has encoded in the form of Stable.
func stabilized(out []byte) []byte {
	if !bytes.Contains(out, escapedInvalid) {
		return out
	}
	return bytes.ReplaceAll(out, escapedInvalid, []byte("\ufffd"))
}

var escapedInvalid = []byte(`\ufffd`)

// Content returns the part of an interaction that cannot change while it is
// open, as JSON: everything except the people who are asked and the times. A
// field that an amendment changes must be left out here and added to amendable.
//
// Receipts cover its canonical form, because any program may have rewritten a
// record before it is verified.
func Content(i bridge.Interaction) []byte {
	i.Proof, i.Created, i.Deadline = "", time.Time{}, time.Time{}
	i.Destinations, i.Responders, i.Groups, i.Called = nil, nil, nil, nil
	i.Added, i.Requirements, i.Unfound, i.Steps, i.Names, i.Told = nil, nil, nil, nil, nil, nil
	out, _ := bridge.MarshalJSON(&i) // a plain struct always encodes
	return out
}

// amendable holds the fields that delegation and escalation change.
type amendable struct {
	Created, Deadline time.Time
	Destinations      []bridge.Destination
	Responders        []bridge.Responder
	Groups, Called    []string
	Added             []bridge.Addition    `json:",omitempty"`
	Requirements      []bridge.Requirement `json:",omitempty"`
	Unfound           []bridge.Unfound     `json:",omitempty"`
	Steps             []bridge.Step        `json:",omitempty"`
	Names             map[string]string    `json:",omitempty"`
	Told              []bridge.Told        `json:",omitempty"`
}

// contentHash returns the hash of the content that a receipt states.
func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// interactionParts returns the content, and the text that the proof of an
// interaction covers, which is the complete interaction.
func interactionParts(i bridge.Interaction) (content, rest []byte) {
	times := i.Stated
	if times == (bridge.Times{}) {
		times = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	}
	content = Content(i)
	sum := sha256.Sum256(stabilized(content))
	people := Stable(&amendable{
		times.Created.UTC(), times.Deadline.UTC(), i.Destinations, i.Responders, i.Groups, i.Called, i.Added, i.Requirements, i.Unfound, i.Steps, i.Names, i.Told,
	})
	return content, append(sum[:], people...)
}

// ShownHash returns a hash of what people see of an interaction and of its
// terms. It does not depend on the people who are asked.
func ShownHash(i bridge.Interaction) string {
	return contentHash(Stable(struct {
		Terms               int
		Prompt, Error, Risk string
		Approval            *bridge.Approval
	}{i.Terms, i.Prompt, i.Error, i.Risk, i.Approval}))
}

// voteBytes returns the bytes that the proof of a vote covers.
func voteBytes(v bridge.Vote) []byte {
	v.Proof = ""
	return Stable(v)
}

// linkBytes returns the bytes that the proof of a link covers.
func linkBytes(l bridge.Link) []byte {
	l.Proof = ""
	return Stable(l)
}

// grantBytes returns the bytes that the proof of a grant covers, which is every
// field except the proof.
func grantBytes(g bridge.Grant) []byte {
	g.Proof = ""
	g.At, g.Expires = g.At.UTC(), g.Expires.UTC()
	return Stable(g)
}

func draftBytes(d bridge.Draft) []byte {
	d.Proof = ""
	return Stable(d)
}
