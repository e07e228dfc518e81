package daemon_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/coder/websocket"

	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// frontEnd is the example page in a browser, next to an agent that uses the
// formats of other systems.
type frontEnd struct {
	t       *testing.T
	r       *rig.Rig
	ctx     context.Context
	agent   *websocket.Conn
	section string // of the page, for one format
}

// newFrontEnd serves the page from an origin other than that of the daemon.
func newFrontEnd(t *testing.T) frontEnd {
	t.Helper()
	f := frontEnd{t: t, ctx: browser(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "../../../docs/agents/examples/frontend.html")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	f.r = rig.New(t, rig.Options{Config: func(c *config.Config) { c.Origins = []string{server.URL} }})
	daemon := f.r.Daemons[0].URL
	header := http.Header{"Authorization": {"Bearer " + rig.TestAgentToken}}
	//nolint:bodyclose // the library closes the body
	agent, _, err := websocket.Dial(t.Context(), strings.Replace(daemon, "http", "ws", 1)+"/v1/ws", &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	f.agent = agent
	t.Cleanup(func() { agent.CloseNow() })
	drive(t, f.ctx, "open", chromedp.Navigate(server.URL+"/#token="+rig.AnaToken+"&session=s&url="+daemon))
	return f
}

// asks sends a frame of the agent.
func (f frontEnd) asks(frame string) {
	f.t.Helper()
	if err := f.agent.Write(f.ctx, websocket.MessageText, []byte(frame)); err != nil {
		f.t.Fatal(err)
	}
}

// gets checks that the next frame of the agent contains all of words.
func (f frontEnd) gets(words ...string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, await.Limit)
	defer cancel()
	_, b, err := f.agent.Read(ctx)
	if err != nil {
		f.t.Fatalf("%v; want %q; the page shows:\n%s", err, words, f.page())
	}
	for _, w := range words {
		if !strings.Contains(string(b), w) {
			f.t.Errorf("the agent gets %s, want %s", b, w)
		}
	}
}

// page returns the text of the page.
func (f frontEnd) page() string {
	text, err := chromedp.Run(f.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// does runs an action in the browser.
func (f frontEnd) does(what string, actions ...chromedp.Action[chromedp.Void]) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, await.Limit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		f.t.Fatalf("%s: %v; the page shows:\n%s", what, err, f.page())
	}
}

// in returns the page with another section.
func (f frontEnd) in(section string) frontEnd {
	f.section = section
	return f
}

// on returns an XPath inside the card whose text contains a title.
func (f frontEnd) on(title, path string) string {
	return `//section[@id="` + f.section + `"]/*[contains(., "` + title + `")]` + path
}

// click clicks an element where it is now: other cards that close move it.
func (f frontEnd) click(path string) {
	f.t.Helper()
	f.does("click "+path, browsing.Seen(path), script("document.evaluate(`"+path+"`, document, null, 9, null).singleNodeValue.click()"))
}

func (f frontEnd) clicks(title, label string) {
	f.t.Helper()
	f.click(f.on(title, `//button[.="`+label+`"][not(@disabled)]`))
}

func (f frontEnd) ticks(title, label string) {
	f.t.Helper()
	f.click(f.on(title, `//label[contains(., "`+label+`")]/input`))
}

func (f frontEnd) types(title, label, text string) {
	f.t.Helper()
	path := f.on(title, `//label[contains(., "`+label+`")]//*[self::input or self::textarea]`)
	f.does("type "+text+" on "+title, browsing.Type(path, text))
}

func (f frontEnd) shows(title, text string) {
	f.t.Helper()
	f.does(title+" shows "+text, browsing.Seen(f.on(title, `//*[contains(., '`+text+`')]`)))
}

// TestFrontEnd drives the example front end in a browser. It answers requests in
// every format, reads mistakes at their fields, and shows the answers again
// after a reload.
func TestFrontEnd(t *testing.T) {
	t.Parallel()
	f := newFrontEnd(t).in("ask")
	f.asks(`{"type":"ask_request","id":"hub-1","sessionId":"s","payload":{"prompt":"Which option?","widgets":[{"type":"buttons","options":["Option A","Option B"]}]}}`)
	f.clicks("Which option?", "Option B")
	f.gets(`"id":"hub-1"`, `"value":"Option B"`)
	f.asks(`{"type":"ask_request","id":"hub-2","sessionId":"s","payload":{"prompt":"Which parts?","widgets":[{"type":"checkbox","options":["api","web","cron"],"default":"web"}]}}`)
	f.ticks("Which parts?", "cron")
	f.clicks("Which parts?", "Submit")
	f.gets(`"value":"web,cron"`)
	f.asks(`{"type":"ask_request","id":"hub-4","sessionId":"s","timeout":1,"payload":{"prompt":"In time?"}}`)
	f.gets(`"id":"hub-4"`, "No one answered in time")
	f.shows("In time?", "No one answered in time")
	f.does("the controls are disabled", browsing.Seen(f.on("In time?", `[not(.//button[not(@disabled)])]`)))
	f.in("widget").widgets()
	f.in("question").questions()
	f.in("interaction").interactions()
	f.asks(`{"type":"approval_request","id":"hub-3","sessionId":"s","payload":{"tool":"bash","input":{"command":"git push"}}}`)
	f.shows("bash", "git push")
	f.clicks("bash", "Always")
	f.gets(`"approved":true,"always":true`)
	f.r.Eventually("the modal closes", func() bool {
		closed, err := chromedp.Run(f.ctx, chromedp.Evaluate[bool](`document.querySelector("dialog") === null`))
		return closed && err == nil
	})
	f.does("reload", chromedp.Reload())
	f.shows("Which option?", "Option B")
	f.shows("Which parts?", "web,cron")
	f.in("widget").shows("Who comes?", `{"name":"Ana","age":30,"seat":2,"tags":["a","b"]}`)
	f.in("interaction").shows("About you", `submit: {"lang":"Go","ok":true}`)
}

// widgets answers the widgets of an assistant's text.
func (f frontEnd) widgets() {
	f.t.Helper()
	widget := func(w string) { f.t.Helper(); f.asks(`{"type":"widget:request","sessionId":"s","payload":` + w + `}`) }
	widget(`{"widgetId":"w1","type":"form","message":"Who comes?","schema":{"type":"object","title":"Guests","required":["name","age"],"properties":{` +
		`"name":{"type":"string","title":"Name"},"age":{"type":"integer","minimum":18},"seat":{"enum":[1,2]},"tags":{"type":"array","items":{"type":"string"}}}}}`)
	f.types("Who comes?", "age", "17")
	f.clicks("Who comes?", "Submit")
	f.shows("Who comes?", "value.name: Enter an answer; value.age: Enter a whole number, at least 18.")
	f.types("Who comes?", "Name", "Ana")
	f.types("Who comes?", "tags", "a\nb")
	f.does("choose a seat", browsing.Set(f.on("Who comes?", `//label[contains(., "age")]//input`), "30"),
		browsing.Set(f.on("Who comes?", `//label[contains(., "seat")]//select`), "2"))
	f.clicks("Who comes?", "Submit")
	f.gets(`"widget:submit"`, `"value":{"name":"Ana","age":30,"seat":2,"tags":["a","b"]}`)
	widget(`{"widgetId":"w2","type":"selection","message":"Select some","multi":true,"options":[{"value":"a","label":"Apple"},{"value":"b","label":"Banana"}]}`)
	f.ticks("Select some", "Banana")
	f.clicks("Select some", "Submit")
	f.gets(`"value":["b"]`)
	widget(`{"widgetId":"w3","type":"confirmation","message":"Confirm it"}`)
	f.clicks("Confirm it", "Cancel")
	f.gets(`"value":{"confirmed":false}`)
	widget(`{"widgetId":"w4","type":"plan_review","message":"Review it","planContent":"# Plan"}`)
	f.does("feedback", browsing.Type(f.on("Review it", `//textarea`), "more"))
	f.clicks("Review it", "Request changes")
	f.gets(`"value":{"decision":"request_changes","feedback":"more"}`)
	widget(`{"widgetId":"w5","type":"feedback","message":"Comment","items":[{"id":"i1","content":"first"},{"id":"i2","content":"second"}]}`)
	f.types("Comment", "second", "good")
	f.clicks("Comment", "Submit")
	f.gets(`"value":{"i1":"","i2":"good"}`)
	widget(`{"widgetId":"w6","type":"action_selection","message":"What next?","actions":[{"id":"retry","label":"Try again"},{"id":"stop","label":"Give up"}]}`)
	f.ticks("What next?", "Give up")
	f.clicks("What next?", "Continue")
	f.gets(`"value":"stop"`)
}

// questions answers the questions of AskUserQuestion, one of them with a text of
// the person.
func (f frontEnd) questions() {
	f.t.Helper()
	f.asks(`{"type":"can_use_tool","id":"q1","conversation_id":"s","tool_name":"AskUserQuestion","tool_use_id":"toolu_1","input":{"questions":[` +
		`{"question":"Which format?","header":"Format","options":[{"label":"Summary","description":"Brief overview"},{"label":"Detailed"}]},` +
		`{"question":"Which sections?","header":"Sections","multiSelect":true,"options":[{"label":"Introduction"},{"label":"Conclusion"}]}]}}`)
	f.shows("Which format?", "Brief overview")
	f.ticks("Which format?", "Summary")
	f.ticks("Which format?", "Conclusion")
	f.does("Other", browsing.Type(f.on("Which format?", `/label[2]/input`), "an index"))
	f.clicks("Which format?", "Submit")
	f.gets(`"answers":{"Which format?":"Summary","Which sections?":"Conclusion, an index"}`)
}

// interactions answers the requests of a tool.
func (f frontEnd) interactions() {
	f.t.Helper()
	f.asks(`{"type":"interaction_request","id":"i1","sessionId":"s","toolCallId":"c1","toolName":"deploy","interactionType":"approval","prompt":"Deploy now?","approvalScopes":["once","session"]}`)
	f.clicks("Deploy now?", "Approve session")
	f.gets(`"action":"approve","approvalScope":"session"`)
	f.asks(`{"type":"interaction_request","id":"i2","sessionId":"s","toolCallId":"c2","interactionType":"input","prompt":"About you","inputSchema":{"type":"form","fields":[` +
		`{"id":"lang","type":"text","label":"Language","required":true},{"id":"ok","type":"checkbox","label":"Agreed"}]}}`)
	f.types("About you", "Language", "Go")
	f.ticks("About you", "Agreed")
	f.clicks("About you", "Submit")
	f.gets(`"action":"submit"`, `"lang":"Go"`, `"ok":true`)
}
