package session

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/render"
)

const (
	noteNoReply    = "A reply does not answer this request. Nothing was recorded. Click a button on the card."
	noteUnread     = "nod reads only text. Nothing was recorded. Click " + render.LabelAnswer + " on the card, or reply with text."
	noteUnsaid     = "nod reads only text. Nothing was sent to the agent. Reply with text."
	NotSteered     = "Only people who may answer the requests of this session can send messages to its agent. Nothing was sent."
	noteReplyEarly = "This question was asked after your reply. Nothing was recorded. Reply again, or click " + render.LabelAnswer + " on the card."
	noteReplyAgain = "A reply does not answer a follow-up question, because you may have written it before. Nothing was recorded. Click " +
		render.LabelAnswer + " on the card."
)

// Lifetimes of notes about replies. replyKept exceeds the time in which a
// platform repeats a reply, and hintEvery is the pause between two hints for
// the same person and thread.
const (
	replyKept = 24 * time.Hour
	hintEvery = time.Hour
)

// Replies answers text questions with replies to their cards, and passes other
// replies to the session of the card.
type Replies struct {
	engine   *engine.Engine
	sessions *Room
	notes    documents.Notes
	shown    *engine.ShownSessions
	keys     bridge.Keyring
}

// NewReplies returns the replies of an engine and its sessions.
func NewReplies(e *engine.Engine, sessions *Room, o engine.Options) *Replies {
	return &Replies{engine: e, sessions: sessions, notes: e.Notes, shown: &engine.ShownSessions{Notes: e.Notes}, keys: o.Keys}
}

// meant is a pending request to which a reply may belong.
type meant struct {
	record      bridge.Record
	destination int
}

// Reply implements bridge.Listener. The reply takes the path of a submitted form,
// with all its checks.
func (l *Replies) Reply(ctx context.Context, s bridge.Said) (bridge.Verdict, error) {
	in, ok, err := l.shown.Of(ctx, s)
	if err != nil || !ok && s.InThread() { // nod did not start this thread
		return bridge.Verdict{}, err
	}
	all, err := l.candidates(ctx, s)
	if err != nil {
		return bridge.Verdict{}, err
	}
	var open []meant
	early, again, others := false, false, false
	for _, m := range all {
		i := m.record.Interaction
		f, lone := i.Lone()
		text := lone && f.FreeText()
		// Only the platform's own order of messages is exact: its clock and that
		// of Redis differ. The platform has no such order for a card that a
		// follow-up took over.
		switch later := !s.After(m.record.Messages[m.destination]); {
		case !text:
			others = others || !later && i.Kind != bridge.KindNotice
		case later:
			early = true
		case i.Root != "":
			again = true
		default:
			open = append(open, m)
		}
	}
	if right := bridge.Rights[s.Standing]; !right.Acts {
		return l.standing(ctx, s, right, ok || len(all) > 0)
	}
	switch {
	case words.Old(s.At) && (ok || len(open) > 0):
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: words.ArrivedOld(s.At, words.NotRecordedOld+" Reply again.")}, nil
	case len(open) > 0 && s.Text == "":
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnread}, nil
	case len(open) == 1 && !others:
		return l.submit(ctx, s, open[0])
	case len(open) > 0:
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: l.which(open)}, nil
	case again:
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteReplyAgain}, nil
	case early:
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteReplyEarly}, nil
	}
	switch {
	case ok:
		return l.steer(ctx, s, in)
	case len(all) > 0:
		return l.hint(ctx, s, noteNoReply)
	}
	return bridge.Verdict{}, nil
}

// standing refuses a reply that does not count because of its author or its
// kind. It refuses each edit of a reply that counted, even if the card is
// closed. It limits all other refusals like hints.
func (l *Replies) standing(ctx context.Context, s bridge.Said, right bridge.Right, ours bool) (bridge.Verdict, error) {
	if right.Why == "" {
		return bridge.Verdict{}, nil
	}
	note := right.Why + " Nothing was recorded."
	if s.Standing == bridge.StandingEdited {
		counted, err := l.notes.Note(ctx, saidKey(s))
		if err != nil || counted != "" {
			return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: note}, err
		}
	}
	if !ours {
		return bridge.Verdict{}, nil
	}
	return l.hint(ctx, s, note)
}

// steer passes a reply to the session of a card. The noter reports the outcome
// to the author.
func (l *Replies) steer(ctx context.Context, s bridge.Said, in engine.ShownSession) (bridge.Verdict, error) {
	if s.Text == "" {
		to := bridge.Steering{Agent: in.Agent, Session: in.Session, Route: in.Route, By: s.Actor}
		if code := bridge.ErrorCode(l.sessions.admitSteering(ctx, &to)); code == bridge.CodeForbidden || code == bridge.CodeNotFound {
			return l.hint(ctx, s, NotSteered)
		}
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnsaid}, nil
	}
	counted, err := l.notes.Note(ctx, saidKey(s))
	if err != nil || counted != "" { // the platform repeats the reply
		return bridge.Verdict{}, err
	}
	_, err = l.sessions.Steer(ctx, bridge.Steering{
		Agent: in.Agent, Session: in.Session, Route: in.Route, By: s.Actor, Text: s.Text, At: s.At,
		Where: &bridge.Written{Platform: s.Actor.Platform, Ref: s.Written()},
	})
	if err == nil {
		_, err = l.notes.PutNote(ctx, saidKey(s), "sent", replyKept)
		return bridge.Verdict{Kind: bridge.VerdictNoted}, err
	}
	refusal, err := notSteered(err)
	if refusal.Kind == bridge.VerdictForbidden {
		return l.hint(ctx, s, refusal.Note)
	}
	return refusal, err
}

// StopThread implements bridge.SessionStopper. It stops the session of a thread.
// The message of the session is updated even if the person may not stop the
// session, because the platform already shows the session as stopped.
func (l *Replies) StopThread(ctx context.Context, who bridge.Actor, thread bridge.MessageRef) (bridge.Verdict, error) {
	in, ok, err := l.shown.Of(ctx, bridge.Said{Actor: who, Card: thread})
	if err != nil || !ok {
		return bridge.Verdict{}, err
	}
	defer l.sessions.statuses.refresh(ctx, in.Agent, in.Session, 0)
	_, err = l.sessions.Stop(ctx, who, in.Agent, in.Session)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteMayNotStop}, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictNoted, Note: noteStopped}, err
}

// candidates returns the pending requests that the person may answer and whose
// card the person replied to.
func (l *Replies) candidates(ctx context.Context, s bridge.Said) ([]meant, error) {
	found, err := l.engine.Posted(ctx, s.Actor.Platform, s.Shows)
	var out []meant
	for _, r := range found {
		if n, ok := s.Destination(r); ok && l.engine.People.MayAnswer(ctx, r.Interaction, s.Actor) {
			out = append(out, meant{r, n})
		}
	}
	return out, err
}

// saidKey returns the key of the note that marks a reply as counted. For an answer,
// the note holds the ID of the question.
func saidKey(s bridge.Said) string {
	return "said:" + s.Actor.Platform + "/" + s.Card.Channel + "/" + s.Message
}

// submit answers a question with a reply, unless the same message belongs to
// another one. A repeat after an interruption has the same nonce, so it counts
// once.
func (l *Replies) submit(ctx context.Context, s bridge.Said, m meant) (bridge.Verdict, error) {
	id := string(m.record.Interaction.ID)
	question, err := l.notes.PutNote(ctx, saidKey(s), id, replyKept)
	if err != nil || question != id {
		return bridge.Verdict{}, err
	}
	v := bridge.NewView(m.record, m.destination, nil, l.keys.Sign)
	return l.engine.Click(ctx, bridge.Click{
		Token: v.Token(bridge.ActionSubmit, 0, bridge.OptionForm), Actor: s.Actor,
		Ref: m.record.Messages[m.destination], Inputs: map[int]bridge.Input{0: {Text: s.Text}},
	})
}

// hint returns the note that a reply does not answer a request. Each person
// gets it at most once within hintEvery for each thread, because people also
// talk in threads.
func (l *Replies) hint(ctx context.Context, s bridge.Said, note string) (bridge.Verdict, error) {
	first, err := l.notes.Claim(ctx, "hint:"+s.Actor.Platform+"/"+s.Actor.User+"/"+s.Card.Channel+"/"+s.Card.Message+s.Card.Thread, hintEvery)
	if err != nil || !first {
		return bridge.Verdict{}, err
	}
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: note}, nil
}

// which asks the person which of several pending requests a reply belongs to.
// It names the text questions among them.
func (l *Replies) which(open []meant) string {
	head := strconv.Itoa(len(open)) + " questions in this thread wait for text. Nothing was recorded. Click " + render.LabelAnswer + " on the card of the one that you mean:"
	if len(open) == 1 {
		head = "Several requests in this thread are pending. Nothing was recorded. Click a button on the card of the one that you mean. One waits for text:"
	}
	lines := []string{head}
	for _, m := range open {
		r := l.engine.Redactor.Record(m.record)
		name := words.About(r)
		if !r.Interaction.Private {
			name = words.Short(bridge.OneLine(r.Interaction.Prompt)) // the headlines of two questions can be equal
		}
		lines = append(lines, "• "+name)
	}
	return strings.Join(lines, "\n")
}
