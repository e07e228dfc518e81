package telegram

import (
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
		for _, more := range []string{`"sticker":{}`, `"voice":{},"caption":" "`} {
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
