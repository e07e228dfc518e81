package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
)

// threads groups the messages of a session.
type threads struct {
	notes documents.Notes
	shown *ShownSessions
	seams *Seams
	log   *slog.Logger
}

// place returns the destination of the card, which is the session's thread if
// there is one.
func (s *threads) place(ctx context.Context, r bridge.Record, destination int, p bridge.Platform) (bridge.Destination, error) {
	d := r.Interaction.Destinations[destination]
	t, ok := p.(bridge.Threader)
	if !ok || group(r.Interaction) == "" || d.Thread != "" {
		return d, nil
	}
	first, err := s.notes.Note(ctx, threadKey(r.Interaction, destination))
	if err != nil || first == "" {
		return d, err
	}
	ref, err := parseRef(first)
	if err != nil {
		return d, nil // the note cannot be read; the card can go to the channel instead
	}
	in, err := t.Thread(ctx, d, ref, s.title(ctx, r, destination))
	if err != nil {
		s.log.Warn("no thread for the session; posting to the channel", "id", r.Interaction.ID, "platform", d.Platform, "error", err)
		return d, nil
	}
	if i := r.Interaction; i.Session != "" && in.Thread == ref.Message { // the thread may be a separate channel
		began := bridge.MessageRef{Channel: in.Thread, Message: in.Thread}
		err = s.shown.Put(ctx, d.Platform, began, ShownSession{i.Agent, i.Session, i.Route, d.Channel})
	}
	return in, err
}

// title returns the name of a session's thread: the title that the agent has
// reported or, without one, the ID of the session. For a private request, it names
// only the agent, because everyone in the channel reads it.
func (s *threads) title(ctx context.Context, r bridge.Record, destination int) string {
	i := r.Interaction
	if i.Private {
		return "session of " + bridge.OneLine(i.Agent)
	}
	name := "session " + group(i)
	if i.Session == "" {
		return name
	}
	var v bridge.View
	if err := s.seams.show(ctx, r, destination, &v); err != nil {
		s.log.Warn("title of the session not loaded", "id", i.ID, "error", err)
	}
	if v.Session == nil {
		return name
	}
	return cmp.Or(bridge.OneLine(v.Session.Status.Title), name)
}

// takesReplies records that replies to a posted card reach its session.
func (s *threads) takesReplies(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	i := r.Interaction
	if i.Session == "" {
		return nil
	}
	d := i.Destinations[destination]
	return s.shown.Put(ctx, d.Platform, ref, ShownSession{i.Agent, i.Session, i.Route, d.Channel})
}

// start records a posted card as the first message of its session's thread,
// unless the thread already has one.
func (s *threads) start(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	if group(r.Interaction) == "" || r.Interaction.Destinations[destination].Thread != "" {
		return nil
	}
	_, err := s.notes.PutNote(ctx, threadKey(r.Interaction, destination), ref.Text(), sessionThreads)
	return err
}

// group returns the key that groups messages: the session or, without a
// session, the tool call. It returns "" for a separate card.
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

// sessionThreads is the time for which the thread of a session is remembered.
const sessionThreads = 30 * 24 * time.Hour

// threadKey returns the key of the note with the first message of a group at a
// destination.
func threadKey(i bridge.Interaction, destination int) string {
	d := i.Destinations[destination]
	return "thread:" + i.Agent + "/" + group(i) + "/" + d.Platform + "/" + d.Channel + "/" + d.Thread
}

func parseRef(s string) (bridge.MessageRef, error) {
	var r bridge.MessageRef
	err := json.Unmarshal([]byte(s), &r)
	return r, err
}
