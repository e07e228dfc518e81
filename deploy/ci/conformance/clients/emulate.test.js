// A second Slack for the daemon: emulate, which other people wrote. It has the
// Web API without interactions, so the test sends the clicks itself, signed as
// Slack signs them.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHTTP } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createEmulator } from "emulate";
import { until } from "./sandbox.js";

const token = "xoxb-emulate-bot-token",
  secret = "emulate-signing-secret",
  agent = "token-of-the-agent-in-this-test";
const scopes = [
  "chat:write",
  "channels:read",
  "groups:read",
  "im:write",
  "users:read",
  "users:read.email",
  "usergroups:read",
  "channels:history",
];
const channel = "C000000001",
  person = "U000000001";

async function freePort() {
  const s = createServer().listen(0, "127.0.0.1");
  await once(s, "listening");
  const { port } = s.address();
  s.close();
  await once(s, "close");
  return port;
}

// slack calls a method of the emulator.
async function slack(url, method, args) {
  const resp = await fetch(`${url}/api/${method}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(args),
  });
  const answer = await resp.json();
  assert.ok(answer.ok, `${method}: ${JSON.stringify(answer)}`);
  return answer;
}

// front forwards calls to the emulator and notes the answers. It moves the token
// of a form to the header, because emulate reads only the header; Slack reads
// both.
async function front(t, url) {
  const calls = [];
  const server = createHTTP(async (req, res) => {
    let body = "";
    for await (const part of req) body += part;
    const form = new URLSearchParams((req.headers["content-type"] ?? "").includes("form") ? body : "");
    const headers = {
      "Content-Type": req.headers["content-type"] ?? "",
      Authorization: req.headers.authorization ?? `Bearer ${form.get("token")}`,
    };
    const resp = await fetch(url + req.url.replace("/slack/api/", "/api/"), { method: req.method, headers, body: req.method === "POST" ? body : undefined });
    const text = await resp.text();
    calls.push({ method: req.url.split("/").pop().split("?")[0], answer: JSON.parse(text) });
    res.writeHead(resp.status, { "Content-Type": "application/json; charset=utf-8" }).end(text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, url: `http://127.0.0.1:${server.address().port}` };
}

// send delivers a payload to nod as Slack does.
async function send(nod, payload) {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
    at = Math.floor(Date.now() / 1000);
  const signature = "v0=" + createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded",
    "X-Slack-Request-Timestamp": String(at),
    "X-Slack-Signature": signature,
  };
  const resp = await fetch(`${nod}/slack/interactions`, { method: "POST", headers, body });
  assert.equal(resp.status, 200);
  return resp.text();
}

async function serve(t, url, port) {
  const dir = mkdtempSync(join(tmpdir(), "nod-emulate-")),
    config = join(dir, "nod.yaml"),
    nod = `http://127.0.0.1:${port}`;
  writeFileSync(
    config,
    `
listen: 127.0.0.1:${port}
log_level: error
sandbox: ${url}
slack: {bot_token: ${token}, signing_secret: ${secret}}
people: {ana: {slack: ${person}}}
routes: {default: {to: ["slack:${channel}"], responders: [ana]}}
agents: {tester: {token: ${agent}}}
`,
  );
  const daemon = spawn(process.env.NOD_BINARY, ["serve", "--dev", "--config", config], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  t.after(() => {
    daemon.kill();
    rmSync(dir, { recursive: true, force: true });
  });
  await until("the daemon is ready", async () => (await fetch(nod + "/readyz").catch(() => ({}))).ok);
  return nod;
}

async function api(nod, method, path, body) {
  const resp = await fetch(nod + path, {
    method,
    headers: { Authorization: `Bearer ${agent}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const answer = await resp.json();
  assert.ok(resp.ok, JSON.stringify(answer));
  return answer;
}

test("the daemon works on emulate's Slack", async (t) => {
  const tokens = [{ token, type: "bot", scopes, app_id: "A000000001", bot_id: "B000000001" }];
  const emulator = await createEmulator({
    service: "slack",
    port: await freePort(),
    seed: { slack: { signing_secret: secret, tokens }, tokens: { [token]: { login: "admin", scopes } } },
  });
  t.after(() => emulator.close());
  const { calls, url } = await front(t, emulator.url);
  const nod = await serve(t, url, await freePort());
  const messages = async () => (await slack(emulator.url, "conversations.history", { channel })).messages;
  const open = async (request) => {
    const { interaction } = await api(nod, "POST", "/v1/interactions", request);
    const card = await until("the card of " + request.prompt, async () =>
      (await messages()).find((m) => JSON.stringify(m.blocks ?? "").includes(request.prompt)),
    );
    return { id: interaction.id, card };
  };
  const buttons = (m) =>
    m.blocks.filter((b) => b.type === "actions").flatMap((b) => b.elements.map((e) => ({ ...e, block_id: b.block_id })));
  const press = async (card) => {
    const b = buttons(card).find((e) => e.style === "primary");
    assert.ok(b, JSON.stringify(card.blocks));
    const { trigger_id } = await slack(emulator.url, "views.generateTriggerId", { user_id: person });
    return send(nod, {
      type: "block_actions",
      api_app_id: "A000000001",
      token: "deprecated",
      trigger_id,
      team: { id: "T000000001", domain: "emulate" },
      user: { id: person, username: "admin", name: "admin", team_id: "T000000001" },
      container: { type: "message", message_ts: card.ts, channel_id: channel, is_ephemeral: false },
      channel: { id: channel, name: "general" },
      message: card,
      state: { values: {} },
      response_url: `${emulator.url}/unused`,
      actions: [{ type: "button", action_id: b.action_id, block_id: b.block_id, text: b.text, value: b.value, action_ts: "1.1" }],
    });
  };
  const now = async (card) => (await messages()).find((m) => m.ts === card.ts);

  const yes = await open({
    kind: "approval",
    prompt: "May I deploy 42?",
    approval: { tool: "bash", input: { command: "make deploy" } },
  });
  await press(yes.card);
  await until("the decision", async () => (await api(nod, "GET", `/v1/interactions/${yes.id}`)).state === "approved");
  const closed = await until("the closed card", async () => {
    const m = await now(yes.card);
    return m.text.includes("pproved") && buttons(m).length === 0 && m;
  });
  assert.ok(closed.edited);

  const why = await open({ prompt: "Why is it late?", questions: [{ id: "why", widget: "text", text: "Why?" }] });
  await press(why.card);
  const form = (await until("the form", async () => calls.find((c) => c.method === "views.open"))).answer;
  assert.ok(form.ok && form.view.blocks.some((b) => b.type === "input"), JSON.stringify(form));
  const gone = await open({ prompt: "Still needed?", questions: [{ id: "q", widget: "confirm", text: "Still?" }] });
  await api(nod, "POST", `/v1/interactions/${gone.id}/cancel`, {});
  await until("the cancelled card", async () => /ancel|withdrawn/i.test((await now(gone.card)).text));
  const failed = calls.filter((c) => !c.answer.ok);
  assert.deepEqual(failed, []);
});
