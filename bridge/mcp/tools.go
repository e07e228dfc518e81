package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/timespan"
)

type askInput struct {
	Question   string   `json:"question" jsonschema:"The question, in Markdown. Say what you want to know and why: people do not see your conversation."`
	Options    []option `json:"options,omitempty" jsonschema:"Answers to choose from. If empty, people type an answer."`
	Multiple   bool     `json:"multiple,omitempty" jsonschema:"Whether several options can be chosen."`
	AllowOther bool     `json:"allow_other,omitempty" jsonschema:"Whether people may type an answer instead of choosing an option."`
	Timeout    string   `json:"timeout,omitempty" jsonschema:"How long people have to respond, such as 10m or 8h. The default is 1h."`
}

type option struct {
	Value       string `json:"value" jsonschema:"The answer that you get if people choose this option."`
	Description string `json:"description,omitempty" jsonschema:"What choosing this option means, in one sentence."`
}

type approvalInput struct {
	Action  string         `json:"action" jsonschema:"What you want to do and why, in Markdown. People do not see your conversation."`
	Command string         `json:"command,omitempty" jsonschema:"If you will run a shell command, the exact command. Run only what was approved."`
	Tool    string         `json:"tool,omitempty" jsonschema:"If you will use another tool, its name."`
	Input   map[string]any `json:"input,omitempty" jsonschema:"The exact input of that tool."`
	Timeout string         `json:"timeout,omitempty" jsonschema:"How long people have to respond, such as 10m or 8h. The default is 1h."`
}

type notifyInput struct {
	Message string `json:"message" jsonschema:"The message, in Markdown."`
}

type checkInput struct {
	ID string `json:"id" jsonschema:"The id from an earlier answer with status pending."`
}

// result is the result of every tool.
type result struct {
	Status string `json:"status" jsonschema:"answered, approved, denied, shown, or why there is no answer: pending, expired, cancelled, undeliverable"`
	ID     string `json:"id"`
	// Answer is a string or a list of strings.
	Answer any             `json:"answer,omitempty" jsonschema:"the answer: a string, or a list if several options could be chosen"`
	Reason string          `json:"reason,omitempty" jsonschema:"the reason for a denial, or why there is no answer"`
	Input  json.RawMessage `json:"input,omitempty" jsonschema:"the input to use, if a person changed it before approving"`
	By     string          `json:"by,omitempty" jsonschema:"who decided"`
	Hint   string          `json:"hint,omitempty" jsonschema:"what to do next"`
}

func (s *server) addTools(m *mcp.Server) {
	yes, no := true, false
	mcp.AddTool(m, &mcp.Tool{
		Name: "ask_human", Title: "Ask a person",
		Description: "Ask the people of the team a question in their chat and wait for the answer. Offer options if you can, " +
			"because choosing is easier than typing. The answer may take a while. If the status is pending, continue " +
			"with something else and call check with the id later.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &yes, DestructiveHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest, in askInput) (*mcp.CallToolResult, any, error) {
		r, err := in.request()
		return s.at(ctx).call(ctx, req, r, err)
	})
	mcp.AddTool(m, &mcp.Tool{
		Name: "request_approval", Title: "Ask for permission",
		Description: "Ask the people of the team for permission before you do something destructive, costly or hard to undo. " +
			"Show the exact action that you plan. Only if the status is approved, perform exactly the approved action, " +
			"once. If the result has an input, a person changed it, and only that input is approved. Denied, expired " +
			"and every other status means no.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &yes, DestructiveHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest, in approvalInput) (*mcp.CallToolResult, any, error) {
		s := s.at(ctx)
		r, err := in.request(req.Params.Arguments, s.Scoped)
		return s.call(ctx, req, r, err)
	})
	mcp.AddTool(m, &mcp.Tool{
		Name: "notify", Title: "Notify people",
		Description: "Send a message to the people of the team in their chat. It does not ask anything, and returns once the " +
			"message is shown. Use it sparingly.",
		Annotations: &mcp.ToolAnnotations{OpenWorldHint: &yes, DestructiveHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest, in notifyInput) (*mcp.CallToolResult, any, error) {
		return s.at(ctx).call(ctx, req, bridge.Request{Ask: bridge.Ask{Kind: bridge.KindNotice, Prompt: in.Message}}, nil)
	})
	mcp.AddTool(m, &mcp.Tool{
		Name: "check", Title: "Check for an answer",
		Description: "Check whether an earlier request with status pending has been answered. The call waits briefly. If the " +
			"status is still pending, do something else before you call check again.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &yes, DestructiveHint: &no},
	}, func(ctx context.Context, req *mcp.CallToolRequest, in checkInput) (*mcp.CallToolResult, any, error) {
		id, err := bridge.ParseID(in.ID)
		if err != nil {
			return failed(err)
		}
		s := s.at(ctx)
		ctx, stop := s.joined(ctx)
		defer stop()
		return s.finish(ctx, req, s.held.hold(id), "")
	})
}

func patience(timeout string) (bridge.Duration, error) {
	if timeout == "" {
		return bridge.Duration(defaultTimeout), nil
	}
	d, err := timespan.Parse(timeout)
	if err != nil {
		return 0, bridge.Errorf(bridge.CodeInvalid, "timeout: invalid duration %q (such as 10m or 8h)", timeout)
	}
	return bridge.Duration(d), nil
}

func (in askInput) request() (bridge.Request, error) {
	timeout, err := patience(in.Timeout)
	q := bridge.Question{ID: "answer", Widget: bridge.WidgetTextarea, AllowOther: in.AllowOther}
	for _, o := range in.Options {
		q.Options = append(q.Options, bridge.Option{Value: o.Value, Description: o.Description})
	}
	switch {
	case len(q.Options) == 0:
		q.AllowOther = false
	case in.Multiple:
		q.Widget = bridge.WidgetCheckbox
	case len(q.Options) <= 5:
		q.Widget = bridge.WidgetButtons
	default:
		q.Widget = bridge.WidgetRadio
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: in.Question, ToolName: "ask_human", Timeout: timeout, Questions: []bridge.Question{q},
	}}, err
}

// request returns the request for the arguments of a call.
func (in approvalInput) request(arguments json.RawMessage, scoped bool) (bridge.Request, error) {
	timeout, err := patience(in.Timeout)
	if err != nil {
		return bridge.Request{}, err
	}
	a := &bridge.Approval{Tool: in.Tool, Decisions: []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce}}
	switch {
	case in.Command != "" && len(in.Input) > 0:
		return bridge.Request{}, bridge.Errorf(bridge.CodeInvalid, "command: not allowed together with input").
			WithHint("send a separate request for each")
	case in.Command != "":
		if a.Tool == "" {
			a.Tool = "shell"
		}
		a.Input, err = dialect.Encode(map[string]string{"command": in.Command})
	case len(in.Input) > 0:
		var sent struct {
			Input json.RawMessage `json:"input"`
		}
		err = dialect.Decode("arguments", arguments, &sent) // numbers keep their spelling
		a.Input = sent.Input
	}
	if len(a.Input) > 0 {
		a.Decisions = append(a.Decisions, bridge.DecideEdit)
		if scoped { // a session approval covers an exact input
			a.Decisions = append(a.Decisions, bridge.DecideSession)
		}
	}
	return bridge.Request{Ask: bridge.Ask{
		Kind: bridge.KindApproval, Prompt: in.Action, Timeout: timeout, Approval: a,
	}}, err
}

// open sends a request, or finds the same request again: a pending one, or one
// whose answer this client never received because it stopped waiting. A call has
// no ID that a client repeats, so its content identifies it. Many clients do not say
// that they have stopped waiting, so the call replaces an earlier one that waits for
// the request: one approval is for one call.
func (s *server) open(ctx context.Context, r bridge.Request, replaced func()) (*holding, error) {
	r.Session, r.Route, r.CallID.ID = s.Session, s.Route, dialect.CallID("mcp", "content")
	for {
		rec, err := openToEnd(ctx, s.Asker, r)
		if err != nil {
			return nil, err
		}
		if h := s.held.take(rec.Interaction.ID, replaced); h != nil {
			return h, nil
		}
	}
}

// call sends a request and returns the tool's result. In protocol version
// 2026-07-28, a retry carries the state of the previous call, which names its
// request.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest, r bridge.Request, err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return failed(err)
	}
	ctx, stop := s.joined(ctx)
	defer stop()
	mark := callMark(req)
	if state := req.Params.RequestState; state != "" {
		was, err := parseState(state)
		if err != nil || was.mark != mark {
			return failed(bridge.Errorf(bridge.CodeInvalid, "requestState: belongs to another call"))
		}
		return s.finish(ctx, req, s.held.hold(was.id), was.next())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h, err := s.open(ctx, r, cancel)
	if err != nil {
		return failed(err)
	}
	return s.finish(ctx, req, h, callState{id: h.id, mark: mark, round: 1}.String())
}

// finish waits for a request that the call holds, and returns the tool's result.
// With a state, clients of protocol version 2026-07-28 can retry on their own.
func (s *server) finish(ctx context.Context, req *mcp.CallToolRequest, h *holding, state string) (*mcp.CallToolResult, any, error) {
	id := h.id
	rec, over, err := s.wait(ctx, req, id)
	last, replaced := h.release(over && err == nil && rec.State.Final())
	gone := err != nil && ctx.Err() != nil
	if gone && last {
		withdraw(s.hangup, s.Asker, id)
	}
	switch {
	case replaced:
		out, err := text(result{Status: "pending", ID: string(id), Hint: "An identical call has replaced this one, and gets the answer. Do nothing because of this call."})
		return out, nil, err
	case over && err != nil && !gone && bridge.ErrorCode(err) != bridge.CodeUnavailable:
		return failed(err)
	case !over && !gone && state != "" && retries(req):
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}, RequestState: state}, nil, nil
	// the client may have gone, or the daemon may restart, so the request stays
	// open
	case err != nil || !over || !rec.State.Final():
		out, err := text(result{Status: "pending", ID: string(id), Hint: "No one has answered yet. Continue with something else, and call check with this id later."})
		return out, nil, err
	}
	out, err := text(resultOf(rec))
	return out, nil, err
}

// retries reports whether the client accepts a result that asks it to call
// again.
func retries(req *mcp.CallToolRequest) bool {
	p := req.Session.InitializeParams()
	return p != nil && p.ProtocolVersion >= "2026-07-28"
}

// failed returns an error as a tool result, which the model can read and act
// on.
func failed(err error) (*mcp.CallToolResult, any, error) {
	e := bridge.PublicError(err)
	message := e.Message
	if e.Hint != "" {
		message += " (" + e.Hint + ")"
	}
	r := &mcp.CallToolResult{}
	r.SetError(fmt.Errorf("%s: %s", e.Code, message))
	return r, nil, nil
}

func resultOf(r bridge.Record) result {
	out := result{Status: string(r.State), ID: string(r.Interaction.ID)}
	resp := r.Response
	if resp == nil {
		return out
	}
	if resp.Actor != nil {
		out.By = resp.Actor.Display()
	}
	out.Reason = resp.Reason
	switch r.State {
	case bridge.StateAnswered:
		if r.Interaction.Kind == bridge.KindNotice {
			out.Status = "shown"
			return out
		}
		for _, q := range r.Interaction.Questions {
			a := resp.Answers[q.ID]
			out.Answer = a.Text
			if q.Multiple() {
				out.Answer = a.Values()
			}
		}
	case bridge.StateApproved:
		out.Input = resp.Input
		out.Hint = "Do exactly what was approved, once."
		if resp.Scope == bridge.ScopeSession {
			out.Hint = "Approved for this session: you do not need to ask for exactly this again."
		}
		if len(resp.Input) > 0 {
			out.Hint = "A person changed the input. Do exactly that, once, and nothing else."
		}
	case bridge.StateDenied:
		out.Hint = "Do not do it."
	default:
		out.Hint = dialect.WhyNot(r) + " This is neither an approval nor a denial."
	}
	return out
}

// callMark returns a hash of the tool and arguments of a call.
func callMark(req *mcp.CallToolRequest) string {
	sum := sha256.Sum256(append([]byte(req.Params.Name+"\x00"), req.Params.Arguments...))
	return hex.EncodeToString(sum[:8])
}

// callState is the state that a retry returns. It is untrusted: the agent can
// only read its own requests.
type callState struct {
	id    bridge.ID
	mark  string // digest of the call
	round int
}

// maxRounds limits how often a client is asked to call again, because common
// clients consider a server broken that never completes a call.
const maxRounds = 2

func (c callState) String() string { return fmt.Sprintf("%s.%s.%d", c.id, c.mark, c.round) }

// next returns the state for the next retry, or an empty string after the last
// one.
func (c callState) next() string {
	if c.round >= maxRounds {
		return ""
	}
	c.round++
	return c.String()
}

func parseState(s string) (callState, error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return callState{}, bridge.Errorf(bridge.CodeInvalid, "requestState: not created by nod")
	}
	id, err := bridge.ParseID(parts[0])
	if err != nil {
		return callState{}, err
	}
	n, err := strconv.Atoi(parts[2])
	return callState{id: id, mark: parts[1], round: n}, err
}
