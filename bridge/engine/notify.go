package engine

import "github.com/nodbridge/nod/bridge"

const (
	noteForged  = "That is not a control of this request. Nothing was recorded."
	noteUnknown = "This request is no longer known here. Nothing was recorded."
	noteMuted   = "This channel is read-only for nod just now, so nothing was recorded. /" + bridge.CommandName + " unmute lets it answer again."
	noteUnseen  = "This card does not show everything yet, so nothing was recorded. Wait a moment, read it, and click again."
	noteChanged = "The requirements changed since this card was drawn. Nothing was recorded: read the card and decide again."
	// The card shows the newer question by then.
	noteAskedAgain = "Too late: this was asked again. The card shows the new question; nothing was recorded."
)

func noteForbidden(i bridge.Interaction) string {
	return "You may not answer this one. Nothing was recorded. Asked: " + responderNames(i) + "."
}

func noteNotYours(a bridge.Actor) string {
	return "The card showed the choice of " + bridge.OneLine(a.Display()) + ". It shows yours now: check it and press again."
}

func noteRecorded(r bridge.Record) string {
	if !r.State.Final() {
		return r.Voted()
	}
	return "Recorded: " + r.Outcome() + "."
}

func noteLate(r bridge.Record, actor bridge.Actor) string {
	if why := r.Unverified; why != "" {
		return "Nothing was recorded: " + why + "."
	}
	if r.Response == nil {
		return bridge.NoteNotRecorded
	}
	who := "nod"
	if a := r.Response.Actor; a != nil {
		who = bridge.OneLine(a.Display()) + " on " + a.Platform
		if a.Same(actor) {
			who = "you, on " + a.Platform
		}
	}
	at := r.Response.At.UTC().Format("15:04:05 UTC")
	switch r.State {
	case bridge.StateExpired:
		return "Too late: this expired at " + at + ". Nothing was recorded."
	case bridge.StateCancelled:
		if r.Response.Actor != nil {
			return "Already declined by " + who + " at " + at + "."
		}
		if by := r.Response.WithdrawnBy; by != nil {
			return "Too late: " + by.Display() + " withdrew this at " + at + ". Nothing was recorded."
		}
		return "Too late: the agent withdrew this at " + at + ". Nothing was recorded."
	case bridge.StateSuperseded:
		return "Too late: the agent replaced this at " + at + ". Nothing was recorded."
	case bridge.StateUndeliverable:
		return "Too late: this was closed as undeliverable at " + at + ". Nothing was recorded."
	}
	if r.Response.Actor == nil && r.Response.Rule != "" {
		return "Already decided by the policy at " + at + ": " + r.Outcome() + ". Nothing was recorded."
	}
	if r.Response.Actor == nil {
		return "Too late: nobody had answered by " + at + ", so it ended as: " + r.Outcome() + "."
	}
	return "Already decided by " + who + " at " + at + ": " + r.Outcome() + "."
}
