package api

import (
	"net/http"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// passkeys lists the keys of the caller. Auditors and administrators see the
// keys of all people.
func (s standing) passkeys(w http.ResponseWriter, r *http.Request, p Principal) error {
	list := func() ([]passkey.Credential, error) { return s.engine.Passkeys.Of(r.Context(), p.Person) }
	if p.Auditor || s.engine.Passkeys.Administers(p.Person) {
		list = func() ([]passkey.Credential, error) { return s.engine.Passkeys.All(r.Context()) }
	}
	all, err := list()
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"items": passkey.List(all)})
}

// invite creates an invitation to add a key.
func (s standing) invite(w http.ResponseWriter, r *http.Request, p Principal) error {
	var body struct {
		Person string `json:"person"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	url, expires, err := s.engine.Passkeys.Invite(r.Context(), p.Person, body.Person)
	if err != nil {
		return err
	}
	return write(w, http.StatusCreated, map[string]any{"person": body.Person, "url": url, "expires": expires})
}

// revokePasskey revokes a key.
func (s standing) revokePasskey(w http.ResponseWriter, r *http.Request, p Principal) error {
	person, id := r.PathValue("person"), r.PathValue("id")
	if p.Person != person && !s.engine.Passkeys.Administers(p.Person) {
		return bridge.Errorf(bridge.CodeForbidden, "only administrators can revoke a key of another person")
	}
	if err := s.engine.Passkeys.Revoke(r.Context(), p.Person, person, id); err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"person": person, "id": id})
}

// passkeyKeys returns the public keys of people, for checks offline.
func (s standing) passkeyKeys(w http.ResponseWriter, r *http.Request, _ Principal) error {
	keys, err := s.engine.Passkeys.Keys(r.Context())
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, keys)
}
