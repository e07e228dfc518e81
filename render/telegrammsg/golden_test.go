package telegrammsg_test

import (
	"testing"

	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// TestMessages pins the wire form of every intent in every state.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		m, err := telegrammsg.Build(s.View)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		rendertest.Golden(t, s.Name, m)
	}
}

// TestForms pins the menus and the prompts of decisions.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forms() {
		if !render.Opens(f.Form) {
			rendertest.Golden(t, "form-"+f.Name, telegrammsg.NewPrompt(f.Form, 7001, "Ana"))
			continue
		}
		m, err := telegrammsg.Menu(f.Form)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		rendertest.Golden(t, "form-"+f.Name, m)
	}
}
