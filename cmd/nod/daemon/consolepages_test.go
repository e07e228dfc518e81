package daemon_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/browsing"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// consolePages lists the pages of the console, by what a page shows.
var consolePages = []struct{ title, path string }{
	{"Inbox", "inbox"}, {"Inbox, filtered", "inbox?text=make&agent=tester"}, {"One request", "i/ID"}, {"Sessions", "sessions"}, {"History", "history"},
	{"Grants", "grants"}, {"Audit log", "audit"}, {"Receipts", "receipts"}, {"Passkeys", "passkeys"},
	{"Health", "health"},
}

// shot is a picture of a page with its title.
type shot struct {
	title string
	png   []byte
}

// TestPicturesOfConsole looks at every page of the console, in light and dark,
// on a screen and on a phone. No page is wider than the screen, and axe finds
// no accessibility problem. With NOD_SCREENSHOTS, it keeps the pictures as
// sheets.
func TestPicturesOfConsole(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		withPasskeys(c)
		bo := c.People["bo"]
		bo.Auditor = true
		c.People["bo"] = bo
	}})
	id := fillConsole(r)
	base := strings.Replace(r.Daemons[0].URL, "127.0.0.1", "localhost", 1) + "/console/" // browsers offer passkeys there
	drive(t, ctx, "log in", chromedp.Navigate(base), browsing.Seen("#token"), browsing.Type("#token", rig.BoToken+"\n"), browsing.Gone("#token"))
	for _, mode := range []struct {
		name          string
		width, height int64
		dark          bool
		columns       int
	}{{"light", 1180, 820, false, 3}, {"dark", 1180, 820, true, 3}, {"phone", 360, 780, false, 5}, {"phone-dark", 360, 780, true, 5}} {
		var shots []shot
		drive(t, ctx, mode.name, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(mode.width, mode.height), chromedp.Navigate(base), browsing.Seen("#main h1"))
		if mode.dark {
			drive(t, ctx, "dark", script(dark))
		}
		for _, p := range consolePages {
			path := strings.Replace(p.path, "ID", string(id), 1)
			drive(t, ctx, p.title, script(`document.getElementById("main").replaceChildren()`), script(fmt.Sprintf("location.hash = %q", "#/"+path)), browsing.Seen(`//*[@id="main"]//h1[not(contains(., "went wrong"))] | //*[@id="main"]//*[contains(@class, "card")]`))
			wide, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`))
			if err != nil || wide {
				t.Errorf("%s (%s) is wider than %d pixels: %v", p.title, mode.name, mode.width, err)
			}
			axe(t, ctx, p.title+", "+mode.name)
			png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			shots = append(shots, shot{p.title, png})
		}
		if dir := os.Getenv("NOD_SCREENSHOTS"); dir != "" {
			consoleSheet(t, filepath.Join(dir, "console-pages-"+mode.name+".png"), int(mode.width), mode.columns, shots)
		}
	}
}

// fillConsole gives every page something to show, and returns the ID of a
// pending request.
func fillConsole(r *rig.Rig) bridge.ID {
	r.T.Helper()
	ask := func(command, prompt string, left time.Duration) rig.Asked {
		a := samples.Approval()
		raw, _ := json.Marshal(map[string]string{"command": command}) // texts always encode
		a.Prompt, a.Session, a.Approval.Tool, a.Approval.Input, a.Approval.Where = prompt, "release-42", "Bash", raw, "build-7:/srv/shop"
		a.Approval.Scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}
		a.Timeout = bridge.Duration(left)
		return r.Ask(a)
	}
	if _, err := r.Agent.Report(r.Ctx, "release-42", bridge.SessionReport{
		State: bridge.SessionWorking, Title: "Release 42", Host: "build-7", Folder: "/srv/shop", Branch: "main", Step: "Bash: make release",
	}); err != nil {
		r.T.Fatal(err)
	}
	granted := ask("make test", "Runs the tests first.", time.Hour)
	r.Decide("ana", granted.On("slack"), render.LabelSession)
	granted.End()
	denied := ask("git push --force", "Replaces the branch.", time.Hour)
	r.Press("ana", denied.On("slack"), "Deny")
	denied.End()
	ask("make release", "Builds the release.", 4*time.Minute)
	ask("make deploy REGION=eu", "Deploys to Europe.", 20*time.Minute)
	ask(strings.Repeat("echo one more line\n", 40), "Prints a report.", 2*time.Hour)
	return ask("kubectl delete pod api-7f", "The pod hangs.", time.Hour).Interaction.ID
}

// consoleSheet lays pictures out on one sheet at half of their size on a screen,
// and at their full size on a phone.
func consoleSheet(t *testing.T, path string, width, columns int, shots []shot) {
	t.Helper()
	if width > 600 {
		width /= 2
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html><style>body{margin:0;background:#8a8f98;display:grid;grid-template-columns:repeat(%d,%dpx);gap:14px;padding:14px;width:max-content}figure{margin:0}figcaption{background:#23262e;color:#fff;font:600 13px/1.4 system-ui;padding:5px 12px}img{display:block;width:100%%}</style>`, columns, width)
	for _, s := range shots {
		fmt.Fprintf(&b, `<figure><figcaption>%s</figcaption><img src="data:image/png;base64,%s"></figure>`, s.title, base64.StdEncoding.EncodeToString(s.png))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(b.String())) // the browser may be gone
	}))
	defer server.Close()
	ctx := browser(t)
	drive(t, ctx, "lay out", chromedp.EmulateViewport(int64(columns*(width+14)+14), 800), chromedp.Navigate(server.URL))
	height, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`document.documentElement.scrollHeight`))
	if err != nil {
		t.Fatal(err)
	}
	drive(t, ctx, "resize", chromedp.EmulateViewport(int64(columns*(width+14)+14), int64(height)))
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, compact(t, png), 0o644); err != nil {
		t.Fatal(err)
	}
}
