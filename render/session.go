package render

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Labels of the controls of a session's message. The name of the agent follows.
const (
	labelMessage = "Message "
	labelNote    = "Send a note (not the answer)…" // while a request is pending
	labelStop    = "Stop "
	labelResume  = "Resume "
)

// MaxNamed is the number of pending requests that a session's message names.
const MaxNamed = 3

// whatResumeDoes describes the control on the message of a stopped session, and
// the limits of the stop.
const whatResumeDoes = "Its requests are denied. A running step may still finish. Resume lets it ask again; cancelled requests stay cancelled."

// whatStopDoes describes the control that stops a session.
const whatStopDoes = "Stop cancels its pending requests and denies new ones until someone clicks Resume. A running step may still finish."

// IsSession reports whether a view is the message of a session.
func IsSession(v bridge.View) bool {
	return v.Record.Interaction.Presentation == bridge.PresentSession
}

// SessionPhase is the phase of a reported session.
type SessionPhase int

// The phases of a session.
const (
	PhaseWorking SessionPhase = iota
	PhaseWaiting              // waits for a person
	PhaseStopped
	PhaseFinished
)

// PhaseOf returns the phase of a reported session. A stop takes precedence over
// a pending request, which takes precedence over the agent's report.
func PhaseOf(s bridge.SessionView) SessionPhase {
	switch {
	case s.Stopped != nil:
		return PhaseStopped
	case len(s.Pending) > 0:
		return PhaseWaiting
	case s.Status.State == bridge.SessionWaiting:
		return PhaseWaiting
	case s.Status.State == bridge.SessionFinished:
		return PhaseFinished
	}
	return PhaseWorking
}

// SessionControl is a control of a session's message.
type SessionControl struct {
	ID, Label, Token string
}

// SessionControls returns the controls of a session's message. It returns none
// for other messages.
func SessionControls(v bridge.View) []SessionControl {
	if !IsSession(v) || v.Session == nil || v.Waiting {
		return nil
	}
	agent := Cut(Line(v.Record.Interaction.Agent), maxName, Runes)
	if v.Session.Stopped != nil {
		return []SessionControl{{"resume", labelResume + agent, v.Token(bridge.ActionSession, 0, bridge.SessionResume)}}
	}
	if !TakesMessages(v) {
		return nil
	}
	message := labelMessage + agent + "…"
	if len(v.Session.Pending) > 0 {
		message = labelNote
	}
	return []SessionControl{
		{"message", message, v.Token(bridge.ActionInput, 0, bridge.OptionMessage)},
		{"stop", labelStop + agent + " now", v.Token(bridge.ActionSession, 0, bridge.SessionStop)},
	}
}

// TakesMessages reports whether a view is the message of a session that people
// can stop and send messages to.
func TakesMessages(v bridge.View) bool {
	return IsSession(v) && v.Session != nil && !v.Waiting && v.Session.Stopped == nil && PhaseOf(*v.Session) != PhaseFinished
}

// messageInput returns the text input for a message to the agent of a session.
func messageInput() TypedInput {
	return TypedInput{
		Title: "Message the agent", Submit: "Send", Label: "Message", Lines: true, MaxLength: bridge.DefaultMaxLength,
		Hint: "The agent gets the message at its next step. The message does not answer a request.",
		Ask:  "reply to this message with your message for the agent. Your message does not answer a request",
	}
}

// sessionCard returns the card of a session.
func sessionCard(v bridge.View) Card {
	i := v.Record.Interaction
	if i.Private {
		i = unwritten(i)
	}
	c := Card{Closed: true, Head: []Span{{Text: "▶️ Session of " + Line(i.Agent)}}, From: sessionFrom(i, bridge.SessionStatus{})}
	if v.Session != nil {
		s := *v.Session
		if i.Private {
			s.Status = unwrittenStatus(s.Status)
		}
		c.Head = []Span{{Text: sessionHead(i, s)}}
		c.Body = sessionBody(s)
		if TakesMessages(v) {
			c.Body = append(c.Body, Para(whatStopDoes))
		}
		c.From = sessionFrom(i, s.Status)
	}
	c.Notice = c.HeadText()
	if s := v.Session; s != nil && s.Status.Title != "" && !i.Private {
		c.Notice += ". Task: " + Line(s.Status.Title)
	}
	if i.Preview == bridge.PreviewNone {
		c.Notice = "A session."
	}
	c.Notice = Cut(c.Notice, 200, Runes)
	return c
}

// unwrittenStatus returns the status of a session for a channel that must not
// read the agent's words.
func unwrittenStatus(s bridge.SessionStatus) bridge.SessionStatus {
	return bridge.SessionStatus{
		Agent: s.Agent, State: s.State, Steps: s.Steps, Started: s.Started, Since: s.Since, Stepped: s.Stepped, Updated: s.Updated,
	}
}

// sessionHead returns the headline, which is the state of the session.
func sessionHead(i bridge.Interaction, s bridge.SessionView) string {
	agent := Line(i.Agent)
	switch PhaseOf(s) {
	case PhaseStopped:
		return "⏹️ " + agent + " was stopped by " + Line(s.Stopped.By.Display())
	case PhaseWaiting:
		if len(s.Pending) > 0 {
			return "⏸️ " + agent + " is waiting for an answer"
		}
		return "⏸️ " + agent + " is waiting"
	case PhaseFinished:
		return "🏁 " + agent + " has finished"
	}
	return "▶️ " + agent + " is working"
}

// sessionBody returns the task, the session's activity or pending requests, and
// the agent's last message.
func sessionBody(s bridge.SessionView) []Block {
	var spans []Span
	add := func(label string, value ...Span) {
		if len(spans) > 0 {
			spans = append(spans, Span{Text: "\n"})
		}
		spans = append(append(spans, Span{Text: label + "  ", Bold: true}), value...)
	}
	st, phase := s.Status, PhaseOf(s)
	if st.Title != "" {
		add("Task", Span{Text: Cut(Line(st.Title), maxLead, Runes)})
	}
	switch phase {
	case PhaseStopped:
		add("Stopped", append(clock(s.Stopped.At), Span{Text: ", " + place(s.Stopped.By.Platform)})...)
	case PhaseWaiting:
		if len(s.Pending) > 0 {
			add("Waits for", waitsFor(s)...)
		} else if st.Waits != "" {
			add("Waits for", Span{Text: Line(st.Waits)})
		}
		since := st.Since
		if len(s.Pending) > 0 {
			since = s.Pending[0].Interaction.Created
		}
		add("Since", clock(since)...)
	case PhaseFinished:
		add("Finished", clock(st.Since)...)
	}
	if st.Step != "" {
		step := []Span{{Text: Line(st.Step), Code: true}, {Text: ", "}}
		step = append(step, clock(st.Stepped)...)
		count := " · " + plural(st.Steps, "step")
		if phase == PhaseWorking || phase == PhaseWaiting {
			count += " so far"
		}
		add("Last step", append(step, Span{Text: count})...)
	}
	if decided := tally(s.Decided); decided != "" {
		add("Requests", Span{Text: decided})
	}
	var out []Block
	if len(spans) > 0 {
		out = append(out, Block{Kind: Paragraph, Spans: spans})
	}
	if phase == PhaseStopped {
		out = append(out, Para(whatResumeDoes))
	}
	if st.Last != "" && len(s.Pending) == 0 && phase != PhaseWorking {
		out = append(out, Block{Kind: Quote, Inner: quoted(bridge.Interaction{Agent: st.Agent}, Markdown(st.Last))})
	}
	return out
}

// clock returns a time as platforms show it in the reader's zone.
func clock(t time.Time) []Span { return []Span{{Text: Moment(t), Time: t.Unix()}} }

// waitsFor names the pending requests of a session, each with the URL of its
// card.
func waitsFor(s bridge.SessionView) []Span {
	named := s.Pending[:min(len(s.Pending), MaxNamed)]
	var out []Span
	if len(named) > 1 {
		out = append(out, Span{Text: plural(len(s.Pending), "request") + ":"})
	}
	for n, r := range named {
		name := Title(r)
		if r.Interaction.Private {
			name = headText(privateHead(r.Interaction))
		}
		if len(named) > 1 {
			name = "\n• " + name
		}
		out = append(out, Span{Text: Cut(name, maxLead, Runes)})
		if n < len(s.Links) && s.Links[n] != "" {
			out = append(out, Span{Text: " · "}, Span{Text: LabelOpen, URL: s.Links[n]})
		}
	}
	if n := len(s.Pending) - len(named); n > 0 {
		out = append(out, Span{Text: "\n• " + strconv.Itoa(n) + " more"})
	}
	return out
}

// tally counts the decisions in a session. It is empty if people have decided
// nothing.
func tally(t bridge.Tally) string {
	var out []string
	for _, x := range []struct {
		n    int
		word string
	}{{t.Approved, "approved"}, {t.Denied, "denied"}, {t.Answered, "answered"}} {
		if x.n > 0 {
			out = append(out, strconv.Itoa(x.n)+" "+x.word)
		}
	}
	if len(out) > 0 && t.Of > 0 {
		return strings.Join(out, ", ") + " (of the newest " + plural(t.Of, "request") + ")"
	}
	return strings.Join(out, ", ")
}

// sessionFrom names the agent of a session, and where it runs.
func sessionFrom(i bridge.Interaction, st bridge.SessionStatus) string {
	s := []string{Line(i.Agent)}
	if st.Host != "" {
		s[0] += " on " + reported(st.Host)
	}
	if st.Folder != "" {
		s = append(s, reported(st.Folder))
	}
	if st.Branch != "" {
		s = append(s, "branch "+reported(st.Branch))
	}
	if i.Session != "" { // a private route omits it
		s = append(s, "session "+Line(i.Session))
	}
	return strings.Join(s, " · ")
}
