// The official conformance suite of MCP against nod's own server, and against a
// server behind nod, which has to pass everything on.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { here, running, thorough, until } from "./harness.js";

const { MCP_SUITE, MODERN_NODE } = process.env; // the suite needs Node.js 22
const options = { skip: !(MCP_SUITE && MODERN_NODE) && "the conformance suite of MCP not found", concurrency: 4 };
const live = running();

async function serve(handler) {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  live.open.push(() => server.closeAllConnections(), () => server.close());
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

// own returns an address of nod's own server that needs no token.
const own = () => serve((req, res) => {
  const headers = { ...req.headers, authorization: `Bearer ${live.env.NOD_TOKEN}` };
  const up = request(live.url + req.url, { method: req.method, headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  up.on("error", () => res.destroy());
  req.pipe(up);
});

const guarded = (...rules) => ["mcp", "--wrap", ...rules, "--name", "suite", "--session", "suite", "--", process.execPath, join(here, "mcp-server.js")];

// wrapped returns an address of the server behind nod. Each session has its own.
async function wrapped() {
  const sessions = new Map();
  const begin = async () => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) });
    await transport.start();
    const nod = spawn(process.env.NOD_BINARY, guarded("--allow", "*"), { env: live.env, stdio: ["pipe", "pipe", "inherit"] });
    live.open.push(() => nod.kill());
    let latest; // the call to whose stream notifications belong
    transport.onmessage = (m) => {
      if (m.method && m.id !== undefined) latest = m.id;
      nod.stdin.write(JSON.stringify(m) + "\n");
    };
    createInterface({ input: nod.stdout }).on("line", (line) => {
      const m = JSON.parse(line);
      transport.send(m, { relatedRequestId: m.method ? latest : m.id }).catch(() => {}); // the client has gone
    });
    return transport;
  };
  return serve(async (req, res) => (sessions.get(req.headers["mcp-session-id"]) ?? (await begin())).handleRequest(req, res));
}

function scenario(url, name) {
  return new Promise((done) => {
    execFile(MODERN_NODE, [MCP_SUITE, "server", "--url", url, "--scenario", name], { timeout: 60_000 }, (error, stdout, stderr) => done(error ? `${error.message}\n${stdout}${stderr}` : ""));
  });
}

// People answer the forms of a wrapped server, so the scenarios with elicitation do
// not apply. The others are about HTTP.
const quick = ["server-initialize", "tools-call-mixed-content", "tools-call-with-logging", "tools-call-with-progress", "tools-call-sampling"];
const scenarios = [
  "ping", "tools-list", "logging-set-level", "completion-complete", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
  "tools-call-error", "json-schema-2020-12", "resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read", "resources-subscribe",
  "resources-unsubscribe", "prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image",
];
const ours = ["server-initialize", "ping", "tools-list", "logging-set-level", "dns-rebinding-protection"];

for (const [what, address, names, when] of [
  ["nod mcp over HTTP", own, ours, options], ["a server behind nod", wrapped, quick, options], ["a server behind nod", wrapped, scenarios, thorough(options)],
]) {
  test(`mcp suite: ${what}, ${names.length} scenarios`, when, async (t) => {
    const url = await address();
    await Promise.all(names.map((name) => t.test(name, async () => assert.equal(await scenario(url, name), ""))));
  });
}

const stdio = (args) => new StdioClientTransport({ command: process.env.NOD_BINARY, args, env: live.env, stderr: "inherit" });
const http = () => new StreamableHTTPClientTransport(new URL(live.url + "/mcp?session=newest"), { requestInit: { headers: { Authorization: `Bearer ${live.env.NOD_TOKEN}` } } });

const approval = (action) => ({ name: "request_approval", arguments: { action } });
for (const [what, transport, call, mode] of [
  ["a guarded tool", () => stdio(guarded("--allow", "test_tool_*")), { name: "test_simple_text", arguments: {} }, "legacy"],
  ["request_approval over HTTP with a notification", http, approval("Notified"), "legacy"],
  ["request_approval over HTTP by closing its stream", http, approval("Closed"), { pin: "2026-07-28" }],
]) {
  test(`the newest client of MCP cancels ${what}`, async () => {
    const client = new Client({ name: "newest", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(transport());
    live.open.push(() => client.close());
    if (what === "a guarded tool") {
      const heard = [];
      await client.callTool({ name: "test_tool_with_progress", arguments: {} }, { onprogress: (p) => heard.push(p.progress) });
      assert.deepEqual(heard, [0, 50, 100]);
    }
    const stop = new AbortController();
    const ended = assert.rejects(client.callTool(call, { signal: stop.signal, onprogress: () => {} }));
    const mine = (r) => ["suite", "newest"].includes(r.interaction.session) && r.state === "pending";
    const { interaction } = await live.asked("the card", mine);
    stop.abort("the user pressed Escape");
    await ended;
    const state = async () => (await live.asAgent("GET", "/v1/interactions/" + interaction.id)).state;
    await until("the request is withdrawn", async () => (await state()) === "cancelled");
  });
}
