package daemon_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey/passkeytest"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// device is a passkey of ana in software, and an HTTP client.
type device struct {
	r   *rig.Rig
	key *passkeytest.Authenticator
}

func newDevice(r *rig.Rig) device {
	r.T.Helper()
	d := device{r, passkeytest.New(r.T, r.Config.Console.URL)}
	keys := r.Daemons[0].Engine().Passkeys
	options, err := keys.Begin(r.Ctx, "ana")
	if err != nil {
		r.T.Fatal(err)
	}
	var o struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &o); err != nil {
		r.T.Fatal(err)
	}
	e := passkeys.Enrollment{Person: "ana", Challenge: o.Challenge, Response: d.key.Create(r.T, options)}
	if _, err := keys.Enroll(r.Ctx, e); err != nil {
		r.T.Fatal(err)
	}
	return d
}

// call sends a request to the page of a link.
func (d device) call(method, link, origin, body string) (int, string) {
	d.r.T.Helper()
	url := d.r.Daemons[0].URL + link[strings.Index(link, passkeys.SignPath):]
	req, err := http.NewRequestWithContext(d.r.Ctx, method, url, strings.NewReader(body))
	if err != nil {
		d.r.T.Fatal(err)
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
		req.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.r.T.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		d.r.T.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

var pageOptions = regexp.MustCompile(`data-options="([^"]*)"`)

// signature returns the body that signs the request on the page of a link.
func (d device) signature(link string) string {
	d.r.T.Helper()
	status, page := d.call(http.MethodGet, link, "", "")
	found := pageOptions.FindStringSubmatch(page)
	if status != http.StatusOK || found == nil {
		d.r.T.Fatalf("%d %s", status, page)
	}
	return `{"passkey":` + string(d.key.Get(d.r.T, []byte(html.UnescapeString(found[1])))) + `}`
}

// TestSignDialogs checks on each service that a dialog, with a typed confirmation
// or an edited input, leads to the page to sign.
func TestSignDialogs(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: func(c *config.Config) {
				withStepUp(c)
				rig.Only(s)(c)
			}})
			d := newDevice(r)
			req := samples.Approval()
			req.Approval.Confirm = "prod"
			typed := r.Ask(req)
			seen := linkFor(r, "ana", s)
			r.Typed("ana", typed.On(s), r.ApprovingLabel(typed.On(s)), "prod")
			link := linked(r, s, seen)
			typed.StillPending()
			if status, said := d.call(http.MethodPost, link, "", d.signature(link)); status != http.StatusOK || !strings.Contains(said, "approved once") {
				t.Fatalf("%d %s", status, said)
			}
			typed.End()
			typed.Closed("with a passkey")

			req = samples.Approval()
			req.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
			edited := r.Ask(req)
			seen = linkFor(r, "ana", s)
			r.Edit("ana", edited.On(s), `{"command":"make less"}`)
			link = linked(r, s, seen)
			if _, page := d.call(http.MethodGet, link, "", ""); !strings.Contains(page, "With your change") || !strings.Contains(page, "make less") {
				t.Errorf("the page does not show the change: %s", page)
			}
			if status, said := d.call(http.MethodPost, link, "", d.signature(link)); status != http.StatusOK {
				t.Fatalf("%d %s", status, said)
			}
			rec := edited.End()
			if a := rec.Response.Assertion; a == nil || a.Statement.Payload != rec.Response.ApprovedDigest || rec.Response.ApprovedDigest == "" {
				t.Errorf("%+v", rec.Response)
			}

			denied := r.Ask(samples.Approval())
			r.Press("ana", denied.On(s), render.LabelDeny)
			if rec := denied.End(); rec.State != bridge.StateDenied || rec.Response.Assurance != "" {
				t.Errorf("%s %+v", rec.State, rec.Response)
			}
		})
	}
}

// TestSignPage checks what the page refuses, and that no refusal and no preview
// changes anything.
func TestSignPage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		withStepUp(c)
		route := c.Routes["default"]
		route.Payload = config.PayloadPrivate
		c.Routes["default"] = route
	}})
	d := newDevice(r)
	a := r.Ask(samples.Approval())
	_, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Decision: bridge.DecideOnce})
	e := bridge.PublicError(err)
	if e.Code != bridge.CodeForbidden || !signLink.MatchString(e.Link) || !strings.Contains(e.Hint, e.Link) {
		t.Fatalf("%+v", e)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
		if status, _ := d.call(method, e.Link, "", ""); status != http.StatusOK {
			t.Errorf("%s: %d", method, status)
		}
	}
	if _, page := d.call(http.MethodGet, e.Link, "", ""); !strings.Contains(page, "make deploy") {
		t.Errorf("the page hides a private request from its responder: %s", page)
	}
	good := d.signature(e.Link)
	for _, c := range []struct {
		name, method, link, origin, body string
		status                           int
		text                             string
	}{
		{"another site", http.MethodPost, e.Link, "https://evil.example", good, 403, "does not come from nod"},
		{"no proof", http.MethodPost, e.Link, "", `{}`, 400, "the response of the browser is not valid JSON"},
		{"no JSON", http.MethodPost, e.Link, "", `x`, 400, "is not valid JSON"},
		{"an unknown member", http.MethodPost, e.Link, "", `{"decision":"always"}`, 400, "unknown field"},
		{"another proof", http.MethodPost, e.Link, "", `{"code":"123456"}`, 400, "unknown field"},
		{"another link", http.MethodPost, e.Link[:len(e.Link)-4] + "AAAA", "", good, 404, "not valid"},
		{"another link to read", http.MethodGet, e.Link[:len(e.Link)-4] + "AAAA", "", "", 404, "Nothing to sign"},
		{"another method", http.MethodPut, e.Link, "", good, 405, ""},
	} {
		if status, said := d.call(c.method, c.link, c.origin, c.body); status != c.status || !strings.Contains(said, c.text) {
			t.Errorf("%s: %d %s", c.name, status, said)
		}
		a.StillPending()
	}
	if status, said := d.call(http.MethodPost, e.Link, "", good); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	if rec := a.End(); rec.Response.Assurance != bridge.AssurancePasskey {
		t.Errorf("%+v", rec.Response)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} { // the first answer may have been lost
		if status, said := d.call(method, e.Link, "", good); status != http.StatusOK || !strings.Contains(said, "Recorded: approved once") {
			t.Errorf("%s again: %d %s", method, status, said)
		}
	}
}
