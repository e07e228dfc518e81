package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// This file changes what Redis holds by hand, as someone does who can write
// there and has no key. They may also restore what was stored before.

func newSigner(t testing.TB) *proof.Signer {
	t.Helper()
	s, err := proof.NewSigner(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// held holds the documents of a request as Redis held them, by kind.
type held struct {
	id   bridge.ID
	docs map[string]string
}

func (m *play) get(name string) string {
	text, err := m.redis.Get(m.t.Context(), name).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		m.rt.Fatal(err)
	}
	return text
}

func (m *play) set(name, text string) {
	if text == "" {
		return
	}
	if err := m.redis.Set(m.t.Context(), name, text, 0).Err(); err != nil {
		m.rt.Fatal(err)
	}
}

// tamper changes one record or grant, and keeps a copy of the original.
func (m *play) tamper() {
	if len(m.all) == 0 {
		return
	}
	a := rapid.SampledFrom(m.all).Draw(m.rt, "changed")
	now := held{a.id, map[string]string{}}
	for _, kind := range []string{"life", "body"} {
		now.docs[kind] = m.get(document(kind, a.id))
	}
	m.stored = append(m.stored, now)
	from := rapid.SampledFrom(m.stored).Draw(m.rt, "from")
	switch rapid.IntRange(0, 9).Draw(m.rt, "way") {
	case 0: // only the copy
		return
	case 1, 2, 3: // what was stored before, of this record or another
		m.putBack(a, from)
	case 4:
		m.forgeEnd(a, now, from)
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

// putBack stores documents of an earlier copy.
func (m *play) putBack(a *asking, from held) {
	for _, s := range m.stored {
		if s.id == a.id && rapid.Bool().Draw(m.rt, "own") {
			from = s
			break
		}
	}
	for _, kind := range rapid.SampledFrom([][]string{{"life"}, {"body"}, {"life", "body"}}).Draw(m.rt, "documents") {
		m.set(document(kind, a.id), from.docs[kind])
	}
}

// member replaces members of the life of a request, and keeps its seal.
func (m *play) member(a *asking, now held, values map[string]any) {
	text := now.docs["life"]
	if len(text) < headerLen {
		return
	}
	var life map[string]any
	if json.Unmarshal([]byte(strings.SplitN(text[headerLen:], "\x1e", 2)[0]), &life) != nil {
		return
	}
	maps.Copy(life, values)
	raw, err := json.Marshal(life)
	if err != nil {
		m.rt.Fatal(err)
	}
	m.set(document("life", a.id), text[:headerLen]+string(raw))
}

// forgeEnd ends a request with an approval that no one gave.
func (m *play) forgeEnd(a *asking, now, from held) {
	resp := bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways, Digest: m.read(a).Interaction.Digest,
		Actor: &bridge.Actor{Platform: "chat", User: "U-ana", Person: "ana"}, At: time.Now().UTC(), Annotations: map[string]bridge.Annotation{}}
	var other struct{ Receipt string }
	if text := from.docs["life"]; len(text) > headerLen && rapid.Bool().Draw(m.rt, "a good receipt") {
		_ = json.Unmarshal([]byte(strings.SplitN(text[headerLen:], "\x1e", 2)[0]), &other) // the document may have none
	}
	if rapid.Bool().Draw(m.rt, "for the deadline") {
		m.member(a, now, map[string]any{"deadline": time.Now().UTC(), "queued": time.Now().UTC()})
		return
	}
	m.member(a, now, map[string]any{"state": "approved", "response": resp, "receipt": other.Receipt, "at": time.Now().UTC(), "nonce": "x"})
}

// forgeVotes adds a vote.
func (m *play) forgeVotes(a *asking, now held) {
	who := rapid.SampledFrom(team).Draw(m.rt, "voter")
	m.member(a, now, map[string]any{"votes": []bridge.Vote{{
		Actor: bridge.Actor{Platform: "api", User: who, Person: who}, State: bridge.StateApproved, Scope: bridge.ScopeAlways, Covers: []int{0, 1, 2, 3}, At: time.Now().UTC(),
	}}})
}

// rewrite changes words in a request or a response.
func (m *play) rewrite(a *asking, now held) {
	words := strings.NewReplacer(rapid.SampledFrom([][]string{
		{`"quorum":2`, `"quorum":1`}, {`"cy"`, `"ana"`}, {`"ana"`, `"bo"`, `"bo"`, `"ana"`}, {`"risk":"high"`, `"risk":"low"`},
		{`"confirm":"yes"`, `"confirm":""`}, {`a 0`, `b 1`}, {`b`, `a`}, {`May I?`, `Really?`}, {`"/r"`, `"/o"`}, {`"session":"s"`, `"session":"u"`},
		{`"once"`, `"always"`}, {`"denied"`, `"approved"`}, {`"terms":1`, `"terms":0`}, {`"prod"`, `"default"`},
		{`"agent":`, `"added":[{"responders":[{"person":"eve","platform":"chat","user":"U-eve"}]}],"agent":`},
	}).Draw(m.rt, "words")...)
	for kind, text := range now.docs {
		if len(text) > headerLen && rapid.Bool().Draw(m.rt, "in the "+kind) {
			m.set(document(kind, a.id), text[:headerLen]+words.Replace(text[headerLen:]))
		}
	}
}

// forgeGrant stores a grant that no one gave: one that was given under another
// key, agent or session, one that is rewritten, or a new one.
func (m *play) forgeGrant(a *asking) {
	i := m.read(a).Interaction
	session := rapid.SampledFrom([]string{"", "s", "u"}).Draw(m.rt, "session")
	to := "nod:{nod}:d:grant:" + a.agent + "\x00" + session + "\x00" + i.GrantKey
	m.set(to, m.grantText(a, i, session))
}

func (m *play) grantText(a *asking, i bridge.Interaction, session string) string {
	var texts []string
	for _, name := range m.redis.Keys(m.t.Context(), "nod:{nod}:d:grant:*").Val() {
		texts = append(texts, m.get(name))
	}
	slices.Sort(texts)
	now := time.Now().UTC()
	who := bridge.Actor{Platform: "api", User: "ana", Name: "ana", Person: "ana"}
	g := bridge.Grant{Agent: a.agent, Session: session, Key: i.GrantKey, Actor: who, Origin: a.id, Expires: now.Add(time.Hour),
		At: now, Givers: []bridge.Actor{who}, Routes: i.GrantRoutes, Confirm: "yes", Risk: "high", Where: a.place}
	header := fmt.Sprintf("%016d0001%022d", now.UnixMicro(), 0)
	if len(texts) > 0 && rapid.Bool().Draw(m.rt, "of one that was given") {
		text := rapid.SampledFrom(texts).Draw(m.rt, "grant")
		var was bridge.Grant
		if len(text) > headerLen && json.Unmarshal([]byte(text[headerLen:]), &was) == nil {
			switch rapid.IntRange(0, 1).Draw(m.rt, "changed") {
			case 0: // stored elsewhere
				return text
			case 1:
				was.Agent, was.Session, was.Key, was.Where = g.Agent, g.Session, g.Key, g.Where
				g, header = was, text[:headerLen]
			}
		}
	}
	raw, err := json.Marshal(g)
	if err != nil {
		m.rt.Fatal(err)
	}
	return header + string(raw)
}

// end withdraws what is pending, and removes what was changed.
func (m *play) end() {
	for _, a := range m.all {
		if a.tampered {
			m.redis.Del(m.t.Context(), document("life", a.id), document("body", a.id))
		} else if _, err := m.engine.Cancel(m.t.Context(), a.id, "end"); err != nil {
			m.t.Error(err)
		}
	}
	m.chat.clear()
}
