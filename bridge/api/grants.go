package api

import (
	"context"
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// grant is a grant in the form that callers see.
type grant struct {
	ID string `json:"id"`
	bridge.Grant
	Words string `json:"words"`
}

func seen(g bridge.Grant) grant { return grant{g.ID(), g, g.Words()} }

// visible returns the grants that a caller may see: agents see their own
// grants, auditors see all, and people see the grants that GrantsFor lists.
func (s standing) visible(ctx context.Context, p Principal) (bridge.Page[bridge.Grant], error) {
	switch {
	case p.Agent != nil:
		return s.engine.Grants.List(ctx, p.Agent.Name)
	case p.Auditor:
		return s.engine.Grants.List(ctx, "")
	}
	return s.engine.Grants.ListFor(ctx, p.actor())
}

func (s standing) grants(w http.ResponseWriter, r *http.Request, p Principal) error {
	all, err := s.visible(r.Context(), p)
	if err != nil {
		return err
	}
	out := bridge.Page[grant]{Items: []grant{}, Unreadable: all.Unreadable}
	for _, g := range all.Items {
		if session := r.URL.Query().Get("session"); session == "" || g.Session == session {
			out.Items = append(out.Items, seen(g))
		}
	}
	return write(w, http.StatusOK, out)
}

func (s standing) revoke(w http.ResponseWriter, r *http.Request, p Principal) error {
	var g bridge.Grant
	var err error
	if p.Agent != nil {
		g, err = s.engine.Grants.Revoke(r.Context(), p.Agent.Name, r.PathValue("id"), "agent "+p.Agent.Name)
	} else {
		g, err = s.engine.Grants.RevokeAs(r.Context(), p.actor(), r.PathValue("id"))
	}
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, seen(g))
}
