package api_test

import "testing"

// TestVariants checks that the description of the API has the decisions and
// scopes of agents that offer several of a kind, and no others.
func TestVariants(t *testing.T) {
	t.Parallel()
	doc, _ := description(t)
	for name, values := range map[string]map[string]bool{
		"DecisionName": {"once": true, "respond": true, "deny_stop": true, "always:2": true, "deny:9": true, "always:1": false, "always:10": false, "edit:2": false, "respond:2": false, "ever": false, "": false},
		"ScopeName":    {"once": true, "always": true, "session:2": true, "always:9": true, "deny": false, "always:1": false, "always:": false},
	} {
		for value, ok := range values {
			if err := doc.Components.Schemas[name].Value.VisitJSON(value); (err == nil) != ok {
				t.Errorf("%s %q: %v", name, value, err)
			}
		}
	}
	record := map[string]any{
		"state": "approved", "annotations": map[string]any{}, "at": "2026-11-26T08:00:00Z", "digest": "", "scope": "always:2",
	}
	if err := doc.Components.Schemas["Response"].Value.VisitJSON(record); err != nil {
		t.Error(err)
	}
}
