package telegrammsg

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TestNoCommands checks that a text of an agent or a person has no command of a bot,
// and stays as it was written.
func TestNoCommands(t *testing.T) {
	t.Parallel()
	for text, code := range map[string][]string{
		"/stop":                       {"/stop"},
		"~/shop":                      {"~/shop"},
		"in ~/shop, then /ban and go": {"~/shop", "/ban"},
		"./run":                       {"./run"},
		"(/etc)":                      {"/etc"},
		"a\n/kick":                    {"/kick"},
		"🚀/launch":                    {"/launch"},
		"/stop@other_bot":             {"/stop"},
		"~/shop/api":                  nil,
		"and/or":                      nil,
		"1/2 </b> //x":                nil,
		"use /nod grants":             nil,
		"https://example.com/stop":    nil,
		"/":                           nil,
		"/é":                          nil,
	} {
		w := &writer{}
		w.add(text, "bold")
		got, entities := w.result()
		if plain := strings.ReplaceAll(got, joiner, ""); plain != text {
			t.Errorf("%q became %q", text, plain)
		}
		units := utf16.Encode([]rune(got))
		var marked []string
		for _, e := range entities {
			if e.Type == "code" {
				marked = append(marked, string(utf16.Decode(units[e.Offset:e.Offset+e.Length])))
			}
		}
		if !slices.Equal(marked, code) {
			t.Errorf("%q: code is %q, want %q", text, marked, code)
		}
	}
}

// TestManyCommands checks that the commands in a text leave room for the other marks
// of a message, and that none of them is a link.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	w := &writer{}
	w.add(strings.Repeat("/stop ", 200))
	w.add("who asks", "bold")
	text, entities := w.result()
	if last := entities[len(entities)-1]; last.Type != "bold" {
		t.Errorf("the last mark is %+v", last)
	}
	if plain := len(entities) - 1; strings.Count(text, "/"+joiner) != 200-plain {
		t.Errorf("%d commands are code, and %d are broken", plain, strings.Count(text, "/"+joiner))
	}
	w = &writer{}
	w.add("/stop", "strikethrough")
	if text, entities := w.result(); text != "/"+joiner+"stop" || len(entities) != 1 {
		t.Errorf("struck: %q, %+v", text, entities)
	}
}

// TestManyMarks checks that a text with more formatting than a message can have
// has no command, mention or tag that a tap would follow, keeps the addresses of
// its links, and leaves room for the mentions of the card.
func TestManyMarks(t *testing.T) {
	t.Parallel()
	w := &writer{}
	var spans []render.Span
	for range maxEntities {
		spans = append(spans, render.Span{Text: "a", Code: true}, render.Span{Text: " "})
	}
	spans = append(spans, render.Span{Text: "@boss /kick #tag", Code: true}, render.Span{Text: "page", URL: "https://a.example/x"})
	w.blocks([]render.Block{{Kind: render.Paragraph, Spans: spans}, {Kind: render.Code, Text: "@boss\n/kick $TSLA"}}, "")
	w.mention(bridge.Mention{Name: "Ana", User: "7001"})
	text, entities := w.result()
	if last := entities[len(entities)-1]; len(entities) > maxEntities || last.Type != "text_mention" {
		t.Errorf("%d entities, the last is %+v", len(entities), last)
	}
	for _, link := range []string{"@boss", "/kick", "#tag", "$TSLA"} {
		if strings.Contains(text, link) || !strings.Contains(text, link[:1]+joiner+link[1:]) {
			t.Errorf("%s is a link", link)
		}
	}
	if !strings.Contains(text, "page (https://a.example/x)") {
		t.Errorf("the link lost its address: %q", text)
	}
}
