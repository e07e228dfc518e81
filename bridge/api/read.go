package api

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// mayRead reports whether a caller may read a record. Agents may read their own
// records, and auditors may read all. People may read records that they may
// respond to, and records of requests on their behalf.
func (s shared) mayRead(ctx context.Context, p Principal, i bridge.Interaction) (bool, error) {
	switch {
	case p.Agent != nil:
		return i.Agent == p.Agent.Name, nil
	case p.Auditor:
		return true, nil
	}
	return s.engine.People.MayRead(ctx, i, p.actor()), nil
}

// readable returns CodeNotFound for a record that the caller may not read.
func (s shared) readable(ctx context.Context, p Principal, rec bridge.Record) error {
	may, err := s.mayRead(ctx, p, rec.Interaction)
	if err == nil && !may {
		err = bridge.NotFound(rec.Interaction.ID)
	}
	return err
}

// forReader returns a record in the form that its reader sees. Only the agent
// sees the metadata.
func forReader(p Principal, rec bridge.Record) bridge.Record {
	if p.Agent == nil {
		rec.Interaction.Metadata = nil
	}
	return rec
}

// pageFor applies forReader to several records.
func pageFor(p Principal, page bridge.List) bridge.List {
	for n, rec := range page.Items {
		page.Items[n] = forReader(p, rec)
	}
	return page
}

// listReadable returns a page of the records that the caller may read.
func (s shared) listReadable(ctx context.Context, p Principal, f bridge.ListFilter) (bridge.List, error) {
	var failed error
	f.May = func(rec bridge.Record) bool {
		may, err := s.mayRead(ctx, p, rec.Interaction)
		if err != nil {
			failed = err
		}
		return may && err == nil
	}
	page, err := s.reader.List(ctx, f)
	if err == nil {
		err = failed
	}
	return pageFor(p, page), err
}
