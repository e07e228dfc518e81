package question_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/question"
)

// TestAsksAgain checks that a request that expires in the chats is asked there
// again, because the context of its caller goes on.
func TestAsksAgain(t *testing.T) {
	t.Parallel()
	c := newChats()
	done := start(t.Context(), question.NewBroker(c), request())
	if r := <-c.opened; r.Timeout < bridge.Duration(time.Hour) {
		t.Errorf("the first card waits only %s", time.Duration(r.Timeout))
	}
	c.ends <- c.ended(bridge.Response{State: bridge.StateExpired})
	<-c.opened
	c.ends <- c.ended(answered("Vue"))
	if got := <-done; got.err != nil || got.r.Answers["Which framework?"] != "Vue" {
		t.Errorf("%+v", got)
	}
}

// TestDeadline checks that a card waits as long as the context of its caller.
func TestDeadline(t *testing.T) {
	t.Parallel()
	c := newChats()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	done := start(ctx, question.NewBroker(c), request())
	if r := <-c.opened; r.Timeout != bridge.Duration(time.Hour) {
		t.Errorf("the card waits %s, want 1h", time.Duration(r.Timeout))
	}
	cancel()
	<-done
}

// TestCallbackAlone checks that the callback answers if the chats cannot, and
// that its response is not lost.
func TestCallbackAlone(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]error{
		"no daemon responds":  bridge.Errorf(bridge.CodeUnavailable, "away"),
		"the chats refuse":    bridge.Errorf(bridge.CodeForbidden, "no"),
		"no one is reachable": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newChats()
				c.refuse = refuse
				c.ends <- c.ended(bridge.Response{State: bridge.StateUndeliverable})
				b := question.NewBroker(c)
				shown := make(chan question.Request, 1)
				question.SetOnRequest(b, func(r question.Request) { shown <- r })
				done := start(t.Context(), b, request())
				r := <-shown
				time.Sleep(time.Hour)
				if err := b.Respond(r.ID, question.Response{Answers: map[string]string{"Which framework?": "React"}}); err != nil {
					t.Fatal(err)
				}
				if got := <-done; got.err != nil || got.r.Answers["Which framework?"] != "React" {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// TestWaitsForDaemon checks that a request without a callback waits for an
// unreachable daemon until its context ends.
func TestWaitsForDaemon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChats()
		c.refuse = bridge.Errorf(bridge.CodeUnavailable, "away")
		ctx, leave := context.WithCancel(t.Context())
		done := start(ctx, question.NewBroker(c), request())
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case got := <-done:
			t.Fatalf("it returned %+v", got)
		default:
		}
		leave()
		if got := <-done; !errors.Is(got.err, context.Canceled) {
			t.Errorf("%+v", got)
		}
	})
}

// TestOpensTooLate checks that a card that is opened after this process has
// answered is closed again.
func TestOpensTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newChats()
		c.holds = make(chan bool)
		b := question.NewBroker(c)
		question.SetOnRequest(b, func(r question.Request) {
			if err := b.Respond(r.ID, question.Response{}); err != nil {
				t.Error(err)
			}
		})
		if got := <-start(t.Context(), b, request()); got.err != nil {
			t.Errorf("%+v", got)
		}
		synctest.Wait()
		c.holds <- true
		if why := <-c.cancelled; why != "answered in the agent's process" {
			t.Errorf("the cards close with %q", why)
		}
	})
}
