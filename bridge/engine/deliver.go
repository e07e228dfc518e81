package engine

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	jobLease       = 5 * time.Second // how long the jobs of a dead process wait; renewed while it lives
	jobRenew       = 1500 * time.Millisecond
	jobTimeout     = 20 * time.Second // of the platform's calls
	jobsAtOnce     = 16
	postAttempts   = 6  // about 8 s of transient failure, then the destination is given up
	editAttempts   = 40 // about half an hour, then a dead letter
	firstBackoff   = 250 * time.Millisecond
	maxBackoff     = time.Minute
	outboxPoll     = time.Second // bound on how late a job of a dead process is seen
	sweepPoll      = 20 * time.Millisecond
	sweepBatch     = 100                 // of a partition, in one script
	sessionThreads = 30 * 24 * time.Hour // how long a session's thread is remembered
)

// workOutbox hands jobs to goroutines until ctx ends.
func (e *Engine) workOutbox(ctx context.Context) {
	slots := make(chan struct{}, jobsAtOnce)
	var wg sync.WaitGroup
	defer wg.Wait()
	for ctx.Err() == nil {
		jobs, err := e.store.Claim(ctx, jobsAtOnce-len(slots), jobLease)
		if err != nil {
			if ctx.Err() == nil {
				e.log.Warn("outbox not reachable", "error", err)
			}
			bridge.Pause(ctx, time.Second)
			continue
		}
		for _, j := range jobs {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				e.work(ctx, j)
			})
		}
		if len(jobs) == 0 || len(slots) == jobsAtOnce {
			e.store.Wait(ctx, outboxPoll)
		}
	}
}

func (e *Engine) work(ctx context.Context, j bridge.Job) {
	// A job under way is finished even when the daemon is told to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTimeout)
	defer cancel()
	var renewal sync.WaitGroup
	defer renewal.Wait()
	defer cancel()
	renewal.Go(func() { e.keepJob(ctx, cancel, j) })
	if err := e.do(ctx, j); err != nil {
		e.log.Warn("job not noted, its lease will end", "job", j.ID, "id", j.Interaction, "error", err)
	}
}

// do does the work of a job, and notes what became of it.
func (e *Engine) do(ctx context.Context, j bridge.Job) error {
	var err error
	switch j.Kind {
	case bridge.JobHook:
		return e.tell(ctx, j)
	case bridge.JobStep:
		if err = e.step(ctx, j); err == nil {
			return nil
		}
		return e.failed(ctx, j, err)
	case bridge.JobRemind:
		err = e.remind(ctx, j)
	case bridge.JobPost:
		err = e.post(ctx, j)
	default:
		err = e.update(ctx, j)
	}
	if err == nil {
		return e.store.Finish(ctx, j)
	}
	return e.failed(ctx, j, err)
}

// keepJob renews a job's lease until ctx ends, and stops the work once another
// process may have taken it over.
func (e *Engine) keepJob(ctx context.Context, stop func(), j bridge.Job) {
	for bridge.Pause(ctx, jobRenew) {
		if held, err := e.store.Extend(ctx, j, jobLease); err == nil && !held {
			e.log.Warn("lease of a job lost", "job", j.ID)
			stop()
			return
		}
	}
}

func (e *Engine) platformOf(r bridge.Record, destination int) (bridge.Platform, error) {
	if destination >= len(r.Interaction.Destinations) {
		return nil, bridge.Errorf(bridge.CodeInternal, "job for destination %d of %d", destination, len(r.Interaction.Destinations))
	}
	name := r.Interaction.Destinations[destination].Platform
	p, ok := e.platforms[name]
	if !ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "platform %s is not configured", name)
	}
	return p, nil
}

func (e *Engine) post(ctx context.Context, j bridge.Job) error {
	r, err := e.store.Load(ctx, j.Interaction)
	if err != nil {
		return err
	}
	p, err := e.platformOf(r, j.Destination)
	if err != nil {
		return err
	}
	batch, err := e.members(ctx, r)
	if err != nil {
		return err
	}
	if _, posted := r.Messages[j.Destination]; posted || r.State.Final() && !pendingOf(batch) {
		return nil
	}
	if h, ok := p.(bridge.Healther); ok {
		if s := h.Health(); s.State == bridge.HealthDown {
			return bridge.Errorf(bridge.CodeForbidden, "%s: %s", p.Name(), s.Reason)
		}
	}
	d, err := e.place(ctx, r, j.Destination, p)
	if err != nil {
		return err
	}
	view, err := e.view(ctx, r, batch, j.Destination)
	if err != nil {
		return err
	}
	began := time.Now()
	parts := e.parts(view)
	before := len(parts.Sent())
	ref, err := p.Post(ctx, d, view, parts)
	e.watcher.did(j, p.Name(), r, began, err)
	if err != nil {
		return progressed(err, before, parts)
	}
	if err := e.mark(ctx, r, j.Destination, ref); err != nil {
		return err
	}
	if len(batch) > 0 { // mark did it for the first
		if err := e.markShown(ctx, view); err != nil {
			return err
		}
	}
	if err := e.startThread(ctx, r, j.Destination, ref); err != nil {
		return err
	}
	switch {
	case r.Interaction.Kind == bridge.KindNotice:
		return e.noticed(ctx, r.Interaction.ID)
	case len(batch) == 0:
		return nil
	}
	return e.redrawBatch(ctx, r, batch, j.Destination)
}

// noticed ends a notice once it has been shown wherever it can be.
func (e *Engine) noticed(ctx context.Context, id bridge.ID) error {
	r, err := e.store.Load(ctx, id)
	if err != nil {
		return err
	}
	for n := range r.Interaction.Destinations {
		_, posted := r.Messages[n]
		if _, failed := r.Failures[n]; !posted && !failed {
			return nil // its own post comes by here
		}
	}
	_, _, err = e.store.Settle(ctx, bridge.Settlement{ID: id, Nonce: "shown", Response: bridge.Response{
		State: bridge.StateAnswered, Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC().Truncate(time.Millisecond), Digest: r.Interaction.Digest,
	}})
	return err
}

// redrawBatch draws a new message again if one of those that it shows has
// changed while it was posted: their own edits came too early to find it.
func (e *Engine) redrawBatch(ctx context.Context, r bridge.Record, shown []bridge.Record, destination int) error {
	now, err := e.store.Load(ctx, r.Interaction.ID)
	if err != nil {
		return err
	}
	batch, err := e.members(ctx, now)
	if err != nil || revisions(batch) == revisions(shown) {
		return err
	}
	_, err = e.store.Mark(ctx, r.Interaction.ID, bridge.Mark{Redraw: &destination})
	return err
}

// mark notes where the card is. The card is out there, so this is tried for
// as long as the job lasts.
func (e *Engine) mark(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	for {
		_, err := e.store.Mark(ctx, r.Interaction.ID, bridge.Mark{Posted: &bridge.Posted{Destination: destination, Ref: ref, Revision: r.Revision, Content: bridge.ContentOf(r.Interaction)}})
		if bridge.ErrorCode(err) != bridge.CodeUnavailable || !bridge.Pause(ctx, firstBackoff) {
			return err
		}
	}
}

// update draws what the message has to show now: the last of the rounds that
// took it over.
func (e *Engine) update(ctx context.Context, j bridge.Job) error {
	r, err := e.store.Load(ctx, j.Interaction)
	if err == nil && r.Next != "" {
		r, err = e.head(ctx, r)
	}
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil // outlived its retention
	}
	if err != nil {
		return err
	}
	p, err := e.platformOf(r, j.Destination)
	if err != nil {
		return err
	}
	ref, posted := r.Messages[j.Destination]
	if !posted {
		return nil // the post will see the newest state on its own
	}
	batch, err := e.members(ctx, r)
	if err != nil {
		return err
	}
	view, err := e.view(ctx, r, batch, j.Destination)
	if err != nil {
		return err
	}
	began := time.Now()
	parts := e.parts(view)
	before := len(parts.Sent())
	err = p.Update(ctx, ref, view, parts)
	e.watcher.did(j, p.Name(), r, began, err)
	if err != nil {
		return progressed(err, before, parts)
	}
	return e.markShown(ctx, view)
}

// view is how a destination sees a record, and those that share its message.
func (e *Engine) view(ctx context.Context, r bridge.Record, batch []bridge.Record, destination int) (bridge.View, error) {
	v := bridge.NewView(e.forPeople(r), destination, nil, e.keys.Sign)
	for _, member := range batch {
		v.Batch = append(v.Batch, e.forPeople(member))
	}
	if r.State.Final() && !pendingOf(batch) {
		return v, nil
	}
	var err error
	v.ReadOnly, err = e.muted(ctx, r.Interaction.Destinations[destination])
	return v, err
}

// head is the last interaction that took over the messages of r.
func (e *Engine) head(ctx context.Context, r bridge.Record) (bridge.Record, error) {
	root := r
	if id := r.Interaction.Root; id != "" {
		var err error
		if root, err = e.store.Load(ctx, id); err != nil {
			return bridge.Record{}, err
		}
	}
	if root.Head == "" {
		return r, nil
	}
	return e.store.Load(ctx, root.Head)
}

// group names what keeps messages together: the session, else the tool call.
// Empty: the card stands alone.
func group(i bridge.Interaction) string {
	switch {
	case i.Presentation == bridge.PresentQuestionnaire:
		return ""
	case i.Session != "":
		return i.Session
	case i.Presentation == bridge.PresentTool && i.ToolCall != "":
		return "call " + i.ToolCall
	}
	return ""
}

// threadKey names the note that holds the first message of a group at a
// destination.
func threadKey(i bridge.Interaction, destination int) string {
	d := i.Destinations[destination]
	return "thread:" + i.Agent + "/" + group(i) + "/" + d.Platform + "/" + d.Channel + "/" + d.Thread
}

// place says where the card goes: the session's thread where there is one.
func (e *Engine) place(ctx context.Context, r bridge.Record, destination int, p bridge.Platform) (bridge.Destination, error) {
	d := r.Interaction.Destinations[destination]
	t, ok := p.(bridge.Threader)
	if !ok || group(r.Interaction) == "" || d.Thread != "" {
		return d, nil
	}
	first, err := e.store.Note(ctx, threadKey(r.Interaction, destination))
	if err != nil || first == "" {
		return d, err
	}
	ref, err := parseRef(first)
	if err != nil {
		return d, nil // a note of another version; the channel itself is right too
	}
	in, err := t.Thread(ctx, d, ref, group(r.Interaction))
	if err != nil {
		e.log.Warn("no thread for the session, posting to the channel", "id", r.Interaction.ID, "platform", d.Platform, "error", err)
		return d, nil
	}
	return in, nil
}

func (e *Engine) startThread(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	if group(r.Interaction) == "" || r.Interaction.Destinations[destination].Thread != "" {
		return nil
	}
	_, err := e.store.PutNote(ctx, threadKey(r.Interaction, destination), ref.Text(), sessionThreads)
	return err
}

// sweep ends interactions whose deadline has passed until ctx ends.
func (e *Engine) sweep(ctx context.Context) {
	for ctx.Err() == nil {
		ids, more, err := e.store.Expire(ctx, sweepBatch)
		if err != nil && ctx.Err() == nil {
			e.log.Warn("deadlines not reachable", "error", err)
		}
		for _, id := range ids {
			e.log.Info("deadline passed", "id", id)
		}
		if !more || err != nil {
			bridge.Pause(ctx, sweepPoll)
		}
	}
}
