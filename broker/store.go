package broker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Store keeps documents, indexes over them, jobs, and a journal of what happened.
// All methods are safe for concurrent use. If the
// database cannot be reached or refuses, they return its error. If ctx ends first,
// they return the error of ctx, and it is unknown whether a change took effect.
type Store interface {
	// Get returns the documents with some keys, in their order. One that does not
	// exist has version 0.
	Get(ctx context.Context, keys ...Key) ([]Doc, error)
	// Do applies a change, all of it or nothing. It returns a *[Stale], [Untimely]
	// or [Full] if a condition does not hold.
	Do(ctx context.Context, c Change) (Done, error)
	// DoAll applies changes that do not depend on each other, in one trip.
	DoAll(ctx context.Context, cs []Change) []Result
	// Range returns members of an index.
	Range(ctx context.Context, q Query) ([]Member, error)
	// Count returns the number of members of an index with a time from the given
	// one on. The zero time counts all.
	Count(ctx context.Context, index string, from time.Time) (int, error)
	// Claim leases up to n jobs that are due, the longest due first. It also
	// returns the time until the next one is due, or -1 if there is none.
	Claim(ctx context.Context, n int, lease time.Duration) (jobs []Job, next time.Duration, err error)
	// Release ends or extends a lease. It returns [Lost] if another worker has the
	// job by now.
	Release(ctx context.Context, j Job, how Release) (Released, error)
	// Entries returns up to n entries of a stream after an ID, oldest first, and
	// Newest those before an ID, newest first. An empty ID stands for the end from
	// which they read.
	Entries(ctx context.Context, s Stream, after string, n int) ([]Entry, error)
	Newest(ctx context.Context, s Stream, before string, n int) ([]Entry, error)
	// Copy appends entries to a stream under the IDs that they have. It ignores
	// those that the stream has already. It returns a [Passed] for one that it has
	// not, but has later ones.
	Copy(ctx context.Context, s Stream, entries []Entry) error
	// Trim removes the entries of a stream through an ID, and Remove single ones.
	Trim(ctx context.Context, s Stream, through string) error
	Remove(ctx context.Context, s Stream, ids []string) error
	// Census returns what the database counts about a stream.
	Census(ctx context.Context, s Stream) (Census, error)
	// Follow calls f with the entries of the journal after an ID as they come, until
	// ctx ends. An empty ID stands for its end. It calls lost once it may have missed
	// some: then what f knows has to be read again.
	Follow(ctx context.Context, after string, f func([]Entry), lost func())
	// Sample returns up to n random members of an index.
	Sample(ctx context.Context, index string, n int) ([]string, error)
	// Work returns the number of jobs, of dead letters, and how long the first job
	// has been due.
	Work(ctx context.Context) (jobs, dead int, lag time.Duration, err error)
	// Tally adds one to a counter, which is kept for some time after, and returns it.
	Tally(ctx context.Context, name string, keep time.Duration) (int, error)
	// Ready returns an error unless the store can store requests and decisions now.
	Ready(ctx context.Context) error
	// Confirm returns once the configured replicas have all that the database has now,
	// and so the documents that were read with some versions. It may return a *[Stale]
	// if one has another version by now: someone changed it, or a failover lost it.
	Confirm(ctx context.Context, read ...Version) error
	// Now returns the time of the store, as this process knows it.
	Now() time.Time
}

// Key names a document.
type Key struct {
	Kind string
	ID   string // unique within the kind
}

// String returns the name of the document within the store.
func (k Key) String() string { return k.Kind + ":" + k.ID }

// Doc is a document.
type Doc struct {
	Key
	// Format is the format of the value. A daemon does not overwrite a document of
	// a format that is newer than its own: it cannot read it, and every write needs
	// the version that was read.
	Format int
	// Version changes with each write, and is never used again under a key. In a
	// change, it is the version that is replaced: 0 if there is none.
	Version int64
	Value   []byte
	// Next is the version that the document gets in a change. Zero leaves that to the
	// store; see [Doc.NextVersion].
	Next int64
	// Keep is the time for which the document lives after a write. Zero means
	// forever. Get does not set it.
	Keep time.Duration
	// Entry is the ID of a journal entry about the document. It is not sealed, so it
	// only helps to find the entry. If Noted is more than 0, it is that of the entry
	// of the change with this number, counted from 1.
	Entry string
	Noted int
	// Fresh skips the comparison of the version, for a document of a key that no
	// one else can have.
	Fresh bool
	// Problem is the reason why the document does not verify. It is empty for one
	// that does.
	Problem string
}

// Exists reports whether there is such a document.
func (d Doc) Exists() bool { return d.Version != 0 }

// At returns the version of the document, as a condition.
func (d Doc) At() Version { return Version{d.Key, d.Version} }

// Malformed is the version of everything that is stored under the key of a document
// and does not begin with a version. It exists, so it is not taken for a document that
// there is not, and it can be replaced and dropped like any other.
const Malformed int64 = -1

// Version is the condition that a document has a version. 0 means that there is
// no such document.
type Version struct {
	Key
	Version int64
}

// Change is a transaction. Its conditions are From, Until, If, Below, and the
// versions of Put and Drop.
type Change struct {
	From, Until time.Time // the store's clock; From is included, Until is not
	If          []Version
	Below       []Bound
	Put         []Doc
	Drop        []Version
	Set, Unset  []Member
	// Request makes jobs due, and Withdraw removes jobs by their names.
	Request  []Job
	Withdraw []string
	Journal  []Entry
	// Urgent changes are also accepted when the database is out of memory. Redis 6.2
	// refuses them as well, because its scripts have no flags.
	Urgent bool
	// Replicated means that the change counts only once the configured replicas have it.
	Replicated bool
}

// Bound is the condition that an index has fewer than Max members.
type Bound struct {
	Index string
	Max   int
}

// Member is a member of an index, which is ordered by time. An index is a hint, with
// two exceptions that the documentation of the package names: what is true is in the
// documents.
type Member struct {
	Index string
	Name  string
	// At is its time. In a change, zero means that of the change, or just after all
	// members that the index has, so that members are in the order in which they were
	// set.
	At time.Time
	// IndexTTL is the time for which the index lives after this write. Zero leaves it
	// unchanged.
	IndexTTL time.Duration
}

// Query selects members of an index.
type Query struct {
	Index    string
	From, To time.Time // both included; zero means no bound
	Newest   bool      // in descending order
	N        int       // at most; zero means all
	Skip     int
}

// Entry is an entry of a stream.
type Entry struct {
	ID string // set by the store
	// Fields holds names and values, alternating. Entries with the same names in
	// the same order take less space.
	Fields []string
}

// Get returns the value of a field, or "".
func (e Entry) Get(name string) string {
	for n := 0; n+1 < len(e.Fields); n += 2 {
		if e.Fields[n] == name {
			return e.Fields[n+1]
		}
	}
	return ""
}

// Stream names a stream of entries.
type Stream string

// The streams. Changes append to the journal.
const (
	Journal Stream = "journal"
	Archive Stream = "archive"
)

// Census holds what a database counts about a stream.
type Census struct {
	Last string // ID of the newest entry that was ever added; empty if there was none
	// Added is the number of entries that were ever added. It is 0 if the database
	// does not count them.
	Added int64
	// Removed is the highest ID that was removed singly. It is empty if the database
	// does not know it.
	Removed string
}

// Done is the result of a change.
type Done struct {
	At      time.Time // by the store's clock
	Entries []string  // IDs of the entries of Change.Journal
	// Versions are those of the documents of Change.Put now.
	Versions []int64
}

// Result is the result of one of several changes.
type Result struct {
	Done
	Err error
}

// Stale is the error of a change for which a document has another version.
type Stale struct {
	// Docs holds the documents of Change.If, Put and Drop as they are now, without
	// those that are fresh.
	Docs []Doc
}

// Error implements error.
func (s *Stale) Error() string { return "a document was changed in the meantime" }

// Untimely is the error of a change outside of its time.
type Untimely struct{ At time.Time }

// Error implements error.
func (u Untimely) Error() string {
	return "the change is early or late at " + u.At.UTC().Format(time.RFC3339Nano)
}

// Full is the error of a change for which an index has too many members.
type Full struct{ Index string }

// Error implements error.
func (f Full) Error() string { return fmt.Sprintf("the index %q is full", f.Index) }

// Passed is the error for an entry that cannot be copied to a stream, because the stream
// has had later ones.
type Passed struct {
	Stream Stream
	ID     string
}

// Error implements error.
func (p Passed) Error() string {
	return fmt.Sprintf("the %s has no entry %s, but had later ones", p.Stream, p.ID)
}

// Same reports whether another entry has the ID and the fields of e.
func (e Entry) Same(o Entry) bool {
	if e.ID != o.ID {
		return false
	}
	for n := 0; n+1 < len(e.Fields); n += 2 {
		if o.Get(e.Fields[n]) != e.Fields[n+1] {
			return false
		}
	}
	return true
}

// Versions returns the conditions on documents: If, and those of Put and Drop.
func (c Change) Versions() []Version {
	out := make([]Version, 0, len(c.If)+len(c.Put)+len(c.Drop))
	out = append(out, c.If...)
	for _, d := range c.Put {
		if !d.Fresh {
			out = append(out, d.At())
		}
	}
	return append(out, c.Drop...)
}

// NextVersion returns the version that the document gets when it replaces the one
// with its own. The first version under a key is random, so that a key that is used
// again does not repeat one, and so is the distance of each later one: after a failover
// dropped a version, another change of the same document does not repeat it.
func (d Doc) NextVersion() int64 {
	if d.Next > 0 {
		return d.Next
	}
	if d.Version <= 0 || d.Version > lastVersion-versionStep || d.Fresh {
		return 1 + rand.Int64N(firstVersions)
	}
	return d.Version + 1 + rand.Int64N(versionStep)
}

const (
	// firstVersions is the number of first versions. It leaves room for two billion
	// changes in the digits of a stored version.
	firstVersions = 9e15
	// versionStep is the maximum distance between two versions.
	versionStep = 1e6
	// lastVersion is the highest number with the digits of a stored version. Only
	// someone else can have stored it.
	lastVersion = 1e16 - 1
)

// With returns a change that also does what another one does.
func (c Change) With(o Change) Change {
	if o.From.After(c.From) {
		c.From = o.From
	}
	if c.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(c.Until) {
		c.Until = o.Until
	}
	for _, d := range o.Put {
		if d.Noted > 0 {
			d.Noted += len(c.Journal)
		}
		c.Put = append(c.Put, d)
	}
	c.If, c.Below, c.Drop = append(c.If, o.If...), append(c.Below, o.Below...), append(c.Drop, o.Drop...)
	c.Set, c.Unset = append(c.Set, o.Set...), append(c.Unset, o.Unset...)
	c.Request, c.Withdraw = append(c.Request, o.Request...), append(c.Withdraw, o.Withdraw...)
	c.Journal = append(c.Journal, o.Journal...)
	c.Urgent, c.Replicated = c.Urgent || o.Urgent, c.Replicated || o.Replicated
	return c
}

// Empty reports whether the change would do nothing.
func (c Change) Empty() bool {
	return len(c.Put)+len(c.Drop)+len(c.Set)+len(c.Unset)+len(c.Request)+len(c.Withdraw)+len(c.Journal) == 0
}
