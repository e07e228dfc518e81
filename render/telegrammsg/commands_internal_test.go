package telegrammsg

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
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
