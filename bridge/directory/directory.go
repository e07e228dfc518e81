// Package directory answers two questions: which person an account belongs to,
// and who is a member of a group. It knows accounts from the config, from links
// that package engine stores, and from email addresses that a platform
// confirms. It asks platforms and on-call schedules for group members, and
// caches each answer for a short time. It stores nothing.
//
// Whether a person may respond to a request belongs to bridge/people. The
// schedules themselves belong to bridge/oncall. Start with [Directory.Identify]
// and [Directory.Member].
package directory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Remembered is the lifetime of a cached platform answer. It is short, so that
// people who leave a group soon lose its rights, and covers the clicks on a
// card that several people discuss.
const Remembered = 20 * time.Second

// Forgiven is the lifetime of a cached failure, so that a list of many requests
// waits for the same failure once.
const Forgiven = 3 * time.Second

// patience limits a query to a platform, because platforms abandon a click
// after three seconds.
const patience = 2 * time.Second

// maxRemembered limits the number of cached answers.
const maxRemembered = 10_000

// Person is a person in the config.
type Person struct {
	Accounts map[string]string // user IDs by platform
	IDs      map[string]string // by kind of schedule
	Email    string
	Name     string // display name; if empty, the name in the config
}

// Group is a group of people. A person who matches any of its fields is a
// member.
type Group struct {
	People []string
	// Of maps platforms to native groups, in the format of each platform.
	Of map[string]string
	// OnCall is the name of a schedule. If it is empty, the group has no
	// schedule.
	OnCall string
}

// Scheduler returns who is on call.
type Scheduler interface {
	// OnCall returns who is on call at a time, by their names in the schedule.
	// It returns CodeUnavailable if that is unknown.
	OnCall(ctx context.Context, schedule string, at time.Time) ([]bridge.Named, error)
}

// Links stores linked accounts.
type Links interface {
	Linked(ctx context.Context, platform, user string) (bridge.Link, error)
	// Links returns all links.
	Links(context.Context) (bridge.Page[bridge.Link], error)
}

// Options configures a Directory.
type Options struct {
	People    map[string]Person
	Groups    map[string]Group
	Platforms []bridge.Platform
	Schedules Scheduler // if nil, there are no schedules
	Links     Links     // if nil, account linking is disabled
	// Emails lists the platforms whose email addresses prove an identity.
	Emails []string
	// Guests means that the email addresses of guests count too.
	Guests bool
	// Remembered is the lifetime of cached answers in tests. Zero means the
	// constant Remembered.
	Remembered time.Duration
}

// Directory implements bridge.Directory. It is safe for concurrent use.
type Directory struct {
	o         Options
	platforms map[string]bridge.Platform
	names     []string            // names of the people, sorted
	spelled   map[string][]string // people by the keys that call builds from names in other sources

	mu      sync.Mutex
	kept    map[string]kept
	flights map[string]*flight
}

// flight is a running query to a platform. Concurrent callers share its answer.
type flight struct {
	done   chan struct{}
	answer kept
}

type kept struct {
	yes      bool
	text     string
	list     []string
	links    []bridge.Link
	standing bridge.Standing
	err      error
	until    time.Time
}

var _ bridge.Directory = (*Directory)(nil)

// New returns a directory.
func New(o Options) *Directory {
	if o.Remembered == 0 {
		o.Remembered = Remembered
	}
	d := &Directory{o: o, platforms: map[string]bridge.Platform{}, kept: map[string]kept{}, flights: map[string]*flight{}}
	for _, p := range o.Platforms {
		d.platforms[p.Name()] = p
	}
	d.index()
	return d
}

// Identify implements bridge.Directory.
func (d *Directory) Identify(ctx context.Context, a bridge.Actor) (string, error) {
	if a.Platform == bridge.PlatformAPI {
		return a.Person, nil
	}
	if all := d.withAccount(a); len(all) > 0 {
		return one(all), nil
	}
	if d.o.Links != nil {
		l, err := d.o.Links.Linked(ctx, a.Platform, a.User)
		if err != nil {
			return "", err
		}
		if _, known := d.o.People[l.Person]; known {
			return l.Person, nil
		}
	}
	got, err := d.email(a)
	if err != nil || !d.countsEmail(got.standing) {
		return "", err
	}
	return d.ofEmail(a, got.text), nil
}

// same reports whether two IDs identify the same account on a platform. An
// empty ID identifies none.
func (d *Directory) same(platform, a, b string) bool {
	if a == "" || a == b {
		return a != ""
	}
	m, ok := d.platforms[platform].(bridge.AccountMatcher)
	return ok && m.SameAccount(a, b)
}

// withAccount returns the people who have an account in the config.
func (d *Directory) withAccount(a bridge.Actor) []string {
	return d.those(func(_ string, p Person) bool { return d.same(a.Platform, p.Accounts[a.Platform], a.User) })
}

// ofEmail returns the person to whom the email address of an account belongs.
// If the person has another account on the platform, the account belongs to
// someone else.
func (d *Directory) ofEmail(a bridge.Actor, email string) string {
	who := one(d.withEmail(email))
	if d.o.People[who].Accounts[a.Platform] != "" {
		return ""
	}
	return who
}

// email returns the email address and the standing of an account, on platforms
// whose addresses prove an identity.
func (d *Directory) email(a bridge.Actor) (kept, error) {
	m, ok := d.platforms[a.Platform].(bridge.EmailResolver)
	if !ok || !slices.Contains(d.o.Emails, a.Platform) {
		return kept{}, nil
	}
	return d.remember("mail "+a.Platform+" "+a.User, func(ctx context.Context) (kept, error) {
		mail, standing, err := m.Email(ctx, a.User)
		return kept{text: mail, standing: standing}, err
	})
}

// countsEmail reports whether the email address of an account with a standing
// shows which person it belongs to.
func (d *Directory) countsEmail(s bridge.Standing) bool {
	return bridge.Rights[s].Email || s == bridge.StandingGuest && d.o.Guests
}

// Standing implements bridge.Directory.
func (d *Directory) Standing(ctx context.Context, a bridge.Actor) (bridge.Standing, error) {
	if len(d.withAccount(a)) > 1 {
		return bridge.StandingSeveral, nil
	}
	got, err := d.email(a)
	switch {
	case err != nil:
		return "", err
	case !d.countsEmail(got.standing):
		return got.standing, nil
	case len(d.withEmail(got.text)) > 0 && d.ofEmail(a, got.text) == "":
		return bridge.StandingSeveral, nil
	}
	return "", nil
}

// Native implements bridge.Directory.
func (d *Directory) Native(group, platform string) string { return d.o.Groups[group].Of[platform] }

// Crew implements bridge.Directory.
func (d *Directory) Crew(ctx context.Context, group string, at time.Time) bridge.Crew {
	g, ok := d.o.Groups[group]
	if !ok {
		return bridge.Crew{Unread: "not in the config"}
	}
	out := bridge.Crew{People: slices.Clone(g.People)}
	if g.OnCall == "" {
		return out
	}
	people, strangers, err := d.onCall(ctx, g.OnCall, at)
	if err != nil {
		out.Unread = bridge.Cause(err)
	}
	out.People, out.Strangers = append(out.People, bridge.Missing(out.People, people)...), strangers
	return out
}

// onCall returns the people of a schedule at a time, and those who are not in the
// config.
func (d *Directory) onCall(ctx context.Context, schedule string, at time.Time) (people, strangers []string, err error) {
	if d.o.Schedules == nil {
		return nil, nil, bridge.Errorf(bridge.CodeUnavailable, "unknown schedule %q", schedule)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := d.o.Schedules.OnCall(ctx, schedule, at)
	if err != nil {
		return nil, nil, unknown(err)
	}
	found := map[string]bool{}
	for _, n := range all {
		switch person := d.Resolve(n); {
		case person == "":
			strangers = append(strangers, cmp.Or(n.String(), "someone without a name"))
		case !found[person]:
			found[person], people = true, append(people, person)
		}
	}
	return people, strangers, nil
}

// Member implements bridge.Directory.
func (d *Directory) Member(ctx context.Context, group string, who bridge.Actor, at time.Time) (bool, error) {
	g, ok := d.o.Groups[group]
	if !ok {
		return false, nil // removed from the config
	}
	if who.Person != "" && slices.Contains(g.People, who.Person) {
		return true, nil
	}
	var unread error
	if g.OnCall != "" && who.Person != "" {
		people, _, err := d.onCall(ctx, g.OnCall, at)
		if slices.Contains(people, who.Person) {
			return true, nil
		}
		unread = err
	}
	for _, platform := range slices.Sorted(maps.Keys(g.Of)) {
		users, err := d.users(who, platform)
		unread = cmp.Or(unread, err)
		for _, user := range users {
			in, err := d.belongs(platform, g.Of[platform], user)
			if in && err == nil {
				return true, nil
			}
			unread = cmp.Or(unread, err)
		}
	}
	return false, unread
}

func (d *Directory) belongs(platform, group, user string) (bool, error) {
	p, ok := d.platforms[platform].(bridge.Grouper)
	if !ok {
		return false, bridge.Errorf(bridge.CodeUnavailable, "%s does not support groups", platform)
	}
	if l, ok := p.(bridge.MemberLister); ok {
		got, err := d.remember("of "+platform+" "+group, func(ctx context.Context) (kept, error) {
			all, err := l.Members(ctx, group)
			return kept{list: all}, err
		})
		return slices.ContainsFunc(got.list, func(id string) bool { return d.same(platform, id, user) }), err
	}
	got, err := d.remember("in "+platform+" "+group+" "+user, func(ctx context.Context) (kept, error) {
		in, err := p.Belongs(ctx, group, user)
		return kept{yes: in}, err
	})
	return got.yes, err
}

// unknown returns the error for a query that a platform does not answer. It
// replaces the platform's error code, which is about the query: callers would
// take that code for their reply to the person.
func unknown(err error) error {
	switch bridge.ErrorCode(err) {
	case bridge.CodeUnavailable, bridge.CodeRateLimited, bridge.CodeInternal:
		return err
	}
	e := bridge.PublicError(err)
	e.Code, e.Cause = bridge.CodeUnavailable, err
	return e
}

// remember returns a cached answer, or asks for a new one, once for all
// concurrent callers. It also caches an error for a short time. It never
// returns an expired answer instead of an error.
func (d *Directory) remember(key string, ask func(context.Context) (kept, error)) (kept, error) {
	d.mu.Lock()
	if k, ok := d.kept[key]; ok && time.Now().Before(k.until) {
		d.mu.Unlock()
		return k, k.err
	}
	if f := d.flights[key]; f != nil {
		d.mu.Unlock()
		<-f.done // at most for patience
		return f.answer, f.answer.err
	}
	f := &flight{done: make(chan struct{})}
	d.flights[key] = f
	d.mu.Unlock()
	f.answer = d.ask(ask)
	d.mu.Lock()
	defer d.mu.Unlock()
	defer close(f.done)
	delete(d.flights, key)
	if len(d.kept) >= maxRemembered {
		clear(d.kept)
	}
	d.kept[key] = f.answer
	return f.answer, f.answer.err
}

// ask asks a platform. If the platform limits the rate, it asks again, unless
// the wait exceeds the time of a click.
func (d *Directory) ask(ask func(context.Context) (kept, error)) kept {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // several people wait for the answer
	defer cancel()
	for {
		k, err := ask(ctx)
		if err == nil {
			k.until = time.Now().Add(d.o.Remembered)
			return k
		}
		wait := bridge.PublicError(err).RetryAfter
		if bridge.ErrorCode(err) != bridge.CodeRateLimited || wait <= 0 || wait > patience || !bridge.Pause(ctx, wait) {
			return kept{err: unknown(err), until: time.Now().Add(min(Forgiven, d.o.Remembered))}
		}
	}
}
