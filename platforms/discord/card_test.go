package discord_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/platformtest"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render/rendertest"
)

// discordDesk is the Discord platform on a sandbox, whose clicks go to a sink of
// the test.
type discordDesk struct {
	*platformtest.Rig
	p    *discord.Platform
	sink *platformtest.Recorder
	// forge changes what Discord answers to an edit; nil leaves it.
	forge    func(map[string]any)
	requests atomic.Int64
}

// newDiscordDesk returns a desk that does not run.
func newDiscordDesk(t *testing.T, change ...func(*discord.Options, *sandbox.Options)) *discordDesk {
	t.Helper()
	d := &discordDesk{sink: &platformtest.Recorder{}}
	o, so := discord.Options{
		Name: "discord", BotToken: sandbox.DiscordToken, NoPacing: true, HTTPClient: &http.Client{Transport: d}, Turns: platformtest.NewTurns(t),
	}, sandbox.Options{}
	for _, f := range change {
		f(&o, &so)
	}
	h := harness
	h.New = func(s platformtest.Setup) (platformtest.Platform, error) {
		o.APIURL = s.URL + "/discord"
		return discord.New(o)
	}
	d.Rig = platformtest.New(t, h, platformtest.Options{Sink: d.sink, Still: true, Sandbox: so})
	d.p = d.Platform.(*discord.Platform)
	return d
}

// running returns a desk that is connected to the gateway, with a sink.
func running(t *testing.T, sink bridge.Sink, change ...func(*discord.Options, *sandbox.Options)) *discordDesk {
	t.Helper()
	d := newDiscordDesk(t, change...)
	if sink == nil {
		sink = d.sink
	}
	d.Run(sink)
	d.Connected()
	return d
}

// RoundTrip implements http.RoundTripper.
func (d *discordDesk) RoundTrip(r *http.Request) (*http.Response, error) {
	d.requests.Add(1)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || d.forge == nil || r.Method != http.MethodPatch || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	var m map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&m); err != nil {
		return nil, err
	}
	resp.Body.Close()
	d.forge(m)
	raw, err := json.Marshal(m)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	resp.Header.Del("Content-Length")
	return resp, err
}

// round is a view of a plan of about 60 kB that ends in a text.
func round(n int, last string, s bridge.State) bridge.View {
	i := bridge.Interaction{
		ID: bridge.ID(fmt.Sprintf("0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f%02d", n)),
		Ask: bridge.Ask{
			Kind: bridge.KindApproval, Prompt: "May I?",
			Approval: &bridge.Approval{Tool: "bash", Scopes: []bridge.Scope{bridge.ScopeOnce}},
		},
		Agent:    "tester",
		Lineage:  bridge.Lineage{Round: n},
		Schedule: bridge.Schedule{Created: time.Now(), Deadline: time.Now().Add(time.Hour)},
	}
	script := last
	if n > 0 {
		script = strings.Repeat(fmt.Sprintf("echo round %d\n", n), 5000) + last
	}
	i.Approval.Input, _ = json.Marshal(map[string]string{"command": script})
	r := bridge.Record{Interaction: i, State: s, Revision: 1}
	if s != bridge.StatePending {
		r.Response = &bridge.Response{State: s, At: time.Now(), Actor: &bridge.Actor{Platform: "discord", User: "1", Person: "ana"}}
	}
	return bridge.NewView(r, 0, nil, func(c bridge.Control) string { return fmt.Sprintf("%s-%d-%d-%d", i.ID, c.Action, c.Question, c.Option) })
}

func (d *discordDesk) post(v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	return d.p.Post(d.Ctx, bridge.Destination{Channel: sandbox.DiscordChannel}, v, parts)
}

func (d *discordDesk) sees(ref bridge.MessageRef) string {
	return d.Shown(d.Place(ref))
}

func (d *discordDesk) controls(ref bridge.MessageRef) int {
	return len(d.Controls(d.Place(ref)))
}

func (d *discordDesk) hideEmbeds() {
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "EMBED_LINKS"})
	if _, err := d.Sandbox.Act(d.Ctx, sandbox.Action{Service: "discord", As: "ana", Do: "embeds", Text: "off"}); err != nil {
		d.T.Fatal(err)
	}
}

// want fails unless the message shows a text, and controls if it is to.
func (d *discordDesk) want(ref bridge.MessageRef, text string, controls bool) {
	d.T.Helper()
	if seen := d.sees(ref); !strings.Contains(seen, text) {
		d.T.Errorf("the message does not say %q: %.600s", text, seen)
	}
	if n := d.controls(ref); controls != (n > 0) {
		d.T.Errorf("the message has %d controls", n)
	}
}

// TestDiscordNeedsNoEmbeds checks that every card reads the same without the
// bot's Embed Links and for a person who switched embeds off.
func TestDiscordNeedsNoEmbeds(t *testing.T) {
	t.Parallel()
	d, plain := newDiscordDesk(t), newDiscordDesk(t)
	d.hideEmbeds()
	for _, s := range rendertest.Samples() {
		hidden, err := d.post(s.View, nil)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		shown, err := plain.post(s.View, nil)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if a, b := d.sees(hidden), plain.sees(shown); a != b || !strings.Contains(a, "deploy-bot") {
			t.Errorf("%s: without embeds it says %q, with them %q", s.Name, a, b)
		}
	}
	ref, err := d.post(round(0, "rm -rf /srv", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.want(ref, "rm -rf /srv", true)
}

// TestDiscordLaterRound checks that an update carries the file of its own
// round, and of no other.
func TestDiscordLaterRound(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	ref, err := d.post(round(1, "first end", bridge.StatePending), bridge.NewParts(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	d.want(ref, "first end", true)
	for n, parts := range []*bridge.Parts{bridge.NewParts(nil, nil), nil} {
		last := fmt.Sprintf("rm -rf /%d", n)
		if err := d.p.Update(t.Context(), ref, round(n+2, last, bridge.StatePending), parts); err != nil {
			t.Fatal(err)
		}
		d.want(ref, last, true)
		for _, old := range []string{"first end", fmt.Sprintf("echo round %d\n", n+1)} {
			if strings.Contains(d.sees(ref), old) {
				t.Errorf("round %d shows the file of an earlier one", n+2)
			}
		}
	}
	// A short round has no file at all.
	if err := d.p.Update(t.Context(), ref, round(0, "make deploy", bridge.StatePending), nil); err != nil {
		t.Fatal(err)
	}
	d.want(ref, "make deploy", true)
	if strings.Contains(d.sees(ref), "echo round") || strings.Contains(d.sees(ref), "attached") {
		t.Errorf("the file of an earlier round is still there")
	}
}

// TestDiscordChecksTheAnswer checks that a message which Discord shows
// otherwise than it was sent gets no controls.
func TestDiscordChecksTheAnswer(t *testing.T) {
	t.Parallel()
	inner := func(m map[string]any) []any {
		c, _ := m["components"].([]any)[0].(map[string]any)
		list, _ := c["components"].([]any)
		return list
	}
	byType := func(m map[string]any, kind float64) map[string]any {
		for _, v := range inner(m) {
			if o, _ := v.(map[string]any); o["type"] == kind {
				return o
			}
		}
		return map[string]any{}
	}
	for name, forge := range map[string]func(map[string]any){
		"no file":            func(m map[string]any) { delete(byType(m, 13), "name") },
		"half a file":        func(m map[string]any) { byType(m, 13)["size"] = 7.0 },
		"another file":       func(m map[string]any) { byType(m, 13)["name"] = "other.txt" },
		"file hidden":        func(m map[string]any) { byType(m, 13)["spoiler"] = true },
		"no components":      func(m map[string]any) { m["components"] = []any{} },
		"one component less": func(m map[string]any) { m["components"].([]any)[0].(map[string]any)["components"] = inner(m)[1:] },
		"cut text":           func(m map[string]any) { o := byType(m, 10); o["content"] = o["content"].(string)[:60] },
		"other text": func(m map[string]any) {
			o := byType(m, 10)
			o["content"] = strings.Replace(o["content"].(string), "May", "Nay", 1)
		},
		"no flag":  func(m map[string]any) { m["flags"] = 0.0 },
		"not JSON": func(m map[string]any) { m["components"] = "none" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDiscordDesk(t)
			d.forge = forge
			parts := bridge.NewParts(nil, nil)
			_, err := d.post(round(1, "end", bridge.StatePending), parts)
			if err == nil || !strings.Contains(err.Error(), "does not show all") {
				t.Fatalf("the error is %v", err)
			}
			d.want(parts.Sent()[0], "Cannot be answered here", false)
			d.forge = nil
			ref, err := d.post(round(1, "end", bridge.StatePending), parts)
			if err != nil || ref != parts.Sent()[0] {
				t.Fatalf("%v %v", ref, err)
			}
			d.want(ref, "end", true)
		})
	}
}

// TestDiscordAnswerWithoutHarm checks that Discord may trim and add what does
// not matter.
func TestDiscordAnswerWithoutHarm(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	d.forge = func(m map[string]any) {
		c, _ := m["components"].([]any)[0].(map[string]any)
		c["new_field"] = true
		o := c["components"].([]any)[0].(map[string]any)
		o["content"] = strings.ReplaceAll(o["content"].(string), "\u200b", "") + " \n"
	}
	ref, err := d.post(round(0, "echo '```'", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.want(ref, "echo", true)
}

// TestDiscordPermissionLost checks that a message that may no longer get its
// file loses its controls, and says so.
func TestDiscordPermissionLost(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	ref, err := d.post(round(0, "make deploy", bridge.StatePending), nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Kind: "missing_permission", Method: "ATTACH_FILES"})
	err = d.p.Update(t.Context(), ref, round(2, "rm -rf /", bridge.StatePending), bridge.NewParts(nil, nil))
	if bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("the error is %v", err)
	}
	d.want(ref, "Cannot be answered here", false)
	d.want(ref, "the permission that the bot lacks", false)
	// A new request is not answered either, and its message says why.
	parts := bridge.NewParts(nil, nil)
	if _, err := d.post(round(3, "rm -rf /", bridge.StatePending), parts); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("the error is %v", err)
	}
	d.want(parts.Sent()[0], "Cannot be answered here", false)
	// A decided request is closed anyway, without the file.
	if err := d.p.Update(t.Context(), ref, round(2, "rm -rf /", bridge.StateApproved), nil); err != nil {
		t.Fatal(err)
	}
	d.want(ref, "Approved by", false)
	if strings.Contains(d.sees(ref), "attached") {
		t.Error("the card speaks of a file that is not there")
	}
}

// TestDiscordSendsFilesOnce checks that neither a retry nor an edit sends a
// message or a file again that is recorded.
func TestDiscordSendsFilesOnce(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	var saved []bridge.MessageRef
	save := func(_ context.Context, sent []bridge.MessageRef) error { saved = sent; return nil }
	parts := func() *bridge.Parts { return bridge.NewParts(saved, save) } // as another process reads it
	v := round(1, "the end", bridge.StatePending)
	const edit = "PATCH /channels/{channel}/messages/{message}"
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Method: edit, Kind: "error", Status: 503, Count: 1})
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Method: edit, Kind: "drop_after", Count: 1})
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Method: edit, Kind: "rate_limit", RetryAfter: 1, Count: 1})
	var ref bridge.MessageRef
	failed := 0
	for err := error(bridge.Errorf(bridge.CodeUnavailable, "")); err != nil; {
		if ref, err = d.post(v, parts()); errors.Is(err, bridge.ErrPaced) {
			bridge.Pause(t.Context(), 100*time.Millisecond)
		} else if err != nil {
			if failed++; failed > 3 || final(err) {
				t.Fatal(err)
			}
		}
	}
	d.want(ref, "the end", true)
	if n := len(d.Messages()); n != 1 {
		t.Errorf("%d messages were posted", n)
	}
	before := len(saved)
	file := saved[before-1]
	for _, s := range []bridge.State{bridge.StatePending, bridge.StatePending, bridge.StateApproved} {
		if err := d.p.Update(t.Context(), ref, round(1, "the end", s), parts()); err != nil {
			t.Fatal(err)
		}
		d.want(ref, "the end", s == bridge.StatePending)
	}
	if len(saved) != before || saved[before-1] != file || failed != 3 {
		t.Errorf("the file was sent again: %v, after %d failures", saved, failed)
	}
	// A file that is gone is sent again.
	if err := d.p.Update(t.Context(), ref, round(0, "short", bridge.StatePending), nil); err != nil {
		t.Fatal(err)
	}
	if err := d.p.Update(t.Context(), ref, v, parts()); err != nil {
		t.Fatal(err)
	}
	d.want(ref, "the end", true)
}

func final(err error) bool {
	code := bridge.ErrorCode(err)
	return code != bridge.CodeUnavailable && code != bridge.CodeRateLimited
}

// TestRecordedMessageIsNotPostedAgain checks that a message which is recorded
// gets its card without another post, also long after its nonce has expired.
func TestRecordedMessageIsNotPostedAgain(t *testing.T) {
	t.Parallel()
	d := newDiscordDesk(t)
	parts := bridge.NewParts(nil, nil)
	first, err := d.post(round(0, "make deploy", bridge.StatePending), parts)
	if err != nil {
		t.Fatal(err)
	}
	d.Sandbox.AddFault(sandbox.Fault{Service: "discord", Method: "POST /channels/{channel}/messages", Kind: "error"})
	if again, err := d.post(round(0, "make deploy", bridge.StatePending), parts); err != nil || again != first {
		t.Errorf("it was posted at %v, then at %v: %v", first, again, err)
	}
}
