package render_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/render/discordmsg"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/slackmsg"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// canary is a text that no card has otherwise.
const canary = "qzcanaryqz"

// services draw a card for each service.
var services = map[string]func(bridge.View) (any, error){
	"slack":    func(v bridge.View) (any, error) { return slackmsg.Build(v) },
	"discord":  func(v bridge.View) (any, error) { return discordmsg.Build(v) },
	"telegram": func(v bridge.View) (any, error) { return telegrammsg.Build(v) },
}

// TestPrivateIsHidden checks that the card of a private request shows no text of it,
// apart from the name of the agent and what nod says about it.
func TestPrivateIsHidden(t *testing.T) {
	t.Parallel()
	eachText(t, true, func(path string, _, _ bridge.View, shown string) {
		if !isAsked(path) && !slices.Contains([]string{".Agent", ".Governance.Risk", ".Governance.RuleReason"}, path) {
			t.Errorf("%s is shown %s", path, shown)
		}
	})
}

// isAsked reports whether a text says who is asked. People do not decide about it.
func isAsked(path string) bool { return strings.HasPrefix(path, ".Placement.") }

// TestShownIsCovered checks that a card shows no text of a request that the content
// does not cover which people decide about.
func TestShownIsCovered(t *testing.T) {
	t.Parallel()
	eachText(t, false, func(path string, was, now bridge.View, shown string) {
		before, err := proof.Content(was.Record.Interaction)
		after, failed := proof.Content(now.Record.Interaction)
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if !isAsked(path) && before == after {
			t.Errorf("%s is shown %s, and not covered", path, shown)
		}
	})
}

// eachText draws the card of each sample with a canary in one text of its request
// after the other, and calls f for each text that a service shows.
func eachText(t *testing.T, private bool, f func(path string, was, now bridge.View, shown string)) {
	t.Helper()
	for _, s := range rendertest.Samples() {
		i := s.View.Record.Interaction
		if i.Presentation == bridge.PresentSession {
			continue
		}
		for n := 0; ; n++ {
			now, path := s.View, ""
			now.Record.Interaction = copied(t, i)
			now.Record.Interaction.Private = private
			at := n
			if path = plant(reflect.ValueOf(&now.Record.Interaction).Elem(), "", &at); path == "" {
				break
			}
			for name, draw := range services {
				m, err := draw(now)
				raw, _ := json.Marshal(m) // a payload always marshals
				if err == nil && strings.Contains(string(raw), canary) {
					f(path, s.View, now, "on "+name+" for "+s.Name)
				}
			}
		}
	}
}

// copied returns a copy that shares nothing.
func copied(t *testing.T, i bridge.Interaction) bridge.Interaction {
	t.Helper()
	raw, err := json.Marshal(i)
	var out bridge.Interaction
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	out.ID, out.Created, out.Deadline = i.ID, i.Created, i.Deadline
	return out
}

// plant sets text number at of a value to the canary, and returns its path. It
// returns "" if there are fewer.
func plant(v reflect.Value, path string, at *int) string {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[string]() { // other types have constants as their values
			return ""
		}
		if *at--; *at < 0 {
			v.SetString(canary)
			return path
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return plant(v.Elem(), path, at)
		}
		if v.Type().Elem().Kind() == reflect.Struct { // an optional part of a request
			v.Set(reflect.New(v.Type().Elem()))
			if found := plant(v.Elem(), path, at); found != "" {
				return found
			}
			v.SetZero()
		}
	case reflect.Slice:
		for n := range v.Len() {
			if found := plant(v.Index(n), path+"["+strconv.Itoa(n)+"]", at); found != "" {
				return found
			}
		}
	case reflect.Map:
		if v.IsNil() && v.Type().Elem() == reflect.TypeFor[string]() {
			if *at--; *at < 0 {
				v.Set(reflect.MakeMap(v.Type()))
				v.SetMapIndex(reflect.ValueOf("session").Convert(v.Type().Key()), reflect.ValueOf(canary))
				return path
			}
		}
		for _, k := range v.MapKeys() {
			one := reflect.New(v.Type().Elem()).Elem()
			one.Set(v.MapIndex(k))
			if found := plant(one, path+"."+k.String(), at); found != "" {
				v.SetMapIndex(k, one)
				return found
			}
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if !v.Type().Field(n).IsExported() {
				continue
			}
			if found := plant(v.Field(n), path+"."+v.Type().Field(n).Name, at); found != "" {
				return found
			}
		}
	}
	return ""
}
