package directory_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
)

// named returns a directory in which sources and agents name people.
func named() *directory.Directory {
	return directory.New(directory.Options{
		People: map[string]directory.Person{
			"ana": {Accounts: map[string]string{"chat": "U0AAA1"}, IDs: map[string]string{"pd": "PANA"}, Email: "ana@example.com", Name: "Ana Ruiz"},
			"bo":  {Accounts: map[string]string{"chat": "U0BBB2", "mail": "700002"}, Email: "bo@example.com"},
			"cy":  {Email: "cy@example.com", Name: "Cy Jos\u00e9"},
			"dd1": {Email: "d@example.com"},
			"dd2": {Email: "d@example.com", IDs: map[string]string{"pd": "PBO"}},
		},
		Links: links{"chat U0LINK": "cy"}, Emails: []string{"chat"},
		Platforms: []bridge.Platform{&platform{name: "chat", emails: map[string]string{"U0MAIL": "cy@example.com", "U0OTHER": "ana@example.com"}}, &platform{name: "mail"}},
	})
}

// TestFind checks that a requester is recognized however an agent spells the
// name, and that no one else is.
func TestFind(t *testing.T) {
	t.Parallel()
	d := named()
	for text, want := range map[string]string{
		"ana": "ana", "Ana": "ana", "ANA": "ana", "@ana": "ana", "ana ": "ana", "\tana\n": "ana", "Ana Ruiz": "ana", "@ana ruiz": "ana",
		"U0AAA1": "ana", "@U0AAA1": "ana", "<@U0AAA1>": "ana", "<@U0AAA1|ana>": "ana", "<@!700002>": "bo", "chat:U0AAA1": "ana", "mail:700002": "bo",
		"ana@example.com": "ana", "ANA@Example.com": "ana", " ana@example.com ": "ana", "PANA": "ana", "U0LINK": "cy", "chat:U0LINK": "cy", "U0MAIL": "cy",
		"Bo Chen <bo@example.com>": "bo", "Ana Ruiz <ANA@example.com>": "ana", "mailto:bo@example.com": "bo", `"Ruiz, Ana" <ana@example.com>`: "ana",
		"ana <bo@example.com>": "", "Bo <x@example.com>": "", "Cy Jos\u00e9": "cy", "cy jose\u0301": "cy",
		"": "", "@": "", "eve": "", "an": "", "U0ZZZ9": "", "mail:U0AAA1": "", "irc:U0AAA1": "", "mail:U0LINK": "", "d@example.com": "", "U0OTHER": "", "anа": "", "a\u200bna": "", "<@>": "",
	} {
		if got, err := d.Find(t.Context(), text); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
}

// TestFindFails checks that a requester who cannot be looked up is an error, and not
// a stranger.
func TestFindFails(t *testing.T) {
	t.Parallel()
	d := directory.New(directory.Options{Links: links{"down": "yes"}, Platforms: []bridge.Platform{&platform{name: "chat"}}})
	if who, err := d.Find(t.Context(), "U0LINK"); bridge.ErrorCode(err) != bridge.CodeUnavailable || who != "" {
		t.Errorf("it is %q, %v; want %s", who, err, bridge.CodeUnavailable)
	}
}

// TestEveryone checks whether the config names all members of a group, and what
// people and platforms call the group and its members.
func TestEveryone(t *testing.T) {
	t.Parallel()
	d := directory.New(directory.Options{
		People: map[string]directory.Person{"ana": {Name: "Ana Ruiz"}, "bo": {}},
		Groups: map[string]directory.Group{
			"ops": {People: []string{"ana", "bo"}}, "chat": {People: []string{"ana"}, Of: map[string]string{"chat": "S1"}}, "night": {OnCall: "week"},
		},
	})
	for group, x := range map[string]struct {
		people int
		all    bool
		native string
	}{"ops": {2, true, ""}, "chat": {1, false, "S1"}, "night": {0, false, ""}} {
		people, all := d.Everyone(group)
		if native := d.Native(group, "chat"); len(people) != x.people || all != x.all || native != x.native {
			t.Errorf("%s has %q, all is %t, on chat %q; want %d, %t, %q", group, people, all, native, x.people, x.all, x.native)
		}
		if native := d.Native(group, "other"); native != "" {
			t.Errorf("%s on another platform is %q", group, native)
		}
	}
	for person, want := range map[string]string{"ana": "Ana Ruiz", "bo": "", "gone": ""} {
		if got := d.Display(person); got != want {
			t.Errorf("%s is displayed as %q, want %q", person, got, want)
		}
	}
}

// TestResolve checks that the strongest identification of a schedule counts, and
// that a contradiction is a stranger.
func TestResolve(t *testing.T) {
	t.Parallel()
	d := named()
	for _, x := range []struct {
		name string
		n    bridge.Named
		want string
	}{
		{"an ID", bridge.Named{ID: "PANA"}, "ana"},
		{"an ID, with an unknown email", bridge.Named{ID: "PANA", Email: "a.lima@example.org", Name: "bo"}, "ana"},
		{"an ID of another kind", bridge.Named{Kind: "goalert", ID: "PANA"}, ""},
		{"an email in another case", bridge.Named{Email: "Ana@Example.com"}, "ana"},
		{"an email, where the person has no ID", bridge.Named{ID: "PX", Email: "bo@example.com"}, "bo"},
		{"a name", bridge.Named{Name: "Ana"}, "ana"},
		{"a display name", bridge.Named{Name: "ana ruiz"}, "ana"},
		{"a name with another ID", bridge.Named{ID: "PX", Name: "ana"}, ""},
		{"a name with another email", bridge.Named{Email: "x@example.com", Name: "ana"}, ""},
		{"an email of someone with another ID", bridge.Named{ID: "PX", Email: "ana@example.com"}, ""},
		{"an email with blanks", bridge.Named{ID: "PX", Email: " bo@example.com\n"}, "bo"},
		{"a name with another form of its accent", bridge.Named{Name: "Cy Jose\u0301"}, "cy"},
		{"an ID in another case", bridge.Named{ID: "pana"}, ""},
		{"an ID and an email of two people", bridge.Named{ID: "PANA", Email: "bo@example.com"}, ""},
		{"an email of two people", bridge.Named{Email: "d@example.com"}, ""},
		{"nothing", bridge.Named{}, ""},
	} {
		if x.n.Kind == "" {
			x.n.Kind = "pd"
		}
		if got := d.Resolve(x.n); got != x.want {
			t.Errorf("%s is %q; want %q", x.name, got, x.want)
		}
	}
}

// TestStrangersAreMarked checks that a stranger with the name of a person is not
// taken for that person by people either.
func TestStrangersAreMarked(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]bridge.Named{
		"ana (pd PX)": {Kind: "pd", ID: "PX", Name: "ana"}, "ana@example.com (pd PBO)": {Kind: "pd", ID: "PBO", Email: "ana@example.com", Name: "Bo"},
		"zoe@example.com": {Kind: "ical", Email: "zoe@example.com"}, "Zoe": {Name: "Zoe"}, "PX": {Kind: "pd", ID: "PX"}, "": {},
	} {
		if got := n.String(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
