package platforms

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// TestErrors checks the code of an error of a service, and which error of package
// bridge it is.
func TestErrors(t *testing.T) {
	t.Parallel()
	table := Table{
		{About: AboutAccount, Errors: []string{"revoked", "inactive"}, Fix: "create a token"},
		{About: AboutDeleted, Errors: []string{"no_message"}},
		{About: AboutFrozen, Errors: []string{"cannot_edit"}},
		{About: AboutLimit, Errors: []string{"slow_down"}, Wait: 3 * time.Second},
		{About: AboutContent, Errors: []string{AnyOther}},
	}
	for name, x := range map[string]struct {
		about     About
		code      bridge.Code
		is        error
		hint      string
		wait, set time.Duration
	}{
		"inactive":    {AboutAccount, bridge.CodeForbidden, bridge.ErrRefused, "create a token", 0, 0},
		"no_message":  {AboutDeleted, bridge.CodeNotFound, bridge.ErrDeleted, "", 0, 0},
		"cannot_edit": {AboutFrozen, bridge.CodeConflict, bridge.ErrFrozen, "", 0, 0},
		"slow_down":   {AboutLimit, bridge.CodeRateLimited, nil, "", 3 * time.Second, 7 * time.Second},
		"unheard_of":  {AboutContent, bridge.CodeInvalid, nil, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cause := errors.New("status 400")
			row := table.Find(func(n string) bool { return n == name })
			err := fmt.Errorf("post: %w", row.Err(cause, "%s", name))
			public := bridge.PublicError(err)
			if public.Code != x.code || public.Hint != x.hint || public.RetryAfter != x.wait {
				t.Errorf("it is %q, hint %q, again in %s; want %q, %q, %s", public.Code, public.Hint, public.RetryAfter, x.code, x.hint, x.wait)
			}
			if !Is(err, AboutPerson, x.about) || Is(err, AboutPerson) || AboutOf(err) != x.about {
				t.Errorf("it is about %q, want %q", AboutOf(err), x.about)
			}
			for _, known := range []error{bridge.ErrRefused, bridge.ErrDeleted, bridge.ErrFrozen} {
				if got, want := errors.Is(err, known), known == x.is; got != want {
					t.Errorf("it is %q: %t, want %t", known, got, want)
				}
			}
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), "status 400") {
				t.Errorf("%q does not have its cause", err)
			}
			named := bridge.PublicError(row.WithWait(x.set).Err(nil, "later"))
			if want := max(x.wait, x.set); named.RetryAfter != want {
				t.Errorf("with a wait of the service, it is %s, want %s", named.RetryAfter, want)
			}
		})
	}
	if err := (Row{About: AboutNothing}).Err(nil, "not modified"); err != nil {
		t.Errorf("what is so already is the error %v", err)
	}
	if err := errors.New("lost"); AboutOf(err) != "" || Is(err, "") {
		t.Errorf("an error without a service is about %q", AboutOf(err))
	}
	if got := (Failure{About: AboutPerson}).Error(); !strings.Contains(got, string(AboutPerson)) {
		t.Errorf("without a cause: %q", got)
	}
}

// TestNotAsked checks that a person whose click opened nothing reads that nothing
// was recorded, and whether another click helps.
func TestNotAsked(t *testing.T) {
	t.Parallel()
	for about := range effects {
		t.Run(string(about), func(t *testing.T) {
			t.Parallel()
			want := "another click will not help"
			switch about {
			case AboutNothing:
				return // no error
			case AboutLimit:
				want = "Click again in 3 seconds."
			case AboutThread:
				want = "Open it again"
			case AboutService, AboutLate, AboutAccount, AboutMoved, AboutDeleted:
				want = "Click again."
			}
			err := Row{About: about, Wait: 2100 * time.Millisecond}.Err(nil, "no")
			if got := NotAsked("Slack", err); !strings.Contains(got, "Nothing was recorded") || !strings.Contains(got, want) {
				t.Errorf("it says %q, want %q and that nothing was recorded", got, want)
			}
		})
	}
	if got := NotAsked("Slack", errors.New("lost")); !strings.Contains(got, "Click again.") {
		t.Errorf("without a connection, it says %q", got)
	}
}

// TestMarkdown checks that the documentation names each error, what nod does and
// what its reader does.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := Table{
		{About: AboutAccount, Errors: []string{"revoked", "inactive"}, Fix: "create a token"},
		{About: AboutContent, Errors: []string{AnyOther}},
	}.Markdown()
	want := "| Error | What nod does | What you do |\n|---|---|---|\n" +
		"| `revoked`, `inactive` | " + effects[AboutAccount].does + " | Create a token. |\n" +
		"| `any other` | " + effects[AboutContent].does + " | Nothing. |\n"
	if got != want {
		t.Errorf("it is\n%swant\n%s", got, want)
	}
}

// TestErrorsHaveWords checks that people read what an error means before they read it.
func TestErrorsHaveWords(t *testing.T) {
	t.Parallel()
	for about, e := range effects {
		if e.means == "" && about != AboutNothing {
			t.Errorf("an error about the %s has no words", about)
		}
	}
	err := Row{About: AboutChannel}.Err(nil, "slack: channel_not_found")
	if got := bridge.PublicError(err).Plain(); got != "nod may not post in the channel: slack: channel_not_found" {
		t.Errorf("people read %q", got)
	}
}
