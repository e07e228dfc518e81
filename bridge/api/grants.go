package api

import (
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// grant is a grant as callers see it.
type grant struct {
	ID string `json:"id"`
	bridge.Grant
	Words string `json:"words"`
}

func seen(g bridge.Grant) grant { return grant{g.ID(), g, g.Words()} }

// whose is the agent whose grants a caller may see: agents see their own, and
// people who answer see all.
func (s *Server) whose(p Principal) (string, error) {
	switch {
	case p.Agent != nil:
		return p.Agent.Name, nil
	case !s.engine.Responds(p.Person):
		return "", bridge.Errorf(bridge.CodeForbidden, "only people who answer may see grants")
	}
	return "", nil
}

func (s *Server) grants(w http.ResponseWriter, r *http.Request, p Principal) error {
	agent, err := s.whose(p)
	if err != nil {
		return err
	}
	all, err := s.engine.Grants(r.Context(), agent)
	if err != nil {
		return err
	}
	out := struct {
		Items []grant `json:"items"`
	}{[]grant{}}
	for _, g := range all {
		if session := r.URL.Query().Get("session"); session == "" || g.Session == session {
			out.Items = append(out.Items, seen(g))
		}
	}
	return write(w, http.StatusOK, out)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request, p Principal) error {
	agent, err := s.whose(p)
	if err != nil {
		return err
	}
	by := p.Person
	if p.Agent != nil {
		by = "agent " + p.Agent.Name
	}
	g, err := s.engine.Revoke(r.Context(), agent, r.PathValue("id"), by)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, seen(g))
}
