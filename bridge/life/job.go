package life

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// JobKind is the kind of work of a job.
type JobKind string

// The jobs.
const (
	JobPost   JobKind = "post"   // show the interaction at a destination
	JobEdit   JobKind = "edit"   // update a posted message
	JobStep   JobKind = "step"   // take a step of the escalation policy; Destination is the index of the step
	JobRemind JobKind = "remind" // mention people; Destination is the index of the reminder
	JobHook   JobKind = "hook"   // send the outcome to a webhook or the requester; Destination is the index among Closings
)

// Names of jobs are kind:interaction:index. Posts are in a queue for each agent and
// channel.
func jobName(kind JobKind, id bridge.ID, index int) string {
	return string(kind) + ":" + string(id) + ":" + strconv.Itoa(index)
}

// ParseJob returns the kind, the interaction and the index of a job.
func ParseJob(name string) (kind JobKind, id bridge.ID, index int, err error) {
	parts := strings.Split(name, ":")
	if len(parts) == 3 {
		index, err = strconv.Atoi(parts[2])
	}
	if len(parts) != 3 || err != nil {
		return "", "", 0, bridge.Errorf(bridge.CodeInternal, "unknown job %q", name)
	}
	return JobKind(parts[0]), bridge.ID(parts[1]), index, nil
}

// post returns the job that posts a card.
func post(i bridge.Interaction, destination int, due time.Time) broker.Job {
	sum := sha256.Sum256([]byte(i.Line(destination)))
	return broker.Job{Name: broker.InQueue(jobName(JobPost, i.ID, destination), hex.EncodeToString(sum[:8])), Due: due}
}
