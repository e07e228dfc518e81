package daemon_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// fault is a fault that a server in front of the daemon injects.
type fault string

const (
	badGateway fault = "502"     // the call does not reach the daemon
	cut        fault = "cut"     // the daemon acts, and its answer is lost
	login      fault = "login"   // another page answers with 200
	silent     fault = "silent"  // the connection is open, and nothing comes
	upgraded   fault = "newer"   // the daemon has other pages
	killed     fault = "killed"  // the daemon is killed before it acts, and starts again
	killedLate fault = "late"    // the daemon acts and is killed, and starts again
	firstOnly  fault = " (once)" // suffix of a fault of only one request
)

// between is a server between the browser and the daemon.
type between struct {
	*httptest.Server
	mu     sync.Mutex
	faults map[string]fault // by method and path prefix
	open   []context.CancelFunc
	events int    // streams that are open
	kill   func() // kills the daemon, and starts it again
	hit    string // the prefix of the last request with a fault
}

// inFront starts a server between the browser and the daemon of a config.
func inFront(t *testing.T) (*between, func(*config.Config)) {
	t.Helper()
	b, to := inFrontOf(t)
	return b, func(c *config.Config) {
		withStepUp(c)
		r := c.Routes["default"]
		r.StepUp = ""
		c.Routes["default"] = r
		to("http://" + c.Listen)
		c.Console.URL = b.address()
	}
}

// address returns the URL of the console, at which passkeys work.
func (b *between) address() string { return strings.Replace(b.URL, "127.0.0.1", "localhost", 1) }

// inFrontOf starts a server between the browser and the daemon at a URL that is
// set later.
func inFrontOf(t *testing.T) (_ *between, to func(daemon string)) {
	t.Helper()
	b := &between{faults: map[string]fault{}}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.serve(proxy, w, r) }))
	t.Cleanup(func() { b.CloseClientConnections(); b.Close() })
	return b, func(daemon string) {
		target, err := url.Parse(daemon)
		if err != nil {
			t.Fatal(err)
		}
		proxy.Rewrite = func(p *httputil.ProxyRequest) { p.SetURL(target); p.Out.Host = p.In.Host }
	}
}

func (b *between) serve(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	b.mu.Lock()
	b.open = append(b.open, cancel)
	var f fault
	for prefix, x := range b.faults {
		if strings.HasPrefix(r.Method+" "+r.URL.Path+"$", prefix) {
			if f = x; strings.HasSuffix(string(x), string(firstOnly)) {
				delete(b.faults, prefix)
			}
			b.hit = prefix
		}
	}
	b.mu.Unlock()
	if r.URL.Path == "/v1/events" {
		b.stream(1)
		defer b.stream(-1)
	}
	switch fault(strings.TrimSuffix(string(f), string(firstOnly))) {
	case badGateway:
		http.Error(w, "<html>Bad gateway", http.StatusBadGateway)
	case login:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Sign in")) // the browser may be gone
	case silent:
		<-ctx.Done()
	case upgraded:
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, r.WithContext(ctx))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(strings.Replace(answer.Body.String(), `"version":"`, `"version":"newer `, 1)))
	case killed:
		b.kill()
		panic(http.ErrAbortHandler)
	case killedLate:
		proxy.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		b.kill()
		panic(http.ErrAbortHandler)
	case cut:
		proxy.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		panic(http.ErrAbortHandler)
	default:
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}
}

func (b *between) stream(change int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events += change
}

// streams returns the number of streams of events that are open.
func (b *between) streams() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.events
}

// last returns the prefix of the last request with a fault.
func (b *between) last() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hit
}

// does sets the fault of the requests whose method and path have a prefix.
func (b *between) does(f fault, prefixes ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.faults)
	b.hit = ""
	for _, p := range prefixes {
		b.faults[p] = f
	}
}

// breaks ends every open connection.
func (b *between) breaks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, cancel := range b.open {
		cancel()
	}
	b.open = nil
}

var (
	isLive  = browsing.Seen(`//*[@id="live"][contains(., "Live")]`)
	isStale = browsing.Seen(`//*[@id="live"][contains(., "Connecting")]`)
)

// until waits until the page says that a condition is true.
func until(condition string) browsing.Action {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		for bridge.Pause(ctx, 20*time.Millisecond) { // a hidden page draws no frames, on which Poll waits
			if ok, _ := chromedp.Evaluate[bool]("Boolean("+condition+")")(ctx, t); ok { // an error: the page may just be loading
				return chromedp.Void{}, nil
			}
		}
		return chromedp.Void{}, fmt.Errorf("%s: %w", condition, ctx.Err())
	}
}

func signIn(base string) []browsing.Action {
	return []browsing.Action{chromedp.Navigate(base), browsing.Type("#token", rig.BoToken+"\n"), browsing.Gone("#token"), isLive}
}

// TestConsoleReconnects checks that a page is live only while it is up to date,
// and becomes so again after every fault, with what happened in the meantime.
func TestConsoleReconnects(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	front, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: through})
	base := r.Config.Console.URL + "/console/"
	drive(t, ctx, "sign in", signIn(base)...)
	const all, events = "", "GET /v1/events"
	for name, c := range map[string]struct {
		fault fault
		of    string
	}{
		"a daemon that restarts": {badGateway, all}, "a stream that cannot be opened": {badGateway, events},
		"a stream that ends at once": {cut, events}, "another page": {login, all}, "a stream without events": {silent, events},
	} {
		front.does(c.fault, c.of)
		front.breaks()
		drive(t, ctx, name, isStale)
		a := samples.Approval()
		a.Prompt = "During " + name
		asked := r.Ask(a)
		row := `//li[@data-id="` + string(asked.Interaction.ID) + `"]`
		if c.of == events { // the page asks without the stream
			drive(t, ctx, name+": it is shown", browsing.Seen(row))
		}
		front.does("")
		front.breaks()
		drive(t, ctx, name+" is over", isLive, browsing.Seen(row))
		r.Press("ana", asked.On("slack"), "Deny")
		drive(t, ctx, name+": it goes", browsing.Gone(row+`[not(contains(@class, "closed"))]`))
	}
}

// TestConsoleTabs checks that any number of tabs load, although a browser has six
// connections to a host, that they have one stream together, and that another tab
// takes it over.
func TestConsoleTabs(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	front, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: through})
	base := r.Config.Console.URL + "/console/"
	drive(t, ctx, "sign in", signIn(base)...)
	drive(t, ctx, "open the others", script(`window.tabs = Array.from({length: 7}, () => window.open(location.href, "_blank"))`),
		until(`window.tabs.every((w) => w.document.querySelector("h1")?.textContent === "Inbox")`))
	drive(t, ctx, "one of them is live", until(`[window, ...window.tabs].some((w) => w.document.getElementById("live").textContent.includes("Live"))`))
	asked := r.Ask(samples.Approval())
	drive(t, ctx, "it shows a request", until(`[window, ...window.tabs].some((w) => w.document.querySelector("a.row"))`))
	if n := front.streams(); n != 1 {
		t.Errorf("%d streams are open", n)
	}
	drive(t, ctx, "the others close", script(`window.tabs.forEach((w) => w.close())`), isLive, browsing.Seen(`//a[@class="row"]`))
	r.Press("ana", asked.On("slack"), "Deny")
	drive(t, ctx, "it is live", browsing.Gone(`//li[@data-id][not(contains(@class, "closed"))]`), isLive)
}

// TestConsoleKeepsText checks that what a person typed survives the end of the
// session, an event, a failure and a reload, until it is recorded.
func TestConsoleKeepsText(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	front, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: through})
	form := r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "New service", Questions: []bridge.Question{
		{ID: "name", Text: "Name", Widget: bridge.WidgetText}, {ID: "why", Text: "Reason", Widget: bridge.WidgetTextarea},
		{ID: "size", Text: "Size", Widget: bridge.WidgetRadio, Options: []bridge.Option{{Value: "s"}, {Value: "l"}}, AllowOther: true},
	}}})
	card := "#/i/" + string(form.Interaction.ID)
	drive(t, ctx, "sign in", signIn(r.Config.Console.URL+"/console/"+card)...)
	drive(t, ctx, "fill it in", browsing.Type(`input[name="name"]`, "billing"), browsing.Type(`textarea[name="why"]`, "because"), browsing.Click(`input[value="l"]`))
	kept := func(when string) {
		t.Helper()
		drive(t, ctx, when, browsing.Seen(`textarea[name="why"]`))
		holds(t, ctx, when, `document.querySelector("input[name=name]").value === "billing" && document.querySelector("textarea[name=why]").value === "because" &&
			document.querySelector("input[value=l]").checked`)
	}
	submit := browsing.Click(`//main//button[contains(., "Submit")]`)
	again := []browsing.Action{browsing.Seen("dialog #token")}

	drive(t, ctx, "the session ends", script(`fetch("/console/logout", {method: "POST"})`), submit)
	drive(t, ctx, "sign in again", again...)
	kept("while the session has ended")
	r.Ask(samples.Approval())
	drive(t, ctx, "sign in again", browsing.Type("dialog #token", " "+rig.BoToken+"\n"), browsing.Gone("dialog"), isLive)
	kept("after a new sign-in")
	front.does(badGateway, "")
	drive(t, ctx, "no answer", submit, browsing.Seen(`//div[@id="said"][contains(., "unknown whether")]`))
	kept("after a failure")
	front.does("")
	drive(t, ctx, "reload", chromedp.Reload(), isLive)
	kept("after a reload")
	front.does(cut+firstOnly, "POST /console/cards/")
	drive(t, ctx, "submit", submit, onPage("answered by bo"))
	if got := form.End(); got.Response.Answers["name"].Text != "billing" || got.Response.Answers["why"].Text != "because" || got.Response.Answers["size"].Text != "l" {
		t.Errorf("the response is %+v", got.Response)
	}

	other := r.Ask(samples.Approval())
	drive(t, ctx, "a reason", script(`location.hash = "#/i/`+string(other.Interaction.ID)+`"`), browsing.Click(`//main//button[contains(., "Deny with a reason")]`),
		browsing.Type("textarea[name=wanted]", "not today"), chromedp.Reload(), browsing.Seen("textarea[name=wanted]"))
	holds(t, ctx, "the reason after a reload", `document.querySelector("textarea[name=wanted]").value === "not today"`)
	text := `input[name=text][type=search]`
	drive(t, ctx, "a filter", script(`location.hash = "#/history?who="`), browsing.Type(text, "billing"), chromedp.Reload(), browsing.Seen(text))
	holds(t, ctx, "the filter after a reload", `document.querySelector("`+text+`").value === "billing"`)
	drive(t, ctx, "it is applied", browsing.Type(text, "\n"), until(`location.hash === "#/history?text=billing"`), browsing.Seen(text),
		script(`location.hash = "#/history"`), until(`document.querySelector("`+text+`")?.value === ""`), script(`location.hash = "#/i/`+string(other.Interaction.ID)+`"`))
	r.Press("ana", other.On("slack"), "Deny")
	drive(t, ctx, "someone else decides", browsing.Seen(`//summary[contains(., "it was not sent")]`))
}

// TestSignAgain checks that a person whose answer was lost learns what is
// recorded: from the page itself, and after a reload.
func TestSignAgain(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	front, through := inFront(t)
	r := rig.New(t, rig.Options{Quiet: true, Config: func(c *config.Config) {
		through(c)
		route := c.Routes["default"]
		route.StepUp = "passkey"
		c.Routes["default"] = route
	}})
	authenticator(t, ctx)
	enrolled(t, ctx, r)
	done := browsing.Seen(`//p[@id="done"][contains(., "approved once")]`)
	for _, f := range []fault{cut + firstOnly, badGateway + firstOnly, cut} {
		asked := r.Ask(samples.Approval(bridge.ScopeOnce))
		seen := linkFor(r, "ana", "slack")
		r.Approve("ana", asked.On("slack"))
		link := linked(r, "slack", seen)
		front.does(f, "POST /sign/")
		drive(t, ctx, "sign", chromedp.Navigate(link), browsing.Click("#passkey"))
		if f == cut {
			drive(t, ctx, "no answer", browsing.Seen(`//p[@id="problem"][contains(., "Reload this page")]`), chromedp.Reload())
		}
		drive(t, ctx, string(f), done)
		front.does("")
		if got := asked.End(); got.State != bridge.StateApproved || got.Response.Assurance != bridge.AssurancePasskey {
			t.Errorf("%s: %s %+v", f, got.State, got.Response)
		}
		drive(t, ctx, "the link again", chromedp.Navigate("about:blank"), chromedp.Navigate(link), done)
	}
}
