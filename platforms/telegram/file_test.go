package telegram_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestFileOnce checks that people see the full text once, although the answer
// to a call that sends it is lost.
func TestFileOnce(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"sendDocument", "editMessageMedia"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v, parts := w.question(strings.Repeat("long ", 2000)), bridge.NewParts(nil, nil)
			d := bridge.Destination{Channel: group}
			w.Sandbox.AddFault(sandbox.Fault{Service: "telegram", Method: method, Kind: "drop_after", Count: 1})
			if _, err := w.p.Post(t.Context(), d, v, parts); bridge.ErrorCode(err) != bridge.CodeUnavailable {
				t.Errorf("without an answer: %v", err)
			}
			for _, sent := range parts.Sent() {
				if sent.Channel == group { // the next post would take this for the whole file
					t.Errorf("%+v is recorded before the file is complete", sent)
				}
			}
			if _, err := w.p.Post(t.Context(), d, v, parts); err != nil {
				t.Fatal(err)
			}
			w.hasFiles(group, 1)
		})
	}
}

// TestFileRecorded checks what nod sends after a restart, by what is recorded.
func TestFileRecorded(t *testing.T) {
	t.Parallel()
	const gone = "9999"
	for name, c := range map[string]struct {
		recorded []bridge.MessageRef
		files    int
	}{
		"a complete file":                    {[]bridge.MessageRef{{Channel: group, Message: gone}}, 0},
		"a placeholder that someone deleted": {[]bridge.MessageRef{{Channel: "placeholder:" + group, Message: gone}}, 1},
		"a file after its placeholder": {[]bridge.MessageRef{
			{Channel: "placeholder:" + group, Message: gone}, {Channel: group, Message: gone},
		}, 0},
		"a placeholder of another chat": {[]bridge.MessageRef{{Channel: "placeholder:-4001", Message: gone}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			parts := bridge.NewParts(c.recorded, nil)
			d := bridge.Destination{Channel: group}
			if _, err := w.p.Post(t.Context(), d, w.question(strings.Repeat("long ", 2000)), parts); err != nil {
				t.Fatal(err)
			}
			w.hasFiles(group, c.files)
			last := parts.Sent()[len(parts.Sent())-1]
			if last.Channel != group {
				t.Errorf("the last record is %+v, want one of the chat", last)
			}
		})
	}
}

// hasFiles checks how many messages of a chat carry a full text, which is
// longer than a card.
func (w world) hasFiles(chat string, want int) {
	w.T.Helper()
	files := 0
	for _, m := range w.messages(chat) {
		doc, _ := m["document"].(map[string]any)
		if size, _ := doc["file_size"].(float64); size > 4096 {
			files++
		}
	}
	if files != want {
		w.T.Errorf("people see %d files, want %d", files, want)
	}
}
