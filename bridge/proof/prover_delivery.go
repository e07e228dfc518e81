package proof

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// ProveMark returns a mark with the proofs of what was shown, sent or kept
// open.
func (p *Prover) ProveMark(id bridge.ID, m bridge.Mark) bridge.Mark {
	if m.Posted != nil && m.Posted.Content != "" {
		posted := *m.Posted
		posted.Content += "." + p.signer.mac(domainShown, shownParts(id, posted.Destination, posted.Content)...)
		m.Posted = &posted
	}
	if m.Shown != nil {
		shown := p.ProveShown(id, *m.Shown)
		m.Shown = &shown
	}
	if m.Part != nil {
		part := *m.Part
		part.Proof = p.signer.mac(domainPart, partParts(id, part.Destination, part.Content, part.N, part.Ref)...)
		m.Part = &part
	}
	if m.Queued > 0 {
		until := strconv.FormatInt(time.Now().Add(m.Queued).UnixMilli(), 10)
		m.Held = until + "." + p.signer.mac(domainHeld, []byte(id), []byte(until))
	}
	return m
}

func shownParts(id bridge.ID, destination int, content string) [][]byte {
	return [][]byte{[]byte(id), []byte(strconv.Itoa(destination)), []byte(content)}
}

func partParts(id bridge.ID, destination int, content string, n int, ref bridge.MessageRef) [][]byte {
	return append(shownParts(id, destination, content), []byte(strconv.Itoa(n)), Stable(ref))
}

// delivered returns a record with only those delivery marks that a daemon
// created. A card whose mark does not verify is updated.
func (p *Prover) delivered(r bridge.Record) bridge.Record {
	id := r.Interaction.ID
	if r.Shown != nil {
		shown := make(map[int]string, len(r.Shown))
		for d, mark := range r.Shown {
			content, proof, proven := strings.Cut(mark, ".")
			if proven && p.signer.macIs(proof, domainShown, shownParts(id, d, content)...) {
				shown[d] = content
			}
		}
		r.Shown = shown
	}
	if r.Sending != nil {
		sending := make(map[int]bridge.Sending, len(r.Sending))
		for d, s := range r.Sending {
			sending[d] = p.sent(id, d, s)
		}
		r.Sending = sending
	}
	return r
}

// sent returns the parts before the first that does not verify.
func (p *Prover) sent(id bridge.ID, destination int, s bridge.Sending) bridge.Sending {
	for n, ref := range s.Parts {
		proof := ""
		if n < len(s.Proofs) {
			proof = s.Proofs[n]
		}
		if p.signer.macIs(proof, domainPart, partParts(id, destination, s.Content, n, ref)...) {
			continue
		}
		s.Parts, s.Proofs = s.Parts[:n], s.Proofs[:min(n, len(s.Proofs))]
		break
	}
	return s
}

// openUntil returns the proven time after which no person can decide. It
// depends on the deadline, the hold of a deferred request, and the time that a
// daemon was asked to keep the request open.
func (p *Prover) openUntil(r bridge.Record) time.Time {
	i := r.Interaction
	end := i.Stated.Deadline
	if i.Stated == (bridge.Times{}) {
		end = i.Deadline
	}
	if i.OnTimeout == bridge.OnTimeoutPending || !r.Queued.IsZero() {
		end = end.Add(time.Duration(i.Hold))
	}
	if until, proof, ok := strings.Cut(r.Held, "."); ok && p.signer.macIs(proof, domainHeld, []byte(i.ID), []byte(until)) {
		if ms, err := strconv.ParseInt(until, 10, 64); err == nil && time.UnixMilli(ms).After(end) {
			end = time.UnixMilli(ms)
		}
	}
	return end.Add(earlyBy)
}

// deadlineProblem returns a reason if a record was open longer than proven. It
// returns "" otherwise.
func (p *Prover) deadlineProblem(r bridge.Record) string {
	end := p.openUntil(r)
	switch {
	case r.State.Final() && r.Response != nil && r.Response.Actor != nil && r.Response.At.After(end):
		return whyLate
	case !r.State.Final() && r.Interaction.Deadline.After(end) && time.Now().After(end):
		return whyMoved
	}
	return ""
}

// ProveShown returns what a card shows in the form in which it is stored.
func (p *Prover) ProveShown(id bridge.ID, s bridge.Shown) bridge.Shown {
	s.Content += "." + p.signer.mac(domainShown, shownParts(id, s.Destination, s.Content)...)
	return s
}
