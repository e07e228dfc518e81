package directory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
)

// platform is a platform with email addresses and groups that counts its
// queries.
type platform struct {
	bridge.Platform
	name    string
	emails  map[string]string
	who     map[string]bridge.Standing
	members map[string][]string // user IDs by group
	err     error
	hangs   bool
	asked   int
}

func (p *platform) Name() string { return p.name }

func (p *platform) Email(ctx context.Context, user string) (string, bridge.Standing, error) {
	return p.emails[user], p.who[user], p.answer(ctx)
}

func (p *platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	return slices.Contains(p.members[group], user), p.answer(ctx)
}

// lister is a platform that lists the members of a group.
type lister struct {
	*platform
	mu    sync.Mutex
	lists int
	limit []error // of the next lists
	slow  time.Duration
}

func (l *lister) Members(ctx context.Context, group string) ([]string, error) {
	l.mu.Lock()
	l.lists++
	var err error
	if len(l.limit) > 0 {
		err, l.limit = l.limit[0], l.limit[1:]
	}
	l.mu.Unlock()
	bridge.Pause(ctx, l.slow)
	return l.members[group], err
}

func (l *lister) SameAccount(a, b string) bool { return len(a) > 1 && len(b) > 1 && a[1:] == b[1:] }

// TestManyMembers checks that a group costs one list for everyone who clicks at the
// same time, even when the platform limits the rate, and that an account is known by
// each of its IDs.
func TestManyMembers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := bridge.Errorf(bridge.CodeRateLimited, "slow down")
		limited.RetryAfter = time.Second
		var members []string
		for n := range 30 {
			members = append(members, fmt.Sprintf("W%d", n))
		}
		p := &lister{platform: &platform{name: "chat", members: map[string][]string{"S1": members}}, limit: []error{limited}, slow: time.Millisecond}
		d := directory.New(directory.Options{
			People: map[string]directory.Person{"ana": {Accounts: map[string]string{"chat": "W1"}}},
			Groups: map[string]directory.Group{"all": {Of: map[string]string{"chat": "S1"}}}, Platforms: []bridge.Platform{p},
		})
		var wg sync.WaitGroup
		for n := range 31 {
			wg.Go(func() {
				in, err := d.Member(t.Context(), "all", on("chat", fmt.Sprintf("U%d", n)), time.Now())
				if err != nil || in != (n < 30) {
					t.Errorf("U%d is a member: %v, %v", n, in, err)
				}
			})
		}
		wg.Wait()
		if p.lists != 2 {
			t.Errorf("%d calls list the group, want the one that was limited and its repetition", p.lists)
		}
		if who, err := d.Identify(t.Context(), on("chat", "U1")); err != nil || who != "ana" {
			t.Errorf("U1 is %q, %v", who, err)
		}
	})
}

func (p *platform) answer(ctx context.Context) error {
	p.asked++
	if p.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return p.err
}

// links are linked accounts by platform and user.
type links map[string]string

func (l links) Linked(_ context.Context, platform, user string) (bridge.Link, error) {
	if l["down"] != "" {
		return bridge.Link{}, bridge.Errorf(bridge.CodeUnavailable, "Redis is unreachable")
	}
	return bridge.Link{Person: l[platform+" "+user]}, nil
}

func (l links) Links(context.Context) (all bridge.Page[bridge.Link], err error) {
	for account, person := range l {
		platform, user, _ := strings.Cut(account, " ")
		all.Items = append(all.Items, bridge.Link{Platform: platform, User: user, Person: person})
	}
	return all, nil
}

// TestLinkedAccounts checks that nod knows the linked accounts of a person, to tell
// the person there, on platforms where the config has none.
func TestLinkedAccounts(t *testing.T) {
	t.Parallel()
	d := directory.New(directory.Options{People: team(), Links: links{"chat U5": "bo", "mail M5": "bo", "chat U6": "cy"}})
	for who, want := range map[string]string{"bo": "[{bo chat U2} {bo mail M5}]", "cy": "[{cy chat U6}]", "ed": "[{ed chat U4}]"} {
		if got, err := d.Accounts(t.Context(), who); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s has %v, %v; want %s", who, got, err, want)
		}
	}
}

// schedules maps schedules to the people on call.
type schedules map[string][]string

func (s schedules) OnCall(_ context.Context, name string, _ time.Time) ([]bridge.Named, error) {
	people, ok := s[name]
	if !ok {
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the schedule is unreachable")
	}
	var out []bridge.Named
	for _, who := range people {
		out = append(out, bridge.Named{Kind: "rotation", Name: who})
	}
	return out, nil
}

func team() map[string]directory.Person {
	return map[string]directory.Person{
		"ana": {Accounts: map[string]string{"chat": "U1", "mail": "M1"}, Email: "Ana@example.com"},
		"bo":  {Accounts: map[string]string{"chat": "U2"}},
		"cy":  {Email: "cy@example.com"},
		"di":  {Accounts: map[string]string{"chat": "U4"}, Email: "shared@example.com"},
		"ed":  {Accounts: map[string]string{"chat": "U4"}, Email: "shared@example.com"},
	}
}

func on(platform, user string) bridge.Actor { return bridge.Actor{Platform: platform, User: user} }

// TestIdentify checks which accounts belong to a person: those in the config,
// linked ones, and those with the email address of exactly one person, on
// platforms whose addresses prove an identity.
func TestIdentify(t *testing.T) {
	t.Parallel()
	mail := map[string]string{"U7": "CY@example.com", "U8": "shared@example.com", "U9": "eve@example.com"}
	d := directory.New(directory.Options{
		People: team(), Links: links{"chat U5": "bo", "chat U6": "gone"}, Emails: []string{"chat"},
		Platforms: []bridge.Platform{&platform{name: "chat", emails: mail}, &platform{name: "other", emails: mail}},
	})
	api := on(bridge.PlatformAPI, "token")
	api.Person = "bo"
	for name, x := range map[string]struct {
		actor  bridge.Actor
		person string
		code   bridge.Code
	}{
		"of the API":                {actor: api, person: "bo"},
		"of the config":             {actor: on("chat", "U1"), person: "ana"},
		"of another platform":       {actor: on("other", "U1")},
		"of two people":             {actor: on("chat", "U4")},
		"linked":                    {actor: on("chat", "U5"), person: "bo"},
		"linked to no person":       {actor: on("chat", "U6")},
		"by email":                  {actor: on("chat", "U7"), person: "cy"},
		"by an email of two people": {actor: on("chat", "U8")},
		"by an unknown email":       {actor: on("chat", "U9")},
		"by email without proof":    {actor: on("other", "U7")},
		"without an email":          {actor: on("chat", "U10")},
		"without a user":            {actor: on("mail", "")},
	} {
		got, err := d.Identify(t.Context(), x.actor)
		if got != x.person || err == nil != (x.code == "") || x.code != "" && bridge.ErrorCode(err) != x.code {
			t.Errorf("an account %s is %q, %v; want %q, %s", name, got, err, x.person, x.code)
		}
	}
}

// TestStanding checks whose email address counts, and that the others are told why
// it does not.
func TestStanding(t *testing.T) {
	t.Parallel()
	for standing, want := range map[bridge.Standing]struct{ always, guests string }{
		"": {"cy", "cy"}, bridge.StandingGuest: {"", "cy"}, bridge.StandingOutsider: {}, bridge.StandingUnconfirmed: {},
		bridge.StandingBot: {},
	} {
		chat := &platform{name: "chat", emails: map[string]string{"U7": "cy@example.com"}, who: map[string]bridge.Standing{"U7": standing}}
		for guests, want := range map[bool]string{false: want.always, true: want.guests} {
			d := directory.New(directory.Options{
				People: team(), Emails: []string{"chat"}, Guests: guests, Platforms: []bridge.Platform{chat},
			})
			who, err := d.Identify(t.Context(), on("chat", "U7"))
			why, werr := d.Standing(t.Context(), on("chat", "U7"))
			if err != nil || werr != nil || who != want || (want == "") != (why == standing && standing != "") {
				t.Errorf("%q, guests %v: it is %q because of %q, %v, %v", standing, guests, who, why, err, werr)
			}
		}
		if said := bridge.Rights[standing].Why; (said == "") != (standing == "" || standing == bridge.StandingBot) {
			t.Errorf("%q reads %q", standing, said)
		}
	}
}

// TestStandingOfSeveral checks the standing of accounts that could belong to
// several people.
func TestStandingOfSeveral(t *testing.T) {
	t.Parallel()
	chat := &platform{name: "chat", emails: map[string]string{"U7": "cy@example.com", "U8": "shared@example.com", "U9": "ana@example.com", "U10": "eve@example.com"}}
	d := directory.New(directory.Options{People: team(), Emails: []string{"chat"}, Platforms: []bridge.Platform{chat}})
	for user, want := range map[string]bridge.Standing{
		"U4": bridge.StandingSeveral, "U8": bridge.StandingSeveral, "U9": bridge.StandingSeveral, "U1": "", "U7": "", "U10": "",
	} {
		if got, err := d.Standing(t.Context(), on("chat", user)); got != want || err != nil {
			t.Errorf("%s has the standing %q, %v; want %q", user, got, err, want)
		}
	}
}

// TestIdentifyFails checks that an account that cannot be looked up is an error
// and not an unknown account, which would be told that it may not respond.
func TestIdentifyFails(t *testing.T) {
	t.Parallel()
	p := &platform{name: "chat", err: errors.New("the platform is unreachable")}
	for name, o := range map[string]directory.Options{
		"links":  {Links: links{"down": "yes"}},
		"emails": {Emails: []string{"chat"}, Platforms: []bridge.Platform{p}},
		"scopes": {Emails: []string{"chat"}, Platforms: []bridge.Platform{&platform{name: "chat", err: bridge.Errorf(bridge.CodeForbidden, "missing_scope")}}},
	} {
		who, err := directory.New(o).Identify(t.Context(), on("chat", "U5"))
		if err == nil || who != "" || bridge.ErrorCode(err) == bridge.CodeForbidden {
			t.Errorf("%s: %q, %v; want an error that is not about the person", name, who, err)
		}
		if _, err := directory.New(o).Standing(t.Context(), on("chat", "U5")); name != "links" && err == nil {
			t.Errorf("%s: the standing is known", name)
		}
	}
}

// TestAccounts checks that the accounts of a person are sorted by platform.
func TestAccounts(t *testing.T) {
	t.Parallel()
	d := directory.New(directory.Options{People: team()})
	got, err := d.Accounts(t.Context(), "ana")
	want := []bridge.Responder{{Person: "ana", Platform: "chat", User: "U1"}, {Person: "ana", Platform: "mail", User: "M1"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	if got, err := d.Accounts(t.Context(), "nobody"); err != nil || len(got) > 0 {
		t.Errorf("an unknown person has %v, %v", got, err)
	}
}

// TestMember checks group membership, and that a part of a group that cannot be
// queried is an error unless another part already includes the person.
func TestMember(t *testing.T) {
	t.Parallel()
	chat := &platform{name: "chat", members: map[string][]string{"S1": {"U1", "U9"}}}
	mute := struct{ bridge.Platform }{&platform{name: "mute"}}
	d := directory.New(directory.Options{
		People: team(), Platforms: []bridge.Platform{chat, mute}, Schedules: schedules{"night": {"cy"}},
		Groups: map[string]directory.Group{
			"listed": {People: []string{"bo"}}, "chat": {Of: map[string]string{"chat": "S1"}},
			"call": {OnCall: "night"}, "down": {People: []string{"bo"}, OnCall: "lost"},
			"mute": {Of: map[string]string{"mute": "S1"}},
		},
	})
	as := func(person, platform, user string) bridge.Actor {
		return bridge.Actor{Person: person, Platform: platform, User: user}
	}
	for _, x := range []struct {
		group string
		who   bridge.Actor
		in    bool
		fails bool
	}{
		{"listed", as("bo", "chat", "U2"), true, false},
		{"listed", as("ana", "chat", "U1"), false, false},
		{"listed", as("", "chat", "U2"), false, false},
		{"chat", as("ana", "chat", "U1"), true, false},
		{"chat", as("ana", "mail", "M1"), true, false}, // the account on the group's platform
		{"chat", as("", "chat", "U9"), true, false},
		{"chat", as("", "mail", "U9"), false, false},
		{"chat", as("bo", "chat", "U2"), false, false},
		{"call", as("cy", "chat", "U3"), true, false},
		{"call", as("bo", "chat", "U2"), false, false},
		{"call", as("", "chat", "U3"), false, false},
		{"down", as("bo", "chat", "U2"), true, false},
		{"down", as("ana", "chat", "U1"), false, true},
		{"mute", as("", "mute", "U1"), false, true},
		{"removed", as("ana", "chat", "U1"), false, false},
	} {
		in, err := d.Member(t.Context(), x.group, x.who, time.Now())
		if in != x.in || (err != nil) != x.fails || err != nil && bridge.ErrorCode(err) != bridge.CodeUnavailable {
			t.Errorf("%s has %+v: %t, %v; want %t", x.group, x.who, in, err, x.in)
		}
	}
}

// TestMemberFromAnyAccount checks that a person is in a group of a platform from every
// account, whichever of them the platform lists, and that strangers are not.
func TestMemberFromAnyAccount(t *testing.T) {
	t.Parallel()
	for listed, want := range map[string]bool{"U2": true, "U5": true, "U8": false} {
		chat := &platform{name: "chat", members: map[string][]string{"S1": {listed}}}
		d := directory.New(directory.Options{
			People: team(), Platforms: []bridge.Platform{chat}, Links: links{"chat U5": "bo", "mail M5": "bo", "chat U8": "cy"},
			Groups: map[string]directory.Group{"chat": {Of: map[string]string{"chat": "S1"}}},
		})
		for _, from := range []bridge.Actor{on("chat", "U2"), on("chat", "U5"), on("mail", "M5"), {Platform: bridge.PlatformAPI, User: "bo", Person: "bo"}} {
			who, err := d.Identify(t.Context(), from)
			if err != nil || who != "bo" {
				t.Fatalf("%+v is %q, %v", from, who, err)
			}
			from.Person = who
			if in, err := d.Member(t.Context(), "chat", from, time.Now()); in != want || err != nil {
				t.Errorf("the group has %s, and %s of %s is a member: %t, %v", listed, from.User, from.Platform, in, err)
			}
		}
		if in, err := d.Member(t.Context(), "chat", on("mail", "M9"), time.Now()); in || err != nil {
			t.Errorf("a stranger is a member: %t, %v", in, err)
		}
	}
	for name, all := range map[string]directory.Links{"all": downLinks{}, "one of them": partLinks{}} {
		down := directory.New(directory.Options{
			People: team(), Platforms: []bridge.Platform{&platform{name: "chat"}}, Links: all, Groups: map[string]directory.Group{"chat": {Of: map[string]string{"chat": "S1"}}},
		})
		if in, err := down.Member(t.Context(), "chat", bridge.Actor{Platform: bridge.PlatformAPI, User: "bo", Person: "bo"}, time.Now()); in || err == nil {
			t.Errorf("links cannot be read, %s: %t, %v", name, in, err)
		}
	}
}

// downLinks cannot be read.
type downLinks struct{ links }

func (downLinks) Links(context.Context) (bridge.Page[bridge.Link], error) {
	return bridge.Page[bridge.Link]{}, bridge.Errorf(bridge.CodeUnavailable, "Redis is unreachable")
}

// partLinks has a link that cannot be read.
type partLinks struct{ links }

func (partLinks) Links(context.Context) (bridge.Page[bridge.Link], error) {
	return bridge.Page[bridge.Link]{Unreadable: 1}, nil
}

// TestBlankNames checks that a blank setting names no one, not even people without
// an address or a name in a source.
func TestBlankNames(t *testing.T) {
	t.Parallel()
	d := directory.New(directory.Options{
		People: map[string]directory.Person{"bo": {Email: " ", Name: "\t", IDs: map[string]string{"pd": ""}}}, Emails: []string{"chat"},
		Platforms: []bridge.Platform{&platform{name: "chat"}},
	})
	who, err := d.Identify(t.Context(), on("chat", "U7"))
	found, ferr := d.Find(t.Context(), " ")
	if s := who + found + d.Resolve(bridge.Named{Kind: "pd"}) + d.Resolve(bridge.Named{Kind: "pd", Email: " ", Name: " "}); s != "" || err != nil || ferr != nil {
		t.Errorf("%q, %v, %v", s, err, ferr)
	}
}

// TestCrew checks the members of a group that are known by name: its people and
// those who are on call. It says what it cannot read, and who is not in the config.
func TestCrew(t *testing.T) {
	t.Parallel()
	groups := map[string]directory.Group{"ops": {People: []string{"bo"}, OnCall: "night"}, "team": {People: []string{"ana"}},
		"lost": {People: []string{"bo"}, OnCall: "lost"}, "empty": {OnCall: "empty"}, "odd": {OnCall: "odd"}}
	d := directory.New(directory.Options{People: team(), Groups: groups, Schedules: schedules{"night": {"cy", "di", "bo"}, "empty": {}, "odd": {"zoe", "ana"}}})
	for group, want := range map[string]bridge.Crew{
		"ops": {People: []string{"bo", "cy", "di"}}, "team": {People: []string{"ana"}}, "empty": {},
		"odd":  {People: []string{"ana"}, Strangers: []string{"zoe"}},
		"lost": {People: []string{"bo"}, Unread: "the schedule is unreachable"}, "unknown": {Unread: "not in the config"},
	} {
		if diff := cmp.Diff(want, d.Crew(t.Context(), group, time.Now())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", group, diff)
		}
	}
	if got := directory.New(directory.Options{Groups: groups}).Crew(t.Context(), "ops", time.Now()); got.Unread == "" {
		t.Errorf("without schedules: %+v", got)
	}
	d.Crew(t.Context(), "team", time.Now()).People[0] = "mal"
	if groups["team"].People[0] != "ana" {
		t.Error("a caller could change the group")
	}
}

// TestRemembers checks that an answer of a platform is cached for 20 s, that an
// error is cached for 3 s, and that a query to a platform that hangs ends after 2
// s, before the platform abandons the click.
func TestRemembers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		chat := &platform{name: "chat", members: map[string][]string{"S1": {"U1"}}}
		d := directory.New(directory.Options{Platforms: []bridge.Platform{chat},
			Groups: map[string]directory.Group{"g": {Of: map[string]string{"chat": "S1"}}}})
		check := func(want bool, asked int) {
			t.Helper()
			in, err := d.Member(t.Context(), "g", on("chat", "U1"), time.Now())
			if err != nil || in != want || chat.asked != asked {
				t.Errorf("a member: %t, %v, asked %d times; want %t, %d", in, err, chat.asked, want, asked)
			}
		}
		check(true, 1)
		chat.members = nil
		bridge.Pause(t.Context(), directory.Remembered-time.Nanosecond) // on the fake clock
		check(true, 1)
		bridge.Pause(t.Context(), time.Nanosecond)
		check(false, 2)
		bridge.Pause(t.Context(), directory.Remembered)
		chat.err = errors.New("unreachable")
		for n := range 2 {
			if in, err := d.Member(t.Context(), "g", on("chat", "U1"), time.Now()); err == nil || in || chat.asked != 3+n {
				t.Errorf("unreachable: %t, %v, asked %d times", in, err, chat.asked)
			}
			if _, err := d.Member(t.Context(), "g", on("chat", "U1"), time.Now()); err == nil || chat.asked != 3+n {
				t.Errorf("unreachable, again: %v, asked %d times", err, chat.asked)
			}
			bridge.Pause(t.Context(), directory.Forgiven)
		}
		chat.err, chat.hangs = nil, true
		began := time.Now()
		if _, err := d.Member(t.Context(), "g", on("chat", "U1"), time.Now()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a platform that hangs: %v", err)
		}
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("the query took %s", d)
		}
	})
}

// TestForgets checks that the cache is bounded: after 10,000 accounts, the
// first one is looked up again.
func TestForgets(t *testing.T) {
	t.Parallel()
	chat := &platform{name: "chat"}
	d := directory.New(directory.Options{People: team(), Platforms: []bridge.Platform{chat}, Emails: []string{"chat"},
		Remembered: time.Hour})
	identify := func(user string) {
		if _, err := d.Identify(t.Context(), on("chat", user)); err != nil {
			t.Fatal(err)
		}
	}
	const many = 10_000
	for n := range many + 1 {
		identify(string(rune('a'+n%26)) + time.Duration(n).String())
	}
	before := chat.asked
	identify("a0s")
	if before != many+1 || chat.asked != before+1 {
		t.Errorf("asked %d times for %d accounts, then %d times", before, many+1, chat.asked-before)
	}
}
