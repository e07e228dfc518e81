// A model for the real Codex that makes one tool call.
import { once } from "node:events";
import { createServer } from "node:http";

// command is a tool call that runs a command outside the sandbox.
const command = (cmd) => ({
  type: "function_call", call_id: "c1", name: "exec_command",
  arguments: JSON.stringify({ cmd, sandbox_permissions: "require_escalated", justification: "to make it" }),
});

// patch is a tool call that adds a file. Codex recognizes the command.
export const patch = (path, line) => ({
  type: "function_call", call_id: "c1", name: "exec_command",
  arguments: JSON.stringify({ cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+${line}\n*** End Patch\nEOF\n` }),
});

// model serves the Responses API. It makes a tool call, or runs a command, on
// every request, and finishes when that has an output or nod passes on a message.
// Of a list of commands, it runs one after the other. asked has the text of each
// request, and reviewed that of each review, which allows everything.
export async function model(call) {
  const asked = [];
  const reviewed = [];
  const server = createServer(async (req, res) => {
    let text = "";
    for await (const part of req) text += part;
    const body = text ? JSON.parse(text) : {};
    const last = JSON.stringify((body.input ?? []).slice(-1));
    const events = [{ type: "response.created", response: { id: "r" } }];
    const review = req.headers["x-openai-subagent"] === "guardian";
    (review ? reviewed : asked).push(text);
    const done = (body.input ?? []).filter((i) => i.type === "function_call_output").length;
    if (review) {
      events.push({ type: "response.output_item.done", item: { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: '{"outcome":"allow"}' }] } });
    } else if (Array.isArray(call) && done < call.length) {
      events.push({ type: "response.output_item.done", item: { ...command(call[done]), call_id: `c${done}` } });
    } else if (last.includes("function_call_output") || last.includes("ana wrote at")) {
      events.push({ type: "response.output_item.done", item: { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: "done" }] } });
    } else {
      events.push({ type: "response.output_item.done", item: typeof call === "string" ? command(call) : call });
    }
    events.push({ type: "response.completed", response: { id: "r", usage: { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 } } });
    res.setHeader("Content-Type", "text/event-stream");
    res.end(events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join(""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/v1`, asked, reviewed, close() { server.closeAllConnections(); server.close(); } };
}

export const config = (url, reviewer = "user") => `
model = "fake"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "read-only"
approvals_reviewer = "${reviewer}"

[model_providers.fake]
name = "fake"
base_url = "${url}"
wire_api = "responses"
`;
