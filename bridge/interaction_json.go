package bridge

import (
	"reflect"
	"strings"
	"sync"
)

// memberOrder is the order of an interaction's members. Unlisted members follow
// the others in the order of their declarations.
const memberOrder = `
	id kind prompt questions approval agent session tool_call turn response_id
	tool_name trace route destinations responders groups must requesters
	requester deny_counts created deadline on_timeout hold steps quiet
	called snooze hand_over grace join webhooks cancel_on_disconnect
	declinable presentation completed_view initial error round max_rounds
	previous root quorum rule risk grant_key rule_grants grant_routes grant_for
	redacted redacted_command digest requirements own_route added terms
	policy_version request_key`

// MarshalJSON implements json.Marshaler. It writes one flat object.
// The caller's encoder decides on escapes.
func (i Interaction) MarshalJSON() ([]byte, error) { return EncodeJSON(&i) }

// Flat returns a value with the same JSON as the interaction. It encodes
// faster, because encoding/json parses the result of MarshalJSON again.
func (i *Interaction) Flat() any {
	from, to := reflect.ValueOf(i).Elem(), reflect.New(flat().of)
	for n, index := range flat().fields {
		to.Elem().Field(n).Set(from.FieldByIndex(index))
	}
	return to.Interface()
}

// flat describes a struct with the fields of an interaction in the order of its
// members, and the index of each field in the interaction.
var flat = sync.OnceValue(func() flattened { return flatten(reflect.TypeFor[Interaction]()) })

type flattened struct {
	of     reflect.Type
	fields [][]int
}

func flatten(t reflect.Type) flattened {
	byName := map[string]reflect.StructField{}
	names := strings.Fields(memberOrder)
	listed := map[string]bool{}
	for _, name := range names {
		listed[name] = true
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		byName[name] = f
		if !listed[name] {
			names = append(names, name)
		}
	}
	var out flattened
	var fields []reflect.StructField
	for _, name := range names {
		f := byName[name]
		out.fields = append(out.fields, f.Index)
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
	}
	out.of = reflect.StructOf(fields)
	return out
}
