package broker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Store keeps documents, indexes over them, jobs, and a journal of events. All
// methods are safe for concurrent use. If the database is unreachable or
// refuses a call, they return its error. If ctx ends first, they return ctx's
// error, and it is unknown whether a change took effect.
type Store interface {
	// Get returns the documents with the given keys, in their order. A missing
	// document has version 0.
	Get(ctx context.Context, keys ...Key) ([]Doc, error)
	// Do applies a change completely or not at all. It returns a *[Stale],
	// [Untimely] or [Full] if a condition does not hold.
	Do(ctx context.Context, c Change) (Done, error)
	// DoAll applies independent changes in one round trip.
	DoAll(ctx context.Context, cs []Change) []Result
	// Range returns members of an index.
	Range(ctx context.Context, q Query) ([]Member, error)
	// Count returns the number of members of an index whose time is not before
	// the given one. The zero time counts all members.
	Count(ctx context.Context, index string, from time.Time) (int, error)
	// Claim leases up to n jobs that are due, beginning with the longest due.
	// It also returns the time until the next job is due, or -1 if there is no
	// job.
	Claim(ctx context.Context, n int, lease time.Duration) (jobs []Job, next time.Duration, err error)
	// Release ends or extends a lease. It returns [Lost] if another worker has
	// leased the job in the meantime, or if the job no longer exists.
	Release(ctx context.Context, j Job, how Release) (Released, error)
	// Entries returns up to n entries of a stream after an ID, oldest first.
	// Newest returns up to n entries before an ID, newest first. An empty ID
	// stands for the start or the end of the stream.
	Entries(ctx context.Context, s Stream, after string, n int) ([]Entry, error)
	Newest(ctx context.Context, s Stream, before string, n int) ([]Entry, error)
	// Copy appends entries to a stream with their existing IDs. It ignores
	// entries that the stream already has. It returns a [Passed] for a missing
	// entry if the stream has later entries.
	Copy(ctx context.Context, s Stream, entries []Entry) error
	// Trim removes the entries of a stream up to and including an ID. Remove
	// removes individual entries.
	Trim(ctx context.Context, s Stream, through string) error
	Remove(ctx context.Context, s Stream, ids []string) error
	// Census returns the counters of the database for a stream.
	Census(ctx context.Context, s Stream) (Census, error)
	// Follow calls f with each new entry of the journal after an ID, until ctx
	// ends. An empty ID stands for the end of the journal. It calls lost if it
	// may have missed entries. The caller must then read its data again.
	Follow(ctx context.Context, after string, f func([]Entry), lost func())
	// Sample returns up to n random members of an index.
	Sample(ctx context.Context, index string, n int) ([]string, error)
	// Work returns the number of jobs, the number of dead letters, and the time
	// for which the first job has been due.
	Work(ctx context.Context) (jobs, dead int, lag time.Duration, err error)
	// Tally adds one to a counter and returns the counter. The counter is kept
	// for some time.
	Tally(ctx context.Context, name string, keep time.Duration) (int, error)
	// Ready returns an error unless the store can store requests and decisions now.
	Ready(ctx context.Context) error
	// Confirm returns once the configured replicas have all current data of the
	// database, which includes the documents that were read with the given
	// versions. It may return a *[Stale] if a document has another version now,
	// because someone changed it or a failover lost it.
	Confirm(ctx context.Context, read ...Version) error
	// Now returns the time of the store, as far as this process knows it.
	Now() time.Time
}

// Key names a document.
type Key struct {
	Kind string
	ID   string // ID within the kind
}

// String returns the name of the document within the store.
func (k Key) String() string { return k.Kind + ":" + k.ID }

// Doc is a document.
type Doc struct {
	Key
	// Format is the format of the value. A daemon does not overwrite a document
	// with a newer format, because it cannot read the document, and every write
	// requires the version that was read.
	Format int
	// Version changes with each write, and is never reused under a key. In a
	// change, it is the version to replace, or 0 if the document does not
	// exist.
	Version int64
	Value   []byte
	// Next is the version that a change gives to the document. If it is zero,
	// the store chooses the version; see [Doc.NextVersion].
	Next int64
	// Keep is the lifetime of the document after a write. Zero means that it
	// does not expire. Get does not set it.
	Keep time.Duration
	// Entry is the ID of a journal entry about the document. It is not sealed,
	// so use it only to find the entry. If Noted is more than 0, Entry is set
	// to the ID of the entry of the change with this number, counted from 1.
	Entry string
	Noted int
	// Fresh skips the comparison of the version. Use it for a document with a
	// new, unique key.
	Fresh bool
	// Problem is the reason that the document does not verify. It is empty for
	// a document that verifies.
	Problem string
}

// Exists reports whether the document exists.
func (d Doc) Exists() bool { return d.Version != 0 }

// At returns the condition that the document still has this version.
func (d Doc) At() Version { return Version{d.Key, d.Version} }

// Malformed is the version of a stored text that does not start with a version.
// The document counts as existing, so it is not mistaken for a missing
// document, and it can be replaced and dropped like any other.
const Malformed int64 = -1

// Version is the condition that a document has a version. 0 means that the
// document does not exist.
type Version struct {
	Key
	Version int64
}

// Change is a transaction. Its conditions are From, Until, If, Below, and the
// versions in Put and Drop.
type Change struct {
	From, Until time.Time // by the store's clock; From is included, Until is not
	// At is the time of the store with which the change was made. Zero means the time
	// of Do. The jobs of a change do not count if the clock has jumped since.
	At         time.Time
	If         []Version
	Below      []Bound
	Put        []Doc
	Drop       []Version
	Set, Unset []Member
	// Request makes jobs due, and Withdraw removes jobs by their names.
	Request  []Job
	Withdraw []string
	Journal  []Entry
	// Urgent changes are also accepted when the database is out of memory. Redis 6.2
	// refuses them as well, because its scripts have no flags.
	Urgent bool
	// Replicated means that the change counts only after the configured
	// replicas have it.
	Replicated bool
}

// Bound is the condition that an index has fewer than Max members.
type Bound struct {
	Index string
	Max   int
}

// Member is a member of an index, which is ordered by time. An index is a hint,
// with the exception that the package documentation describes. Only the
// documents are authoritative.
type Member struct {
	Index string
	Name  string
	// At is the time of the member. In a change, zero means the time of the
	// change, or a time after all members of the index, so that members keep
	// the order in which they were set.
	At time.Time
	// IndexTTL is the time for which the index lives after this write, and for
	// which it keeps members after their times. Zero leaves both unchanged.
	IndexTTL time.Duration
}

// Query selects members of an index.
type Query struct {
	Index    string
	From, To time.Time // both included; zero means that there is no bound
	Newest   bool      // in descending order
	N        int       // maximum number; zero means all
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

// Census holds the counters of a database for a stream.
type Census struct {
	Last string // ID of the newest entry that was ever added; empty if none was added
	// Added is the number of entries that were ever added. It is 0 if the database
	// does not count them.
	Added int64
	// Removed is the highest ID that was removed individually. It is empty if
	// the database does not know it.
	Removed string
}

// Done is the result of a change.
type Done struct {
	At      time.Time // by the store's clock
	Entries []string  // IDs of the entries of Change.Journal
	// Versions holds the new versions of the documents in Change.Put.
	Versions []int64
}

// Result is the result of one of several changes.
type Result struct {
	Done
	Err error
}

// Stale is the error of a change for which a document has another version.
type Stale struct {
	// Docs holds the current documents of Change.If, Put and Drop, without
	// fresh documents.
	Docs []Doc
}

// Error implements error.
func (s *Stale) Error() string { return "a document was changed in the meantime" }

// Untimely is the error of a change outside of its time range.
type Untimely struct{ At time.Time }

// Error implements error.
func (u Untimely) Error() string {
	return "the change is early or late at " + u.At.UTC().Format(time.RFC3339Nano)
}

// Full is the error of a change for which an index has too many members.
type Full struct{ Index string }

// Error implements error.
func (f Full) Error() string { return fmt.Sprintf("the index %q is full", f.Index) }

// Passed is the error for an entry that cannot be copied to a stream, because
// the stream already has later entries.
type Passed struct {
	Stream Stream
	ID     string
}

// Error implements error.
func (p Passed) Error() string {
	return fmt.Sprintf("the %s has no entry %s, but had later ones", p.Stream, p.ID)
}

// Same reports whether another entry has the same ID and fields.
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

// Versions returns the conditions on documents: If, and the versions in Put and
// Drop.
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

// NextVersion returns the version that the document gets when it replaces its
// current version. The first version under a key is random, so that a reused
// key does not repeat a version. The distance to each later version is also
// random: after a failover dropped a version, another change of the same
// document does not repeat that version.
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
	// firstVersions is the number of possible first versions. It leaves room
	// for two billion changes within the digits of a stored version.
	firstVersions = 9e15
	// versionStep is the maximum distance between two versions.
	versionStep = 1e6
	// lastVersion is the highest number with the digits of a stored version.
	// nod never stores it.
	lastVersion = 1e16 - 1
)

// With returns a change that also applies another change.
func (c Change) With(o Change) Change {
	if o.From.After(c.From) {
		c.From = o.From
	}
	if c.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(c.Until) {
		c.Until = o.Until
	}
	if c.At.IsZero() {
		c.At = o.At
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
