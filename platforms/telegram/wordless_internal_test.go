package telegram

import (
	"log/slog"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest"
)

// TestWordlessReply checks that a reply without text, such as a sticker or a
// voice message, never reaches the engine: it would leave an optional question
// empty.
func TestWordlessReply(t *testing.T) {
	t.Parallel()
	for name, note := range map[string]string{
		"card": `{"t":"x","c":{"channel":"-1","message":"1"}}`, "prompt": `{"t":"x","u":"7","c":{"channel":"-1","message":"1"}}`,
	} {
		for _, more := range []string{`"sticker":{}`, `"voice":{},"caption":" "`, `"dice":{"emoji":"🎲","value":3}`, `"poll":{"id":"1"}`, `"story":{"id":1}`} {
			p, err := New(Options{Token: "1:x", HTTPClient: platformtest.Nowhere(), NoPacing: true, Notes: prompted{note}})
			if err != nil {
				t.Fatal(err)
			}
			sink := &platformtest.Recorder{}
			raw := `{"update_id":1,"message":{"message_id":2,"chat":{"id":-1},"from":{"id":7},"reply_to_message":{"message_id":1},` + more + `}}`
			if _, err := p.receiver.inbound.handle(t.Context(), sink, p.receiver.inbound.read([]byte(raw))); err != nil {
				t.Error(err)
			}
			if got := sink.Clicks(); len(got) > 0 {
				t.Errorf("%s, %s: %+v", name, more, got)
			}
		}
	}
}

// TestStandings checks that only a new message of a person's own answers, and that
// the person reads why another one does not. A bot reads nothing.
func TestStandings(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		kind, from, more string
		acts, told       bool
	}{
		"a reply":         {"message", `{"id":7}`, ``, true, true},
		"an edit":         {"edited_message", `{"id":7}`, ``, false, true},
		"as the group":    {"message", `{"id":7,"is_bot":true}`, `,"sender_chat":{"id":-1}`, false, true},
		"a forwarded one": {"message", `{"id":7}`, `,"forward_origin":{"type":"user"}`, false, true},
		"a bot":           {"message", `{"id":7,"is_bot":true}`, ``, false, false},
	} {
		for _, note := range []string{`{"t":"x","c":{"channel":"-1","message":"1"}}`, `{"t":"x","u":"7","c":{"channel":"-1","message":"1"}}`} {
			p, err := New(Options{Token: "1:x", HTTPClient: platformtest.Nowhere(), NoPacing: true, Notes: prompted{note}})
			if err != nil {
				t.Fatal(err)
			}
			sink := &platformtest.Recorder{}
			raw := `{"update_id":1,"` + x.kind + `":{"message_id":2,"text":"yes","chat":{"id":-1},"from":` + x.from + `,"reply_to_message":{"message_id":1}` + x.more + `}}`
			then, err := p.receiver.inbound.handle(t.Context(), sink, p.receiver.inbound.read([]byte(raw)))
			if err != nil || len(sink.Clicks()) > 0 != x.acts || (then != nil) != x.told {
				t.Errorf("%s answers %s with %+v, the person reads something: %v, %v", name, note, sink.Clicks(), then != nil, err)
			}
		}
	}
}

// TestSays checks which messages a person wrote: whoever sent one without words reads
// why it does not count, and no one reads that about a message of Telegram itself.
func TestSays(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`"text":"yes"`: true, `"sticker":{}`: true, `"voice":{}`: true, `"dice":{"emoji":"🎲","value":3}`: true, `"poll":{"id":"1"}`: true,
		`"story":{"id":1}`: true, `"game":{}`: true, `"checklist":{}`: true, `"paid_media":{}`: true, `"animation":{},"document":{"file_id":"1"}`: true,
		`"pinned_message":{}`: false, `"new_chat_members":[]`: false, `"forum_topic_closed":{}`: false,
	} {
		in := inbound{log: slog.New(slog.DiscardHandler)}
		u := in.read([]byte(`{"update_id":1,"message":{"message_id":2,"chat":{"id":-1},"from":{"id":7},` + raw + `}}`))
		if u.Message == nil || u.Message.says() != want {
			t.Errorf("%s: a person wrote it: %v, want %v", raw, !want, want)
		}
	}
}
