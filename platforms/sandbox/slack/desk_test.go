package slack_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"slices"
	"testing"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/platformtest/desk"
	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

const (
	ana = "U0ANA00001"
	bo  = "U0BO000002"
)

// bench is an emulator with slack-go as the bot.
type bench struct {
	desk.Desk
	e   *slack.Emulator
	api *slackgo.Client
}

func newDesk(t *testing.T, o slack.Options, limits bool) *bench {
	t.Helper()
	var e *slack.Emulator
	d := desk.New(t, limits, func(hub *core.Hub) core.Service {
		e = slack.New(hub, []core.Account{{Key: "ana", Name: "Ana Lima", ID: ana}, {Key: "bo", Name: "Bo Chen", ID: bo}}, o)
		return e
	})
	return &bench{d, e, bot(d.URL, slack.BotToken, slack.AppToken)}
}

func bot(url, token, appToken string) *slackgo.Client {
	return slackgo.New(token, slackgo.OptionAPIURL(url+"/slack/api/"), slackgo.OptionAppLevelToken(appToken))
}

// refused fails unless a call ended with an error of the API.
func (d *bench) refused(code string, err error) {
	d.T.Helper()
	answer, ok := errors.AsType[slackgo.SlackErrorResponse](err)
	if !ok || answer.Err != code {
		d.T.Errorf("got %v, want %s", err, code)
	}
}

// post posts a message and returns its place.
func (d *bench) post(options ...slackgo.MsgOption) core.Place {
	d.T.Helper()
	channel, ts, err := d.api.PostMessageContext(d.T.Context(), slack.Channel, options...)
	if err != nil {
		d.T.Fatal(err)
	}
	return core.Place{Service: slack.Name, Channel: channel, Message: ts}
}

// connect runs a Socket Mode client that answers every payload, until the test
// ends.
func (d *bench) connect(answer func(kind socketmode.EventType, payload json.RawMessage) any) {
	d.T.Helper()
	ctx, cancel := context.WithCancel(d.T.Context())
	client := socketmode.New(d.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.RunContext(ctx) }()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-client.Events:
				if e.Request != nil && e.Request.EnvelopeID != "" {
					_ = client.Ack(*e.Request, answer(e.Type, e.Request.Payload))
				}
			}
		}
	}()
	d.T.Cleanup(func() { cancel(); d.Hub.Close(); <-ended })
	d.Eventually("a socket", func() bool { return d.connections() > 0 })
}

func (d *bench) connections() int {
	d.Hub.Lock()
	defer d.Hub.Unlock()
	return d.e.State().Connections
}

func plain(text string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, text, false, false)
}

func button(id, label string) *slackgo.ButtonBlockElement {
	return slackgo.NewButtonBlockElement(id, "value of "+id, plain(label))
}

func options(values ...string) []*slackgo.OptionBlockObject {
	var out []*slackgo.OptionBlockObject
	for _, v := range values {
		out = append(out, slackgo.NewOptionBlockObject(v, plain("Label "+v), nil))
	}
	return out
}

func modal(blocks ...slackgo.Block) slackgo.ModalViewRequest {
	return slackgo.ModalViewRequest{
		Type: slackgo.VTModal, Title: plain("Form"), Submit: plain("Send"), Blocks: slackgo.Blocks{BlockSet: blocks},
	}
}

func input(id string, element slackgo.BlockElement) *slackgo.InputBlock {
	return slackgo.NewInputBlock(id, plain("Field "+id), nil, element)
}

func labels(controls []core.Control) []string {
	var out []string
	for _, c := range controls {
		out = append(out, c.Label)
	}
	slices.Sort(out)
	return out
}
