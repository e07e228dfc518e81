package api

import (
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// link links the account that received a code to the caller.
func (s standing) link(w http.ResponseWriter, r *http.Request, p Principal) error {
	var body struct {
		Code    string `json:"code"`
		Confirm bool   `json:"confirm"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	said, err := s.engine.Links.Link(r.Context(), p.actor(), body.Code, body.Confirm)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"said": said, "linked": body.Confirm})
}

func (s standing) links(w http.ResponseWriter, r *http.Request, p Principal) error {
	all, err := s.engine.Links.List(r.Context())
	if err != nil {
		return err
	}
	mine := bridge.Page[bridge.Link]{Items: []bridge.Link{}, Unreadable: all.Unreadable}
	for _, l := range all.Items {
		if p.Auditor || l.Person == p.Person {
			mine.Items = append(mine.Items, l)
		}
	}
	return write(w, http.StatusOK, mine)
}

// unlink removes a link. Auditors may remove the link of any person, and other
// callers only their own.
func (s standing) unlink(w http.ResponseWriter, r *http.Request, p Principal) error {
	platform, user := r.PathValue("platform"), r.PathValue("id")
	all, err := s.engine.Links.List(r.Context())
	if err != nil {
		return err
	}
	for _, l := range all.Items {
		if l.Platform != platform || l.User != user || !p.Auditor && l.Person != p.Person {
			continue
		}
		if err := s.engine.Links.Unlink(r.Context(), p.actor(), platform, user); err != nil {
			return err
		}
		return write(w, http.StatusOK, l)
	}
	return bridge.Errorf(bridge.CodeNotFound, "no account %s/%s is linked to you", platform, user)
}
