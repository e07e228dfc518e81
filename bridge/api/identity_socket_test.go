package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// frames has a frame of every format. CONTENT is what the agent asks, ID is its
// ID, SESSION the session, and AS the ID of the caller.
var frames = map[string]string{
	"ask":         `{"type":"ask_request","id":"ID","sessionId":"SESSION","caller":"AS","payload":{"prompt":"CONTENT","widgets":[{"type":"buttons","options":["opt0","opt1"]}]}}`,
	"widget":      `{"type":"widget:request","sessionId":"SESSION","caller":"AS","payload":{"widgetId":"ID","type":"selection","message":"CONTENT","options":[{"value":"opt0","label":"A"},{"value":"opt1","label":"B"}]}}`,
	"block":       "{\"type\":\"assistant_message\",\"id\":\"m\",\"sessionId\":\"SESSION\",\"caller\":\"AS\",\"content\":\"```widget\\n{\\\"widgetId\\\":\\\"ID\\\",\\\"type\\\":\\\"action_selection\\\",\\\"message\\\":\\\"CONTENT\\\",\\\"actions\\\":[{\\\"id\\\":\\\"opt0\\\",\\\"label\\\":\\\"A\\\"},{\\\"id\\\":\\\"opt1\\\",\\\"label\\\":\\\"B\\\"}]}\\n```\"}",
	"question":    `{"type":"can_use_tool","id":"c","conversation_id":"SESSION","caller":"AS","one_at_a_time":false,"cancel_on_disconnect":false,"tool_name":"AskUserQuestion","tool_use_id":"ID","input":{"questions":[{"question":"CONTENT","header":"h","options":[{"label":"opt0"},{"label":"opt1"}]}]}}`,
	"interaction": `{"type":"interaction_request","sessionId":"SESSION","caller":"AS","toolCallId":"ID","interactionType":"input","prompt":"CONTENT","inputSchema":{"type":"form","fields":[{"id":"a","type":"radio","label":"A","options":[{"value":"opt0","label":"A"},{"value":"opt1","label":"B"}]}]}}`,
}

// overSocket is the entry of a frame. Each call has a connection of its own,
// and each request gets a different answer.
type overSocket struct {
	caller
	session, frame string
	waiting        func() int64
	labels         map[string]string // requests by their answers
}

func (o *overSocket) send(id, content, as string) peer {
	o.t.Helper()
	p := peer{o.t, dial(o.t, o.url, "agent")}
	p.say(strings.NewReplacer("CONTENT", content, "SESSION", o.session, "AS", as, "ID", id).Replace(o.frame))
	return p
}

func (o *overSocket) asks(id, content, as string) string {
	o.t.Helper()
	p := o.send(id, content, as)
	p.say(`{"type":"end","id":"end"}`)
	if f := p.hear(`"type"`); !strings.Contains(f, `"id":"end"`) {
		o.t.Fatalf("the call is not open: %s", f)
	}
	if err := p.CloseNow(); err != nil {
		o.t.Fatal(err)
	}
	// Until the daemon knows that the connection is closed, it may send an answer there.
	await.Until(o.t, "no caller waits", func() bool { return o.waiting() == 0 })
	var open []string
	for _, rec := range o.list() {
		raw, err := json.Marshal(rec.Interaction)
		if err != nil {
			o.t.Fatal(err)
		}
		if !rec.State.Final() && rec.Interaction.ToolCall == id && strings.Contains(string(raw), `"`+content+`"`) {
			open = append(open, string(rec.Interaction.ID))
		}
	}
	return strings.Join(open, " and ")
}

func (o *overSocket) list() []bridge.Record {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, o.url+"/v1/interactions?limit=200&session="+o.session, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer agent")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	var page bridge.List
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		o.t.Fatal(err)
	}
	return page.Items
}

func (o *overSocket) gets(id, content, as string) string {
	o.t.Helper()
	f := o.send(id, content, as).hear(`opt`)
	for label, request := range o.labels {
		if _, answer, _ := strings.Cut(f, `"answers"`); strings.Contains(answer, label) {
			return request
		}
		for _, before := range []string{`value":"`, `value\":\"`, `value":["`, `"a":"`} {
			if strings.Contains(f, before+label) {
				return request
			}
		}
	}
	return "another request: " + f
}

func (o *overSocket) answers(request string) {
	o.t.Helper()
	label := []string{"opt0", "opt1"}[len(o.labels)]
	o.labels[label] = request
	all := o.list()
	at := slices.IndexFunc(all, func(r bridge.Record) bool { return string(r.Interaction.ID) == request })
	if at < 0 {
		o.t.Fatalf("%q is not listed", request)
	}
	body := `{"answers":{"` + all[at].Interaction.Questions[0].ID + `":"` + label + `"}}`
	if resp, got := o.do("ana", "/v1/interactions/"+request+"/response", body, ""); resp.StatusCode != http.StatusOK {
		o.t.Fatalf("not answered: %s", got)
	}
}

func (o *overSocket) traits() (ids, callers bool) { return true, true }

// toolsOf serves the MCP tools of an engine. The query says how long a call waits.
func toolsOf(e *rooms.House) api.EntryPoint {
	return func(a bridge.Agent) http.Handler {
		return new(mcp.HTTP).Handler(func(r *http.Request) (mcp.Options, bool) {
			hold, err := time.ParseDuration(r.URL.Query().Get("hold"))
			return mcp.Options{Asker: e.As(a), Session: "mcp", Hold: hold}, err == nil
		})
	}
}

// overMCP is the entry of a tool. A call has no ID that a client repeats, so its
// content identifies it, and no caller ID.
type overMCP struct{ caller }

func (m overMCP) call(hold, content string) (status, id string) {
	m.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"request_approval","arguments":{"action":"Run it","command":"` + content + `"}}}`
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.url+"/tools/mcp?hold="+hold, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer agent", "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-11-25"} {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	text := string(raw)
	if _, data, ok := strings.Cut(text, "data: "); ok {
		text = data
	}
	var reply struct {
		Result struct{ Content []struct{ Text string } }
	}
	var result struct{ Status, ID string }
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &reply) != nil || len(reply.Result.Content) != 1 ||
		json.Unmarshal([]byte(reply.Result.Content[0].Text), &result) != nil {
		m.t.Fatalf("%s: %s", resp.Status, raw)
	}
	return result.Status, result.ID
}

func (m overMCP) asks(_, content, _ string) string {
	m.t.Helper()
	status, id := m.call("10ms", content)
	if status != "pending" {
		m.t.Fatalf("%s of %s, although nothing is open", status, id)
	}
	return id
}

func (m overMCP) gets(_, content, _ string) string {
	m.t.Helper()
	status, id := m.call("20s", content)
	if status != "approved" {
		m.t.Fatalf("%s of %s", status, id)
	}
	return id
}

func (m overMCP) answers(request string) {
	m.t.Helper()
	if resp, got := m.do("ana", "/v1/interactions/"+request+"/response", `{"decision":"once"}`, ""); resp.StatusCode != http.StatusOK {
		m.t.Fatalf("not answered: %s", got)
	}
}

func (m overMCP) traits() (ids, callers bool) { return false, false }
