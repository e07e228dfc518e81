package platformtest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// mapsErrors checks the code of each error, because the engine's behavior
// depends on it.
func mapsErrors(r *Rig) {
	i := r.interaction("make deploy")
	pending := r.view(i, bridge.StatePending)
	ref := r.posts(pending)
	for _, f := range r.Harness.Refusals {
		r.Fault(f)
		if _, err := r.post(r.view(r.interaction("ls"), bridge.StatePending), bridge.NewParts(nil, nil)); !isFinal(err) {
			r.T.Errorf("%s %s: Post returns %v", f.Kind, f.Method, err)
		}
		r.Sandbox.ClearFaults()
	}
	for _, x := range []struct {
		name  string
		fault sandbox.Fault
		retry time.Duration
		want  func(error) bool
	}{
		{"outage", sandbox.Fault{Kind: "error", Status: 502}, 0, isCode(bridge.CodeUnavailable)},
		{"no answer", sandbox.Fault{Kind: "drop"}, 0, isCode(bridge.CodeUnavailable)},
		{"lost answer", sandbox.Fault{Kind: "drop_after"}, 0, isCode(bridge.CodeUnavailable)},
		{"half an answer", sandbox.Fault{Kind: "half"}, 0, isCode(bridge.CodeUnavailable)},
		{"token revoked", sandbox.Fault{Kind: "revoke"}, 0, isCode(bridge.CodeForbidden)},
		{"rate limit", sandbox.Fault{Kind: "rate_limit", RetryAfter: 1}, time.Second, isCode(bridge.CodeRateLimited)},
		// In these cases, a proxy in front of the service responds. It cannot
		// refuse a channel or a token.
		{"sign-in page", sandbox.Fault{Kind: "page", Status: 200}, 0, isCode(bridge.CodeUnavailable)},
		{"redirect", sandbox.Fault{Kind: "page", Status: 302}, 0, isCode(bridge.CodeUnavailable)},
		{"proxy refuses", sandbox.Fault{Kind: "page", Status: 401}, 0, isCode(bridge.CodeUnavailable)},
		{"proxy blocks", sandbox.Fault{Kind: "page", Status: 403}, 0, isCode(bridge.CodeUnavailable)},
		{"proxy finds nothing", sandbox.Fault{Kind: "page", Status: 404}, 0, isCode(bridge.CodeUnavailable)},
		{"proxy limits the size", sandbox.Fault{Kind: "page", Status: 413}, 0, isFinal},
	} {
		r.Fault(x.fault)
		_, err := r.post(r.view(r.interaction("ls"), bridge.StatePending), bridge.NewParts(nil, nil))
		if !x.want(err) {
			r.T.Errorf("%s: Post returns %v (%s)", x.name, err, bridge.ErrorCode(err))
		}
		if after := retryAfter(err); after < x.retry {
			r.T.Errorf("%s: Post returns RetryAfter %s", x.name, after)
		}
		if err = r.Platform.Update(r.Ctx, ref, pending, bridge.NewParts(nil, nil)); !x.want(err) {
			r.T.Errorf("%s: Update returns %v (%s)", x.name, err, bridge.ErrorCode(err))
		}
		r.Sandbox.ClearFaults()
		bridge.Pause(r.Ctx, x.retry)
		for _, secret := range []string{sandbox.SlackBotToken, sandbox.DiscordToken, sandbox.TelegramToken} {
			if strings.Contains(bridge.PublicError(err).Message, secret) {
				r.T.Errorf("%s: the error contains the token: %v", x.name, err)
			}
		}
	}
}

func isCode(want bridge.Code) func(error) bool {
	return func(err error) bool { return bridge.ErrorCode(err) == want }
}

func isFinal(err error) bool { return err != nil && !passes(err) }

func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*bridge.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// longJSON is the input of a tool that runs a command.
func longJSON(command string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"command": command}) // strings always marshal
	return raw
}

// script returns a command with a number of lines.
func script(lines int) string {
	var b strings.Builder
	for n := range lines {
		b.WriteString(longLine(n) + "\n")
	}
	return b.String()
}

// sendsPartsOnce interrupts the delivery of a long text and continues from the
// recorded parts, like another process would.
func sendsPartsOnce(r *Rig) {
	if r.Harness.Dialogs {
		return
	}
	before, whole := len(r.Messages()), bridge.NewParts(nil, nil)
	if _, err := r.post(r.view(r.interaction(script(900)), bridge.StatePending), whole); err != nil {
		r.T.Fatal(err)
	}
	want := len(r.Messages()) - before
	v := r.view(r.interaction(script(900)), bridge.StatePending)
	before = len(r.Messages())
	var saved []bridge.MessageRef
	for _, kind := range []string{"error", "drop", "rate_limit", "error"} {
		if len(saved) == len(whole.Sent()) {
			break
		}
		r.Fault(sandbox.Fault{Kind: kind, Method: r.Harness.Part, Count: 1})
		if err := r.onePart(v, &saved); err == nil || isFinal(err) && !errors.Is(err, errStop) {
			r.T.Errorf("after a fault of kind %s: %v", kind, err)
		}
		r.Sandbox.ClearFaults()
		if len(saved) < len(whole.Sent()) {
			if err := r.onePart(v, &saved); err == nil {
				r.T.Errorf("after %d parts the card was posted", len(saved))
			}
		}
	}
	bridge.Pause(r.Ctx, time.Second) // the pause that the service requires
	ref, err := r.post(v, bridge.NewParts(saved, nil))
	if err != nil {
		r.T.Fatal(err)
	}
	if got := len(r.Messages()) - before; got != want {
		r.T.Errorf("%d messages instead of %d", got, want)
	}
	if shown := r.Shown(r.Place(ref)); !strings.Contains(shown, longLine(899)) {
		r.T.Errorf("the end is not shown: %.300s", shown)
	}
}

// onePart posts a view until one more part is recorded.
func (r *Rig) onePart(v bridge.View, saved *[]bridge.MessageRef) error {
	_, err := r.post(v, bridge.NewParts(slices.Clone(*saved), func(_ context.Context, sent []bridge.MessageRef) error {
		*saved = slices.Clone(sent)
		return errStop
	}))
	return err
}

// errStop interrupts a post.
var errStop = bridge.Errorf(bridge.CodeUnavailable, "stopped")

// stopsUnrecorded checks that the controls appear only after the text above
// them is recorded.
func stopsUnrecorded(r *Rig) {
	if r.Harness.Dialogs {
		return
	}
	before := len(r.Messages())
	parts := bridge.NewParts(nil, func(context.Context, []bridge.MessageRef) error { return errStop })
	if _, err := r.post(r.view(r.interaction(script(900)), bridge.StatePending), parts); !errors.Is(err, errStop) {
		r.T.Errorf("the error is %v", err)
	}
	for _, m := range r.Messages()[before:] {
		if c := sandbox.Controls(r.Harness.Name, m); len(c) > 0 {
			r.T.Errorf("a message has %v", c)
		}
	}
}

// neverShortened updates a card to a long text, with and without a record of
// its parts. The controls may appear only with the full text.
func neverShortened(r *Rig) {
	ref := r.posts(r.view(r.interaction("ls"), bridge.StatePending))
	for _, parts := range []*bridge.Parts{nil, bridge.NewParts(nil, nil)} {
		if err := r.Platform.Update(r.Ctx, ref, r.view(r.interaction(script(900)), bridge.StatePending), parts); err != nil {
			r.T.Fatal(err)
		}
		whole := r.Offers(r.Place(ref), person.Reads) || strings.Contains(r.Shown(r.Place(ref)), longLine(899))
		controls := len(r.Controls(r.Place(ref)))
		if controls > 0 && !whole || parts != nil && controls == 0 {
			r.T.Errorf("with %v, %d controls; the full text is shown: %t", parts, controls, whole)
		}
	}
}

// noticesLoss makes the service store only part of a message.
func noticesLoss(r *Rig) {
	for _, kind := range []string{"truncate", "strip"} {
		for _, lines := range []int{20, 900} {
			before := len(r.Messages())
			r.Fault(sandbox.Fault{Kind: kind})
			v := r.view(r.interaction(script(lines)), bridge.StatePending)
			ref, err := r.post(v, bridge.NewParts(nil, nil))
			r.Sandbox.ClearFaults()
			whole := err == nil && strings.Contains(r.Shown(r.Place(ref)), longLine(lines-1))
			if !whole && bridge.ErrorCode(err) != bridge.CodeUnsupported {
				r.T.Errorf("%s of %d lines: %v", kind, lines, err)
			}
			for _, m := range r.Messages()[before:] {
				if c := sandbox.Controls(r.Harness.Name, m); !whole && len(c) > 0 {
					r.T.Errorf("%s of %d lines: a message has %v", kind, lines, c)
				}
			}
			r.loses(kind, lines)
		}
	}
}

// loses makes the service store only part of an update.
func (r *Rig) loses(kind string, lines int) {
	r.T.Helper()
	ref := r.posts(r.view(r.interaction("ls"), bridge.StatePending))
	i := r.interaction(script(lines))
	r.Fault(sandbox.Fault{Kind: kind})
	err := r.Platform.Update(r.Ctx, ref, r.view(i, bridge.StatePending), bridge.NewParts(nil, nil))
	r.Sandbox.ClearFaults()
	if strings.Contains(r.Shown(r.Place(ref)), longLine(lines-1)) {
		return
	}
	if err == nil {
		r.T.Errorf("%s of %d lines: the update reports no error", kind, lines)
	}
	for _, c := range r.Controls(r.Place(ref)) {
		if got, err := r.Keys.Verify(r.Harness.Client.Token(c)); err != nil || got.Interaction == i.ID {
			r.T.Errorf("%s of %d lines: the card offers %q", kind, lines, c.Label)
		}
	}
}
