// Independent clients with the real binary: a daemon, the sandbox, and a person
// who responds.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Webhook } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import ts from "typescript";
import { config, model } from "./codex.js";
import { here, secret, start, until } from "./harness.js";

let dir, url, told, asAgent, answers, live, agent;

before(async () => {
  live = await start();
  ({ dir, url, told, asAgent, answers } = live);
  agent = live.env.NOD_TOKEN;
});

after(() => live.stop());

const env = () => live.env;

for (const [name, transport] of Object.entries({
  stdio: () => new StdioClientTransport({ command: process.env.NOD_BINARY, args: ["mcp", "--session", "judge"], env: env(), stderr: "inherit" }),
  http: () => new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: `Bearer ${agent}` } } }),
})) {
  test(`the official MCP client asks over ${name}`, async () => {
    const client = new Client({ name: "judge", version: "1.0.0" });
    await client.connect(transport());
    try {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((t) => t.name).sort(), ["ask_human", "check", "messages", "notify", "request_approval"]);
      for (const t of tools) assert.ok(t.description.length > 60 && t.inputSchema.type === "object", t.name);
      let progress = 0;
      const call = client.callTool({ name: "ask_human", arguments: { question: `Which region, ${name}?`, options: [{ value: "eu" }, { value: "us" }] } }, undefined, { onprogress: () => progress++, resetTimeoutOnProgress: true });
      await answers(`Which region, ${name}?`, { answers: { answer: "us" } });
      const result = await call;
      assert.equal(JSON.parse(result.content[0].text).answer, "us");
      assert.ok(progress > 0, "no early progress");
      const shown = await client.callTool({ name: "notify", arguments: { message: `Done over ${name}` } });
      assert.equal(JSON.parse(shown.content[0].text).status, "shown");
      const wrong = await client.callTool({ name: "request_approval", arguments: { action: " " } });
      assert.ok(wrong.isError);
    } finally {
      await client.close();
    }
  });
}

test("the libraries of Standard Webhooks and Svix accept the signature", async () => {
  const record = await asAgent("POST", "/v1/interactions", { prompt: "Told?" });
  await answers("Told?", { answers: { q1: "yes" } });
  const hook = await until("the webhook", () => told.find((t) => t.body.includes(record.interaction.id)));
  for (const Library of [Webhook, Svix]) {
    new Library(secret).verify(hook.body, hook.headers);
    const event = JSON.parse(hook.body);
    assert.equal(event.type, "interaction.answered");
    assert.equal(event.data.interaction.id, record.interaction.id);
    const refuses = (body, headers) => assert.throws(() => new Library(secret).verify(body, { ...hook.headers, ...headers }));
    refuses(hook.body.replace("answered", "approved"), {});
    refuses(hook.body, { "webhook-id": "another" });
    refuses(hook.body, { "webhook-timestamp": String(Number(hook.headers["webhook-timestamp"]) - 3600) });
  }
});

test("the TypeScript example sends a request, and its types are correct", async () => {
  const source = new URL("../../../docs/agents/examples/nod.mts", import.meta.url);
  const program = ts.createProgram([fileURLToPath(source)], {
    strict: true, noEmit: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022,
    typeRoots: [join(here, "node_modules/@types")], types: ["node"], skipLibCheck: true, noUncheckedIndexedAccess: true,
  });
  assert.deepEqual(ts.getPreEmitDiagnostics(program).map((d) => ts.flattenDiagnosticMessageText(d.messageText, "\n")), []);
  const js = join(dir, "nod.mjs");
  writeFileSync(js, ts.transpileModule(readFileSync(source, "utf8"), { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } }).outputText);
  const run = (...args) => promisify(execFile)(process.execPath, [js, ...args], { env: env() });
  const asked = run("ask", "Which one, example?", "a", "b");
  await answers("Which one, example?", { answers: { q: "b" } });
  assert.equal((await asked).stdout.trim(), "b");
  const refused = run("approve", "Really, example?", '{"command":"ls"}');
  const denied = assert.rejects(refused, { code: 1 });
  await answers("Really, example?", { decision: "deny" });
  await denied;
  const exchanged = promisify(execFile)(process.execPath, [js, "exchange", "ai_sdk"], { env: env() });
  exchanged.child.stdin.end(JSON.stringify({ type: "tool-approval-request", approvalId: "a-1", toolCall: { toolCallId: "c", toolName: "exampleTool", input: {} } }));
  await answers("exampleTool", { decision: "once" });
  assert.deepEqual(JSON.parse((await exchanged).stdout), { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a-1", approved: true }] });
});

test("the real Codex runs a command after a person approves it", { skip: !process.env.CODEX && "Codex not found" }, async () => {
  const home = join(dir, "codex");
  mkdirSync(home);
  const fake = await model(`touch ${join(home, "made")}`);
  writeFileSync(join(home, "config.toml"), config(fake.url));
  const proxy = spawn(process.env.NOD_BINARY, ["proxy", "codex", "--", process.env.CODEX, "app-server"], {
    stdio: ["pipe", "pipe", "ignore"], env: { ...env(), CODEX_HOME: home, HOME: home },
  });
  const say = (m) => proxy.stdin.write(JSON.stringify(m) + "\n");
  const turn = async (text, reply) => {
    const heard = createInterface({ input: proxy.stdout });
    const ended = new Promise((done) => heard.on("line", (line) => {
      const m = JSON.parse(line);
      if (m.id === 2) say({ method: "turn/start", id: 3, params: { threadId: m.result.thread.id, input: [{ type: "text", text }] } });
      if (m.method === "turn/completed") done(m.params.turn.status);
    }));
    say({ method: "initialize", id: 1, params: { clientInfo: { name: "judge", title: "judge", version: "1" } } });
    say({ method: "initialized" });
    say({ method: "thread/start", id: 2, params: { cwd: dir } });
    const answered = await answers("Codex wants to run a command", reply);
    assert.ok(JSON.stringify(answered.interaction.approval.input).includes("touch"));
    const offered = answered.interaction.approval.decisions;
    assert.ok(offered.includes("once") && !offered.includes("edit") && !offered.includes("deny_reason"), String(offered));
    const status = await ended;
    heard.close();
    return status;
  };
  try {
    assert.equal(await turn("make it", { decision: "once" }), "completed");
    assert.ok(existsSync(join(home, "made")));
  } finally {
    proxy.stdin.end();
    proxy.kill();
    fake.close();
  }
});
