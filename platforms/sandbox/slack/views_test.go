package slack_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// TestStack checks views.push, views.update and the errors of triggers.
func TestStack(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("open", "Open"))))
	triggers := make(chan string, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		_ = json.Unmarshal(payload, &in)
		triggers <- in.TriggerID
		return nil
	})
	trigger := func() string {
		if _, err := core.Press(ctx, d.e, "ana", at, "Open"); err != nil {
			t.Fatal(err)
		}
		return <-triggers
	}
	section := slackgo.NewSectionBlock(plain("text"), nil, nil)
	used := trigger()
	first, err := d.api.OpenViewContext(ctx, used, modal(section))
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.api.OpenViewContext(ctx, used, modal(section))
	d.refused("exchanged_trigger_id", err)
	if _, err := d.api.PushViewContext(ctx, trigger(), modal(section)); err != nil {
		t.Error(err)
	}
	if _, err := d.api.UpdateViewContext(ctx, modal(section), "", first.Hash, first.ID); err != nil {
		t.Error(err)
	}
	_, err = d.api.UpdateViewContext(ctx, modal(section), "", first.Hash, first.ID)
	d.refused("hash_conflict", err)
	_, err = d.api.UpdateViewContext(ctx, modal(section), "", "", "V0NONE")
	d.refused("not_found", err)
	_, err = d.api.UpdateViewContext(ctx, modal(), "", "", first.ID)
	d.refused("invalid_arguments", err)
	late := trigger()
	d.Hub.Lock()
	views := len(d.e.State().Views)
	d.Hub.Unlock()
	if r := d.Act(core.Action{As: "ana", Do: "close", View: first.ID}); !r.OK || views != 2 {
		t.Errorf("%d views; closed: %+v", views, r)
	}
	d.Hub.Clock.Advance(3*time.Second + 1)
	_, err = d.api.OpenViewContext(ctx, late, modal(section))
	d.refused("expired_trigger_id", err)
}

// TestHome checks the Home tab.
func TestHome(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t, slack.Options{}, false), t.Context()
	publish := func(view slackgo.HomeTabViewRequest, user string) error {
		_, err := d.api.PublishViewContext(ctx, slackgo.PublishViewContextRequest{UserID: user, View: view})
		return err
	}
	blocks := slackgo.Blocks{BlockSet: []slackgo.Block{slackgo.NewHeaderBlock(plain("Welcome home"))}}
	d.connect(func(kind socketmode.EventType, _ json.RawMessage) any {
		if kind == socketmode.EventTypeEventsAPI {
			if err := publish(slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: blocks}, ana); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if said, err := d.e.Home(ctx, "ana"); err != nil || !strings.Contains(said, "Welcome home") {
		t.Errorf("home: %q %v", said, err)
	}
	many := slackgo.Blocks{}
	for range 101 {
		many.BlockSet = append(many.BlockSet, slackgo.NewDividerBlock())
	}
	wrong := slackgo.Blocks{BlockSet: []slackgo.Block{slackgo.NewHeaderBlock(plain(""))}}
	d.refused("invalid_arguments", publish(slackgo.HomeTabViewRequest{Type: slackgo.VTModal, Blocks: blocks}, ana))
	d.refused("invalid_arguments", publish(slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: many}, ana))
	d.refused("invalid_arguments", publish(slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: wrong}, ana))
	d.Fault(core.Fault{Kind: "event_drop"})
	if said, err := d.e.Home(ctx, "ana"); err != nil || !strings.Contains(said, "stays as it was") {
		t.Errorf("dropped: %q %v", said, err)
	}
}
