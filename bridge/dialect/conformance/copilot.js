// A model for the real Copilot CLI that runs the given commands, one in each
// request, and then says that it is done. heard has what it read of each call.
import { once } from "node:events";
import { createServer } from "node:http";

export async function model(commands) {
  const heard = [];
  const server = createServer(async (req, res) => {
    let text = "";
    for await (const part of req) text += part;
    if (!req.url.includes("chat/completions")) {
      res.setHeader("Content-Type", "application/json");
      return res.end('{"data":[]}');
    }
    const body = JSON.parse(text);
    const results = body.messages.filter((m) => m.role === "tool").map((m) => String(m.content));
    heard.splice(0, Infinity, ...results);
    const tools = (body.tools ?? []).map((t) => t.function.name);
    const command = tools.includes("bash") && commands[results.length];
    const delta = command
      ? { role: "assistant", content: "", tool_calls: [{ index: 0, id: `call_${results.length}`, type: "function", function: { name: "bash", arguments: JSON.stringify({ command, description: "Make a file" }) } }] }
      : { role: "assistant", content: "done" };
    const chunk = (d, reason) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: body.model, choices: [{ index: 0, delta: d, finish_reason: reason }] })}\n\n`;
    res.setHeader("Content-Type", "text/event-stream");
    res.end(chunk(delta, null) + chunk({}, command ? "tool_calls" : "stop") + "data: [DONE]\n\n");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}/v1`, heard, close() { server.closeAllConnections(); server.close(); } };
}
