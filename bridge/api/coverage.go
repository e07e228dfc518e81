package api

import (
	"net/http"

	"github.com/nodbridge/nod/bridge"
)

// report stores the coverage of the host that an agent runs on.
func (s standing) report(w http.ResponseWriter, r *http.Request, p Principal) error {
	var h bridge.HostCoverage
	if err := read(r, &h); err != nil {
		return err
	}
	h, err := s.engine.Hosts.Report(r.Context(), p.Agent.Name, h)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, h)
}

// coverage returns the reports that a caller may see: agents see their own,
// people all.
func (s standing) coverage(w http.ResponseWriter, r *http.Request, p Principal) error {
	agent := ""
	if p.Agent != nil {
		agent = p.Agent.Name
	}
	all, err := s.engine.Hosts.List(r.Context(), agent)
	if err != nil {
		return err
	}
	out := struct {
		Items []bridge.HostCoverage `json:"items"`
	}{[]bridge.HostCoverage{}}
	out.Items = append(out.Items, all...)
	return write(w, http.StatusOK, out)
}
