package broker

import (
	"strings"
	"time"
)

// Job is named work. Requests for a job do not add up: a request for an
// existing job makes it due at the earlier of both times. If an attempt has
// failed, the job keeps the time of the next attempt. A request during an
// attempt makes the job run again afterward.
type Job struct {
	Name string
	// Due is the time from which the job can be claimed. It is set in requests.
	Due time.Time
	// Exact replaces the time of a job that no worker has, even with a later
	// time.
	Exact bool

	// The other fields are set by Claim.
	Attempt    int       // 1 for the first attempt
	Fence      int64     // changes with each lease
	Generation int64     // changes with each request for the job
	Began      time.Time // time of the first lease
}

// queueMark separates the name of a job from that of its queue.
const queueMark = "@"

// InQueue returns the name of a job that is in a queue. Only the first job of a
// queue can be claimed. A queue has no mark in its name.
func InQueue(job, queue string) string { return job + queueMark + queue }

// Parts returns the name of the job without its queue, and the queue. The queue
// is empty if the job is in no queue.
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
	// KeepsPlace means that the job keeps its place in its queue, with Again.
	// Otherwise, the next job becomes the first.
	KeepsPlace bool
	Extend     time.Duration // the lease is extended to this duration from now
}

// Released is the result of Release.
type Released int

// The results of Release.
const (
	Lost      Released = iota // another worker has leased the job, or the job no longer exists
	Applied                   // the release took effect
	Requested                 // the job was requested in the meantime, and is due now
)

// QueueMost is the maximum number of waiting jobs of a queue. Additional jobs
// do not wait.
const QueueMost = 4096
