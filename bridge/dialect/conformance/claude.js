import { once } from "node:events";
import { createServer } from "node:http";

// inTurn returns calls that a model makes one after the other, however many results it
// is sent: Claude Code keeps one of several with the same ID.
export function inTurn(...calls) {
  const next = () => calls.shift();
  return Array(calls.length + 1).fill(next);
}

// A model for the real Claude Code that makes the given tool calls, one in each
// turn, and then says that it is done. A call may have an ID, and may be a function of
// the request, which may return a promise. asked has the text of each request. The automatic
// check of the server denies the calls that are flagged.
export async function model(calls, flagged = () => false) {
  const heard = [];
  const asked = [];
  const server = createServer(async (req, res) => {
    let text = "";
    for await (const part of req) text += part;
    const body = text ? JSON.parse(text) : {};
    if (!req.url.startsWith("/v1/messages") || req.url.includes("count_tokens")) {
      res.setHeader("Content-Type", "application/json");
      return res.end(JSON.stringify({ input_tokens: 1 }));
    }
    const results = (body.messages ?? []).flatMap((m) => (Array.isArray(m.content) ? m.content : [])).filter((c) => c.type === "tool_result");
    const main = (body.tools ?? []).some((t) => t.name === "Bash"); // other requests are for titles and the like
    if (main) { heard.push(results); asked.push(text); }
    let call = main ? calls[results.length] : undefined;
    if (typeof call === "function") call = await call(text);
    const id = call?.id ?? `toolu_${results.length}_${Date.now()}`;
    const content = call
      ? [{ type: "tool_use", id, name: call.name, input: {} }, JSON.stringify(call.input)]
      : [{ type: "text", text: "" }, "done"];
    const verdict = call && body.safeguards && {
      safeguard_results: [{ type: "dangerous_tool_use", status: { type: "available", tool_uses: { [id]: { type: "evaluated", outcome: flagged(call) ? "flagged" : "not_flagged", explanation: "It may do harm." } } } }],
    };
    const events = [
      { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: body.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: content[0] },
      { type: "content_block_delta", index: 0, delta: call ? { type: "input_json_delta", partial_json: content[1] } : { type: "text_delta", text: content[1] } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null, ...verdict }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ];
    res.setHeader("Content-Type", "text/event-stream");
    res.end(events.map((e) => `event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`).join(""));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, heard, asked, close() { server.closeAllConnections(); server.close(); } };
}
