// The real Claude Code behind its ACP adapter with a model of ours, nod proxy acp
// between the adapter and a client, and a person who responds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { inTurn, model } from "./claude.js";
import { running, until } from "./harness.js";

const options = { skip: !(process.env.ACP_AGENT && process.env.CLAUDE) && "the ACP adapter of Claude Code not found" };
const live = running(!options.skip);
const { open } = live; // what a failed test may leave open

let count = 0;

// editor starts the agent behind nod with a client that answers permission
// requests with answer, or never. calls are the tool calls of the model.
async function editor({ calls = () => [], answer, env = {} }) {
  const dir = join(live.dir, `acp-${++count}`);
  mkdirSync(join(dir, "home"), { recursive: true });
  const fake = await model(calls(dir));
  open.push(fake.close);
  writeFileSync(join(dir, "home", ".claude.json"), JSON.stringify({ hasCompletedOnboarding: true }));
  const run = spawn(process.env.NOD_BINARY, ["proxy", "acp", "--", process.execPath, process.env.ACP_AGENT], {
    cwd: dir, stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...live.env, HOME: join(dir, "home"), IS_SANDBOX: "1", ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: "sk-ant-test-key-of-nod",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_EXECUTABLE: process.env.CLAUDE, ...env,
    },
  });
  let said = "";
  run.stderr.on("data", (d) => { said += d; });
  open.push(() => run.kill("SIGKILL"));
  const seen = [];
  const waiting = new Map();
  const write = (m) => run.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\n");
  createInterface({ input: run.stdout }).on("line", (line) => {
    const m = JSON.parse(line);
    seen.push(m);
    if (m.method === "session/request_permission" && answer) {
      write({ id: m.id, result: { outcome: { outcome: "selected", optionId: m.params.options.find((o) => o.kind === answer).optionId } } });
    }
    if (!m.method) waiting.get(m.id)?.(m);
  });
  let id = 0;
  const call = (method, params) => new Promise((done) => {
    waiting.set(++id, done);
    write({ id, method, params });
  });
  const within = (what, p) => Promise.race([p, new Promise((_, no) => setTimeout(() => no(new Error(`not in time: ${what}\n${said}\n${JSON.stringify(seen)}`)), 30_000).unref())]);
  await within("initialize", call("initialize", { protocolVersion: 1, clientCapabilities: {} }));
  const opened = await within("session/new", call("session/new", { cwd: dir, mcpServers: [] }));
  assert.ok(opened.result?.sessionId, JSON.stringify(opened));
  const session = opened.result.sessionId;
  const mode = await within("session/set_mode", call("session/set_mode", { sessionId: session, modeId: "default" }));
  assert.ok(mode.result, JSON.stringify(mode));
  const reported = async () => (await live.asPerson("GET", "/v1/sessions")).items.find((s) => s.id === session);
  return {
    dir, fake, run, seen, session, said: () => said,
    prompt: (text) => within("the end of the turn", call("session/prompt", { sessionId: session, prompt: [{ type: "text", text }] })),
    made: () => existsSync(join(dir, "made")),
    card: () => live.asked(() => `the card, with ${said}\n${JSON.stringify(seen)}`, (r) => r.interaction.session === session && r.interaction.approval),
    session_is: (what, found) => until(() => `${what}: ${said}`, async () => { const s = await reported(); return s && found(s) && s; }),
  };
}

const touch = (dir) => [{ name: "Bash", input: { command: `touch ${join(dir, "made")}`, description: "Make a file" } }];
const respond = (r, decision) => live.asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, { decision });

test("acp: chat approves, the session is reported, and ten messages continue it, once each and in order", options, async (c) => {
  const e = await editor({ calls: touch });
  const turn = e.prompt("Make the file");
  const r = await e.card();
  await e.session_is("waits for a person", (s) => s.pending === 1 && s.status.title === "Make the file");
  await respond(r, "once");
  assert.equal((await turn).result?.stopReason, "end_turn");
  assert.ok(e.made());
  const idle = await e.session_is("waits for its user", (s) => s.status.state === "waiting" && s.status.last_message === "done");
  assert.equal(idle.status.waits_for, "your next message");
  const words = Array.from({ length: 10 }, (_, n) => `number-${n}.`);
  const sent = [];
  for (const text of words) sent.push(await live.asPerson("POST", `/v1/sessions/${e.session}/messages`, { text }));
  await until(() => `all deliveries: ${e.said()}`, async () => {
    const fates = await Promise.all(sent.map((m) => live.asPerson("GET", `/v1/sessions/${e.session}/messages/${m.id}`)));
    return fates.every((m) => m.fate === "delivered");
  });
  await e.session_is("waits for its user again", (s) => s.status.state === "waiting");
  const last = e.fake.asked.at(-1);
  for (const word of words) assert.equal(last.split(`'${word}'`).length, 2, word);
  assert.deepEqual([...words].sort((a, b) => last.indexOf(a) - last.indexOf(b)), words);
  assert.ok(e.seen.some((m) => m.params?.update?.sessionUpdate === "user_message_chunk" && JSON.stringify(m).includes("number-9.")));
  e.run.stdin.end();
  await e.session_is("finishes", (s) => s.status.state === "finished");
  c.diagnostic(`${e.fake.asked.length} requests of the model`);
});

test("acp: the cards of two calls with one ID show their own commands", options, async () => {
  const call = (dir, name) => ({ id: "functions.bash:90", name: "Bash", input: { command: `touch ${join(dir, name)}`, description: "Make a file" } });
  const e = await editor({ calls: (dir) => inTurn(call(dir, "safe"), call(dir, "made")) });
  const turn = e.prompt("Make the files");
  const first = await e.card();
  assert.equal(first.interaction.approval.input.command, `touch ${join(e.dir, "safe")}`);
  await respond(first, "once");
  const second = await live.asked("the second card", (r) => r.interaction.session === e.session && r.interaction.id !== first.interaction.id && r.interaction.approval);
  assert.equal(second.interaction.approval.input.command, `touch ${join(e.dir, "made")}`);
  assert.ok(!JSON.stringify(second.interaction.approval.input).includes("safe"));
  await respond(second, "deny");
  await turn;
  assert.ok(existsSync(join(e.dir, "safe")) && !e.made());
  e.run.stdin.end();
});

test("acp: a stop ends the turn at once and denies the pending permission", options, async (c) => {
  const e = await editor({ calls: touch });
  const turn = e.prompt("Make the file");
  const r = await e.card();
  const began = Date.now();
  await live.asPerson("POST", `/v1/sessions/${e.session}/stop`, {});
  const end = await turn;
  c.diagnostic(`stopped after ${Date.now() - began} ms`);
  assert.equal(end.result?.stopReason, "cancelled", JSON.stringify(end));
  assert.ok(!e.made());
  assert.equal((await live.asAgent("GET", `/v1/interactions/${r.interaction.id}`)).state, "cancelled");
  assert.ok(e.seen.some((m) => m.method === "$/cancel_request"));
  e.run.stdin.end();
});

for (const [answer, makes] of [["allow_once", true], ["reject_once", false]]) {
  test(`acp: with the daemon away, the editor decides ${answer}`, options, async () => {
    const e = await editor({ calls: touch, answer, env: { NOD_URL: "http://127.0.0.1:9" } });
    await e.prompt("Make the file");
    assert.equal(e.made(), makes);
    e.run.stdin.end();
  });
}

test("acp: if nod is killed, nothing runs without an answer", options, async () => {
  const e = await editor({ calls: touch });
  e.prompt("Make the file").catch(() => {});
  await e.card();
  e.run.kill("SIGKILL");
  await once(e.run, "exit");
  await new Promise((done) => setTimeout(done, 2000));
  assert.ok(!e.made());
});
