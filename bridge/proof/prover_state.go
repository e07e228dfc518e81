package proof

import (
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// ProveGrant adds the proof to a grant before it is stored. It must be called
// last, because the proof covers every field.
func (p *Prover) ProveGrant(g *bridge.Grant) {
	if p != nil {
		g.Proof = p.signer.mac(domainGrant, grantBytes(*g))
	}
}

// CheckGrant returns CodeForbidden unless a daemon stored the grant in this
// form.
func (p *Prover) CheckGrant(g bridge.Grant) error {
	if p == nil || p.signer.macIs(g.Proof, domainGrant, grantBytes(g)) {
		return nil
	}
	return bridge.Errorf(bridge.CodeForbidden, "grant %s: was changed outside nod", g.ID()).WithHint("revoke it")
}

// ProveLink adds the proof to a link before it is stored.
func (p *Prover) ProveLink(l *bridge.Link) {
	l.Proof = p.signer.mac(domainLink, linkBytes(*l))
}

// AcceptsLink reports whether a daemon stored the link in this form, and the
// link is for the given account.
func (p *Prover) AcceptsLink(l bridge.Link, platform, user string) bool {
	if l.Person == "" || l.Platform != platform || l.User != user {
		return false
	}
	return p.signer.macIs(l.Proof, domainLink, linkBytes(l))
}

// ProveNote returns the text to store for the value of a note.
func (p *Prover) ProveNote(key, value string) string {
	return p.signer.mac(domainNote, []byte(key), []byte(value)) + " " + value
}

// Note returns the value of a stored note. It returns "" if the note does not
// verify.
func (p *Prover) Note(key, stored string) string {
	proof, value, ok := strings.Cut(stored, " ")
	if !ok || !p.signer.macIs(proof, domainNote, []byte(key), []byte(value)) {
		return ""
	}
	return value
}

// ProveDraft adds the proof to a draft before it is stored.
func (p *Prover) ProveDraft(id bridge.ID, d *bridge.Draft) {
	d.Proof = p.signer.mac(domainDraft, []byte(id), draftBytes(*d))
}

// AcceptsDraft reports whether a daemon stored the draft for an interaction in
// this form.
func (p *Prover) AcceptsDraft(id bridge.ID, d bridge.Draft) bool {
	return p.signer.macIs(d.Proof, domainDraft, []byte(id), draftBytes(d))
}

// ProveMemory returns the text to store for an approval that a tool remembers.
func (p *Prover) ProveMemory(agent, session, key string, sc bridge.Scope) bridge.Scope {
	ends := time.Now().Add(bridge.SessionGrantTTL)
	if sc == bridge.ScopeAlways {
		ends = time.Now().Add(bridge.AlwaysGrantTTL)
	}
	until := ends.UTC().Format(time.RFC3339)
	return bridge.Scope(string(sc) + " " + until + " " + p.signer.mac(domainMemory, memoryParts(agent, session, key, string(sc), until)...))
}

// Memory returns the scope of an approval that a tool remembers. It returns ""
// if the stored text does not verify or has expired.
func (p *Prover) Memory(agent, session, key string, stored bridge.Scope) bridge.Scope {
	f := strings.Split(string(stored), " ")
	if len(f) != 3 {
		return ""
	}
	until, err := time.Parse(time.RFC3339, f[1])
	if err != nil || time.Now().After(until) || !p.signer.macIs(f[2], domainMemory, memoryParts(agent, session, key, f[0], f[1])...) {
		return ""
	}
	return bridge.Scope(f[0])
}

// memoryParts returns the parts that the proof of a remembered approval covers.
// The scope always applies to every session.
func memoryParts(agent, session, key, scope, until string) [][]byte {
	if bridge.Scope(scope) == bridge.ScopeAlways {
		session = ""
	}
	return [][]byte{[]byte(agent), []byte(session), []byte(key), []byte(scope), []byte(until)}
}
