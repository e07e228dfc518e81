package daemon_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-jose/go-jose/v4"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/demo"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

func withConsole(c *config.Config) {
	c.Console.Enabled = true
	bo := c.People["bo"]
	bo.Token = config.NewSecret(rig.BoToken)
	c.People["bo"] = bo
}

// axe runs the accessibility checker on the current page. `make conformance`
// installs it.
func axe(t *testing.T, ctx context.Context, page string) {
	t.Helper()
	path := os.Getenv("NOD_AXE")
	if path == "" {
		path = "../../../deploy/ci/conformance/node_modules/axe-core/axe.min.js"
	}
	source, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("NOD_AXE") != "" {
			t.Fatal(err)
		}
		return
	}
	drive(t, ctx, "axe", script("(() => {"+string(source)+"})()"))
	drive(t, ctx, "axe runs", script(`(() => { window.found = null; axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => { window.found = JSON.stringify(r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).join("; "))) }) })()`))
	var found string
	await.Until(t, "axe has looked at "+page, func() bool {
		var err error
		if found, err = chromedp.Run(ctx, chromedp.Evaluate[string](`window.found || ""`)); err != nil {
			t.Fatal(err)
		}
		return found != ""
	})
	if found != "[]" {
		t.Errorf("axe on %s: %s", page, found)
	}
}

// TestConsole checks that people can answer in the browser, on a screen and on
// a phone, under the same rules as in chat and while others answer in chat.
func TestConsole(t *testing.T) {
	t.Parallel()
	ctx := newBrowser(t)
	r := rig.New(t, rig.Options{Config: withConsole})
	shows := func(text string) chromedp.Action[chromedp.Void] {
		return browsing.Seen(`//main//*[contains(text(), "` + text + `")]`)
	}
	press := func(label string) chromedp.Action[chromedp.Void] {
		return browsing.Click(`//main//button[contains(., "` + label + `")]`)
	}
	drive(t, ctx, "open", chromedp.Navigate(r.Daemons[0].URL+"/console/"), browsing.Seen("#token"))
	axe(t, ctx, "login")
	drive(t, ctx, "a wrong token is rejected", browsing.Type("#token", "nobody\n"), browsing.Seen(`//p[@role="alert"][contains(., "does not belong to a person")]`))
	drive(t, ctx, "log in", script(`document.getElementById("token").value = ""`), browsing.Type("#token", rig.BoToken+"\n"), shows("No pending requests"))

	a := r.Ask(demo.Scenes()[3].Request)
	drive(t, ctx, "it appears automatically", browsing.Seen(`//a[@class="row"]`))
	axe(t, ctx, "waiting")
	drive(t, ctx, "the keyboard opens it", script(`document.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}))`), script(`document.activeElement.click()`), shows("Timeline"))
	axe(t, ctx, "a card")
	screenshot(t, ctx, "console-card")
	drive(t, ctx, "deny with a reason", press("Deny with a reason"), browsing.Type("textarea[name=wanted]", "not <b>today</b>"), browsing.Click(`//main//div[label]//button`), shows("by bo on api"))
	if got := a.End(); got.State != bridge.StateDenied || got.Response.Reason != "not <b>today</b>" || got.Response.Actor.Person != "bo" {
		t.Errorf("the response is %s %+v, want a denial by bo with its reason", got.State, got.Response)
	}
	a.Closed("bo", "in the console or the API")

	form := r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "New **service**", Questions: []bridge.Question{
		{ID: "name", Widget: bridge.WidgetText, Text: "Its name"},
		{ID: "size", Widget: bridge.WidgetRadio, Text: "Size", Options: []bridge.Option{{Value: "s"}, {Value: "l", Label: "Large"}}},
		{ID: "regions", Widget: bridge.WidgetCheckbox, Text: "Regions", Options: []bridge.Option{{Value: "eu"}, {Value: "us"}}},
		{ID: "replicas", Widget: bridge.WidgetNumber, Text: "Replicas"},
	}}})
	drive(t, ctx, "open the form", chromedp.Navigate(r.Daemons[0].URL+"/console/#/i/"+string(form.Interaction.ID)), shows("Timeline"))
	axe(t, ctx, "a form")
	screenshot(t, ctx, "console-form")
	drive(t, ctx, "missing values are reported", press("Submit"), browsing.Seen(".problem"))
	drive(t, ctx, "the entered text stays", browsing.Type(`input[name="name"]`, "bill"), script(`document.activeElement.blur()`))
	other := r.Ask(samples.Approval())
	r.Press("ana", other.On("slack"), "Deny")
	other.End()
	bridge.Pause(ctx, time.Second) // by then, the page has the event
	typed, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector('input[name="name"]').value`))
	if err != nil || typed != "bill" {
		t.Errorf("the entered text is now %q, %v", typed, err)
	}
	drive(t, ctx, "typing continues", browsing.Type(`input[name="name"]`, "ing"))
	drive(t, ctx, "fill it in", browsing.Click(`input[value="l"]`), browsing.Click(`input[value="eu"]`), browsing.Click(`input[value="us"]`), browsing.Type(`input[name="replicas"]`, "3"), press("Submit"), shows("answered by bo"))
	if got := form.End(); got.Response.Answers["name"].Text != "billing" || got.Response.Answers["size"].Text != "l" || got.Response.Answers["regions"].String() != "eu,us" || got.Response.Answers["replicas"].String() != "3" {
		t.Errorf("the response is %+v, want billing, l, eu and us, 3", got.Response)
	}

	late := r.Ask(samples.Approval())
	drive(t, ctx, "open another", chromedp.Navigate(r.Daemons[0].URL+"/console/#/i/"+string(late.Interaction.ID)), browsing.Seen(`//main//button[contains(., "Run command")]`))
	r.Press("ana", late.On("slack"), "Deny")
	drive(t, ctx, "it closes automatically after an answer in chat", browsing.Gone(`//main//button[contains(., "Run command")]`), shows("denied by ana on slack"))

	drive(t, ctx, "search", chromedp.Navigate(r.Daemons[0].URL+"/console/#/history"), browsing.Seen("input[type=search]"), browsing.Type("input[type=search]", "SERVICE\n"), browsing.Gone(`//a[@class="row"][contains(., "Deploy")]`), browsing.Seen(`//a[@class="row"][contains(., "service")]`))
	axe(t, ctx, "history")
	for page, text := range map[string]string{
		"grants": "No grants", "health": "Health: ok", "audit": "Only auditors", "receipts": "Receipt or record",
	} {
		drive(t, ctx, page, chromedp.Navigate(r.Daemons[0].URL+"/console/#/"+page), shows(text))
		axe(t, ctx, page)
	}
	drive(t, ctx, "a phone", chromedp.EmulateViewport(390, 800), chromedp.Navigate(r.Daemons[0].URL+"/console/#/i/"+string(form.Interaction.ID)), shows("Timeline"))
	wide, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`))
	if err != nil || wide {
		t.Errorf("the page is wider than the screen of a phone: %v", err)
	}
	drive(t, ctx, "log out", browsing.Click("#menu"), browsing.Click("#logout"), browsing.Seen("#token"))
}

// dark applies the rules for dark screens.
const dark = `[...document.styleSheets].flatMap((s) => [...s.cssRules]).filter((r) => r.media?.mediaText.includes("dark")).forEach((r) => (r.media.mediaText = "all"))`

// TestConsoleInbox checks that people work through the inbox: with filters in
// the URL, with the keyboard, and several requests at a time. Nothing is
// approved that the list does not show.
func TestConsoleInbox(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: withConsole})
	base := r.Daemons[0].URL + "/console/"
	ask := func(command string, left time.Duration) rig.Asked {
		a := samples.Approval()
		raw, _ := json.Marshal(map[string]string{"command": command})
		a.Prompt, a.Session, a.Approval.Tool, a.Approval.Input = "Builds the release.", "release-42", "Bash", raw
		a.Timeout = bridge.Duration(left)
		a.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce, bridge.DecideEdit}
		return r.Ask(a)
	}
	long := ask(strings.Repeat("echo line\n", 40), 2*time.Hour)
	three, two, one := ask("make three", time.Hour), ask("make two", 20*time.Minute), ask("make one", 4*time.Minute)
	visible := browsing.Seen
	row := func(text string) string { return `//li[@data-id][.//*[contains(text(), "` + text + `")]]` }
	drive(t, ctx, "log in", chromedp.Navigate(base+"#/inbox?text=make"), visible("#token"), browsing.Type("#token", rig.BoToken+"\n"), visible(row("make one")))
	drive(t, ctx, "the filter of the URL applies", browsing.Gone(row("40-line script")))
	drive(t, ctx, "clear it", browsing.Click(`//main//a[contains(., "Clear filters")]`), visible(row("40-line script")))
	drive(t, ctx, "the script is not shown completely", visible(row("40-line script")+`//button[contains(., "Show all")]`), browsing.Gone(row("40-line script")+`//button[contains(., "Run")]`))
	axe(t, ctx, "inbox")
	screenshot(t, ctx, "console")
	drive(t, ctx, "on a phone", chromedp.EmulateViewport(360, 780))
	screenshot(t, ctx, "console-phone")
	drive(t, ctx, "on a screen", chromedp.EmulateViewport(1500, 950))
	key := func(keys ...string) chromedp.Action[chromedp.Void] {
		js := ""
		for _, k := range keys {
			js += `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "` + k + `", bubbles: true}));`
		}
		return script("(() => {" + js + "})()")
	}
	drive(t, ctx, "help", key("?"), visible(`//dialog[contains(., "Keyboard shortcuts")]`))
	axe(t, ctx, "help")
	drive(t, ctx, "close it", browsing.Click(`//dialog//button`), browsing.Gone(`//dialog`))
	drive(t, ctx, "select two", key("j", "x", "j", "x"), visible(`//div[@class="together"][contains(., "2 selected")]`))
	axe(t, ctx, "selection")
	screenshot(t, ctx, "console-several")
	drive(t, ctx, "approve both", browsing.Click(`//div[@class="together"]//button[contains(., "Approve 2")]`), visible(`//dialog[contains(., "Approve 2 requests?")]`),
		browsing.Click(`//dialog//button[contains(., "Approve 2")]`), browsing.Gone(row("make one")))
	for _, a := range []rig.Asked{one, two} {
		if got := a.End(); got.State != bridge.StateApproved || got.Response.Actor.Person != "bo" {
			t.Errorf("one of two is %s by %+v", got.State, got.Response.Actor)
		}
	}
	drive(t, ctx, "an edit shows its difference", browsing.Click(row("make three")+`//summary`), browsing.Click(row("make three")+`//button[contains(., "Edit")]`),
		script(`(() => { const f = document.querySelector("textarea[name=wanted]"); f.value = f.value.replace("three", "four"); f.dispatchEvent(new Event("input", {bubbles: true})); })()`),
		visible(`//span[@class="del"][contains(., "make three")]`), visible(`//span[@class="add"][contains(., "make four")]`))
	axe(t, ctx, "an edit")
	screenshot(t, ctx, "console-edit")
	drive(t, ctx, "approve it", browsing.Click(row("make three")+`//button[contains(., "Approve the edited input")]`), browsing.Gone(row("make three")+`//textarea[not(@disabled)]`))
	if got := three.End(); string(got.Response.Input) == "" || !strings.Contains(string(got.Response.Input), "make four") {
		t.Errorf("the edited input is %s", got.Response.Input)
	}
	drive(t, ctx, "the script is shown", visible(row("40-line script")), script(`document.querySelector("button.expand").click()`),
		visible(row("40-line script")+`//button[@data-decision="once"]`), script(`document.querySelector("button[data-decision=once]:enabled").click()`))
	if got := long.End(); got.State != bridge.StateApproved {
		t.Errorf("the script is %s", got.State)
	}
	drive(t, ctx, "the session", chromedp.Navigate(base+"#/i/"+string(long.Interaction.ID)), browsing.Click(`//main//a[contains(., "Session release-42")]`), visible(`//h1[contains(., "Session release-42")]`),
		visible(`//a[@class="row"][contains(., "make two")]`))
	drive(t, ctx, "dark, on a small phone", chromedp.EmulateViewport(360, 780), script(dark))
	for _, page := range []string{"inbox", "history", "i/" + string(long.Interaction.ID), "grants", "receipts", "audit", "health"} {
		drive(t, ctx, page, chromedp.Navigate(base+"#/"+page), visible("h1"))
		axe(t, ctx, page+" in the dark")
		if page == "inbox" {
			screenshot(t, ctx, "console-dark")
		}
		wide, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`))
		if err != nil || wide {
			t.Errorf("%s is wider than 360 pixels: %v", page, err)
		}
	}
}

// browserOf sends a request like a browser, with cookies and an origin.
func browserOf(r *rig.Rig, t *testing.T, jar http.CookieJar, method, path, origin string, body any) (int, string) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, r.Daemons[0].URL+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
		req.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	resp, err := (&http.Client{Jar: jar}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}

// TestConsoleIsClosed checks that a session is accepted by the API for people
// only, that it ends with its token, and that a disabled console does not
// answer.
func TestConsoleIsClosed(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Quiet: true, Config: withConsole})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	const waiting = "/console/inbox"
	if status, body := browserOf(r, t, jar, http.MethodGet, "/v1/interactions", "", nil); status != http.StatusUnauthorized {
		t.Errorf("the API without a session: %d %s", status, body)
	}
	token := map[string]string{"token": rig.BoToken}
	if status, body := browserOf(r, t, jar, http.MethodPost, "/console/login", "", token); status != http.StatusOK {
		t.Fatal(status, body)
	}
	if status, body := browserOf(r, t, jar, http.MethodGet, waiting, "", nil); status != http.StatusOK {
		t.Errorf("the session of bo: %d %s", status, body)
	}
	if status, body := browserOf(r, t, jar, http.MethodPost, "/v1/interactions", "", samples.Approval()); status != http.StatusForbidden {
		t.Errorf("a person can send requests: %d %s", status, body)
	}
	const elsewhere = "https://evil.example.com"
	status, body := browserOf(r, t, jar, http.MethodPost, "/v1/interactions", elsewhere, samples.Approval())
	if status != http.StatusUnauthorized {
		t.Errorf("the session from another site: HTTP %d %s, want %d", status, body, http.StatusUnauthorized)
	}
	c := r.Config
	c.People = map[string]config.Person{"ana": c.People["ana"], "bo": {Accounts: map[string]string{"slack": c.People["bo"].Account("slack")}}, "cy": c.People["cy"]}
	was := r.Daemons[0].Engine()
	r.Daemons[0].Apply(c)
	r.Eventually("the config is replaced", func() bool { return r.Daemons[0].Engine() != was })
	if status, _ := browserOf(r, t, jar, http.MethodGet, waiting, "", nil); status != http.StatusUnauthorized {
		t.Errorf("the session of a removed token is accepted: %d", status)
	}
	off := rig.New(t, rig.Options{Quiet: true})
	if status, _ := browserOf(off, t, jar, http.MethodGet, "/console/", "", nil); status != http.StatusNotFound {
		t.Errorf("the disabled console answers %d", status)
	}
}

// provider is an identity provider whose only user is bo.
type provider struct {
	*httptest.Server
	key   *rsa.PrivateKey
	nonce string
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) } // nod may have disconnected
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer(map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	case "/keys":
		answer(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	case "/auth":
		q := r.URL.Query()
		p.nonce = q.Get("nonce")
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=good&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	case "/token":
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: "1"}}, nil)
		if client, secret, _ := r.BasicAuth(); err != nil || client != "nod-console" || secret != "client-secret" {
			http.Error(w, `{"error":"invalid_client"}`, http.StatusBadRequest)
			return
		}
		now := time.Now()
		claims, _ := json.Marshal(map[string]any{"iss": p.URL, "aud": "nod-console", "sub": "1", "exp": now.Add(time.Minute).Unix(),
			"iat": now.Unix(), "nonce": p.nonce, "email": "bo@example.com", "email_verified": true})
		signed, err := signer.Sign(claims)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		id, _ := signed.CompactSerialize()
		answer(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": id})
	default:
		http.NotFound(w, r)
	}
}

// TestConsoleOIDC checks that the config reaches the sign-in with an identity
// provider. Package console checks who is refused.
func TestConsoleOIDC(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: func(c *config.Config) {
		withConsole(c)
		bo := c.People["bo"]
		bo.Email = "Bo@example.com"
		c.People["bo"] = bo
		c.Console.OIDC = config.OIDC{Issuer: p.URL, ClientID: "nod-console", ClientSecret: config.NewSecret("client-secret")}
		c.Console.URL = "http://127.0.0.1" // replaced below, when the port is known
	}})
	c := r.Config
	c.Console.URL = r.Daemons[0].URL
	was := r.Daemons[0].Engine()
	r.Daemons[0].Apply(c)
	r.Eventually("the config is replaced", func() bool { return r.Daemons[0].Engine() != was })
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := browserOf(r, t, jar, http.MethodGet, "/console/oidc", "", nil); status != http.StatusOK {
		t.Fatalf("sign-in: %d %s", status, body)
	}
	if _, got := browserOf(r, t, jar, http.MethodGet, "/console/session", "", nil); !strings.Contains(got, `"person":"bo"`) {
		t.Errorf("the session is %s, want that of bo", got)
	}
}
