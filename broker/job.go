package broker

import (
	"strings"
	"time"
)

// Job is work that has to be done, under a name. It is a level, not an event: to
// request a job that exists makes it due at the earlier of both times, unless an
// attempt has failed: then it keeps the time of the next one. A job that is being
// worked on is done again after that.
type Job struct {
	Name string
	// Due is the time from which the job can be claimed, in a request.
	Due time.Time
	// Exact replaces the time of a job that no one works on, even by a later one.
	Exact bool

	// The other fields are set by Claim.
	Attempt    int       // 1 for the first
	Fence      int64     // changes with each lease
	Generation int64     // changes with each request
	Began      time.Time // when it was leased first
}

// queueMark separates the name of a job from that of its queue.
const queueMark = "@"

// InQueue returns the name of a job that is in a queue. Only the first job of a
// queue can be claimed. A queue has no mark in its name.
func InQueue(job, queue string) string { return job + queueMark + queue }

// Parts returns the name of the job without its queue, and the queue, which is
// empty for a job in none.
func (j Job) Parts() (name, queue string) {
	name, queue, _ = strings.Cut(j.Name, queueMark)
	return name, queue
}

// Queue returns the queue of the job, or "".
func (j Job) Queue() string {
	_, queue := j.Parts()
	return queue
}

// Release describes how a lease ends. Exactly one of Done, Dead, Again and Extend
// is set.
type Release struct {
	Done  bool          // the work is done
	Dead  []byte        // the work cannot be done; the value is kept
	Again time.Duration // the work is due again after this time; at least one millisecond
	// Free means that the attempt does not count, with Again.
	Free bool
	// Stays means that the job keeps its place in its queue, with Again. Otherwise
	// the next one becomes the first.
	Stays  bool
	Extend time.Duration // the lease is extended to this time from now
}

// Released is the result of Release.
type Released int

// The results of Release.
const (
	Lost      Released = iota // another worker has the job
	Over                      // done, or extended
	Requested                 // the job was requested in the meantime, and is due now
)

// QueueMost is the number of jobs of a queue above which further ones do not wait.
const QueueMost = 4096
