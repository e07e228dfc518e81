package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// This file changes what Redis holds by hand, as someone does who can write
// there and has no key. They may also put back what was stored before.

func newSigner(t testing.TB) *proof.Signer {
	t.Helper()
	s, err := proof.NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stored is a record as Redis held it.
type stored struct {
	id     bridge.ID
	fields map[string]string
}

func (m *play) key(id bridge.ID) string { return "nod:{nod}:i:" + string(id) }

func (m *play) hash(key string) map[string]string {
	fields, err := m.redis.HGetAll(m.t.Context(), key).Result()
	if err != nil {
		m.rt.Fatal(err)
	}
	return fields
}

func (m *play) set(key string, fields map[string]string) {
	if len(fields) == 0 {
		return
	}
	if err := m.redis.HSet(m.t.Context(), key, fields).Err(); err != nil {
		m.rt.Fatal(err)
	}
}

// tamper changes one record or grant, and keeps a copy of what was there.
func (m *play) tamper() {
	if len(m.all) == 0 {
		return
	}
	a := rapid.SampledFrom(m.all).Draw(m.rt, "changed")
	now := stored{a.id, m.hash(m.key(a.id))}
	m.stored = append(m.stored, now)
	from := rapid.SampledFrom(m.stored).Draw(m.rt, "from")
	switch rapid.IntRange(0, 9).Draw(m.rt, "way") {
	case 0: // only the copy
		return
	case 1, 2, 3: // what was stored before, of this record or another
		m.putBack(a, from)
	case 4:
		m.forgeEnd(a, from)
	case 5:
		m.forgeVotes(a, now)
	case 6, 7:
		m.rewrite(a, now)
	default:
		m.forgeGrant(a)
		m.counts["changes in Redis"]++
		return
	}
	a.tampered = true
	m.counts["changes in Redis"]++
}

// putBack stores some fields of an earlier copy.
func (m *play) putBack(a *asking, from stored) {
	for _, s := range m.stored {
		if s.id == a.id && rapid.Bool().Draw(m.rt, "own") {
			from = s
			break
		}
	}
	sets := [][]string{{"vs"}, {"cur", "av", "req"}, {"cur", "av", "req", "vs"}, {"st", "res", "at", "n"}, {"st", "res", "at", "n", "vs"},
		slices.Sorted(maps.Keys(from.fields))}
	for _, name := range rapid.SampledFrom(sets).Draw(m.rt, "fields") {
		if v, ok := from.fields[name]; ok {
			m.set(m.key(a.id), map[string]string{name: v})
		} else if err := m.redis.HDel(m.t.Context(), m.key(a.id), name).Err(); err != nil {
			m.rt.Fatal(err)
		}
	}
}

// forgeEnd ends a request with an approval that no one gave.
func (m *play) forgeEnd(a *asking, from stored) {
	resp := bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways, Digest: m.read(a).Interaction.Digest,
		Actor: &bridge.Actor{Platform: "chat", User: "U-ana", Person: "ana"}, At: time.Now().UTC(), Annotations: map[string]bridge.Annotation{}}
	var other bridge.Response
	if json.Unmarshal([]byte(from.fields["res"]), &other) == nil && rapid.Bool().Draw(m.rt, "a good proof") {
		resp.Proof = other.Proof
	}
	raw, err := json.Marshal(resp)
	if err != nil {
		m.rt.Fatal(err)
	}
	if rapid.Bool().Draw(m.rt, "for the deadline") {
		m.set(m.key(a.id), map[string]string{"to": string(raw)})
		return
	}
	m.set(m.key(a.id), map[string]string{"st": "approved", "res": string(raw), "at": fmt.Sprint(time.Now().UnixMilli()), "n": "x"})
}

// forgeVotes adds a vote, or turns those that are there.
func (m *play) forgeVotes(a *asking, now stored) {
	votes, who := now.fields["vs"], rapid.SampledFrom(team).Draw(m.rt, "voter")
	old := rapid.SampledFrom(team).Draw(m.rt, "of")
	switch rapid.IntRange(0, 2).Draw(m.rt, "votes") {
	case 0:
		votes += who + "\x1fapproved\x1f3;0,1,2,3,\x1f" + `{"actor":{"platform":"api","user":"` + who + `","person":"` + who +
			`"},"state":"approved","scope":"always","at":"2026-01-01T00:00:00Z","proof":"x"}` + "\x1e"
	case 1:
		votes += strings.ReplaceAll(votes, old, who)
	case 2:
		votes = strings.ReplaceAll(votes, "denied", "approved")
	}
	m.set(m.key(a.id), map[string]string{"vs": votes})
}

// rewrite changes words in a request or a response.
func (m *play) rewrite(a *asking, now stored) {
	words := strings.NewReplacer(rapid.SampledFrom([][]string{
		{`"quorum":2`, `"quorum":1`}, {`"cy"`, `"ana"`}, {`"ana"`, `"bo"`, `"bo"`, `"ana"`}, {`"risk":"high"`, `"risk":"low"`},
		{`"confirm":"yes"`, `"confirm":""`}, {`a 0`, `b 1`}, {`b`, `a`}, {`May I?`, `Really?`}, {`"/r"`, `"/o"`}, {`"session":"s"`, `"session":"u"`},
		{`"once"`, `"always"`}, {`"denied"`, `"approved"`}, {`"terms":1`, `"terms":0`}, {`"prod"`, `"default"`},
		{`"agent":`, `"added":[{"responders":[{"person":"eve","platform":"chat","user":"U-eve"}]}],"agent":`},
	}).Draw(m.rt, "words")...)
	for _, field := range []string{"req", "cur", "res", "to"} {
		if text, ok := now.fields[field]; ok && rapid.Bool().Draw(m.rt, "in "+field) {
			m.set(m.key(a.id), map[string]string{field: words.Replace(text)})
		}
	}
}

// forgeGrant stores a grant that no one gave: one that was given under another
// key, agent or session, one that is rewritten, or a new one.
func (m *play) forgeGrant(a *asking) {
	i := m.read(a).Interaction
	session := rapid.SampledFrom([]string{"", "s", "u"}).Draw(m.rt, "session")
	to := "nod:{nod}:g:" + a.agent + "/" + session
	if err := m.redis.Do(m.t.Context(), "HSET", to, i.GrantKey, m.grantText(a, i, session)).Err(); err != nil {
		m.rt.Fatal(err)
	}
}

func (m *play) grantText(a *asking, i bridge.Interaction, session string) string {
	var texts []string
	for _, key := range m.redis.Keys(m.t.Context(), "nod:{nod}:g:*").Val() {
		for _, text := range m.hash(key) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	now := time.Now().UTC()
	who := bridge.Actor{Platform: "api", User: "ana", Name: "ana", Person: "ana"}
	g := bridge.Grant{Agent: a.agent, Session: session, Key: i.GrantKey, Actor: who, Origin: a.id, Expires: now.Add(time.Hour),
		At: now, Givers: []bridge.Actor{who}, Routes: i.GrantRoutes, Confirm: "yes", Risk: "high", Where: a.place}
	if len(texts) > 0 && rapid.Bool().Draw(m.rt, "of one that was given") {
		var was bridge.Grant
		if json.Unmarshal([]byte(rapid.SampledFrom(texts).Draw(m.rt, "grant")), &was) == nil {
			switch rapid.IntRange(0, 2).Draw(m.rt, "changed") {
			case 0: // stored elsewhere
				g = was
			case 1:
				was.Agent, was.Session, was.Key, was.Where = g.Agent, g.Session, g.Key, g.Where
				g = was
			case 2:
				g.Proof = was.Proof
			}
		}
	}
	raw, err := json.Marshal(g)
	if err != nil {
		m.rt.Fatal(err)
	}
	return string(raw)
}

// end withdraws what is pending, and removes what was changed.
func (m *play) end() {
	for _, a := range m.all {
		if a.tampered {
			m.redis.Del(m.t.Context(), m.key(a.id))
		} else if _, err := m.engine.Cancel(m.t.Context(), a.id, "end"); err != nil {
			m.t.Error(err)
		}
	}
	m.chat.clear()
}
