// A model for the real Codex that calls one command.
import { once } from "node:events";
import { createServer } from "node:http";

// model serves the Responses API. It calls the command on every request, and
// finishes when the command has an output.
export async function model(command) {
  const server = createServer(async (req, res) => {
    let text = "";
    for await (const part of req) text += part;
    const body = text ? JSON.parse(text) : {};
    const last = JSON.stringify((body.input ?? []).slice(-1));
    const events = [{ type: "response.created", response: { id: "r" } }];
    if (last.includes("function_call_output")) {
      events.push({ type: "response.output_item.done", item: { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: "done" }] } });
    } else {
      const args = JSON.stringify({ cmd: command, sandbox_permissions: "require_escalated", justification: "to make it" });
      events.push({ type: "response.output_item.done", item: { type: "function_call", call_id: "c1", name: "exec_command", arguments: args } });
    }
    events.push({ type: "response.completed", response: { id: "r", usage: { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 } } });
    res.setHeader("Content-Type", "text/event-stream");
    res.end(events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join(""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

export const config = (url) => `
model = "fake"
model_provider = "fake"
approval_policy = "on-request"
sandbox_mode = "read-only"

[model_providers.fake]
name = "fake"
base_url = "${url}"
wire_api = "responses"
`;
