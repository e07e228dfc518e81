// A sandbox, a daemon, and a person who responds, for tests with other people's
// programs.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));
const agent = "token-of-the-agent-in-these-tests";
const person = "token-of-the-person-in-these-tests";
export const secret = "whsec_" + Buffer.alloc(32, "k").toString("base64");

// start starts everything. Its result has the URL of the daemon, a directory
// that stop removes, and what the webhook was told. More is added to the config.
export async function start(more = "") {
  const told = [];
  const stop = [];
  const dir = mkdtempSync(join(here, "live-"));
  const receiver = createServer(async (req, res) => {
    let body = "";
    for await (const part of req) body += part;
    told.push({ body, headers: req.headers });
    res.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  stop.push(() => receiver.close());
  const sandbox = spawn(process.env.NOD_BINARY, ["sandbox", "--listen", "127.0.0.1:0", "--no-limits"], { stdio: ["ignore", "pipe", "inherit"] });
  stop.push(() => sandbox.kill());
  const [first] = await once(createInterface({ input: sandbox.stdout }), "line");
  const base = first.split(/\s+/)[1].replace(/\/$/, "");
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  free.close();
  await once(free, "close");
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(dir, "nod.yaml"), `
listen: 127.0.0.1:${port}
log_level: error
sandbox: ${base}
telegram: {bot_token: "7000:sandbox-telegram-token"}
people: {ana: {telegram: "7001", token: ${person}}}
routes: {default: {to: ["telegram:-1001000000001"], responders: [ana], sessions: true}}
agents: {tester: {token: ${agent}, per_minute: 10000}}
webhooks: {judge: {url: "http://127.0.0.1:${receiver.address().port}/", secret: "${secret}"}}
${more}`);
  let daemon;
  const serve = async () => {
    daemon = spawn(process.env.NOD_BINARY, ["serve", "--dev", "--config", join(dir, "nod.yaml")], { stdio: ["ignore", "inherit", "inherit"] });
    await until("the daemon is ready", async () => (await fetch(url + "/readyz").catch(() => ({}))).ok);
  };
  stop.push(() => daemon.kill());
  await serve();
  // restart loses all requests, because the daemon keeps them in memory.
  const restart = async () => {
    const ended = once(daemon, "exit");
    daemon.kill("SIGKILL");
    await ended;
    await serve();
  };
  return { url, dir, told, restart, ...calls(url), stop() { for (const f of stop) f(); rmSync(dir, { recursive: true, force: true }); } };
}

// running starts everything before the tests of a file, if they run, and stops it
// after them. Its result has what start returns, and open: functions that close what
// a failed test may leave open.
export function running(when = true, more) {
  const live = { open: [] };
  before(async () => {
    if (when) Object.assign(live, await start(more));
  });
  after(async () => {
    for (const close of live.open.reverse()) await close();
    live.stop?.();
  });
  return live;
}

// thorough returns the options of a test that only make conformance-all runs.
export const thorough = (options = {}) => (process.env.CONFORMANCE === "all" || options.skip ? options : { ...options, skip: "make conformance-all runs this" });

// remove removes a folder of an agent whose program was killed. Its launcher ends
// first, and the program itself may write for another moment.
export const remove = (dir) => rm(dir, { recursive: true, force: true, maxRetries: 30, retryDelay: 50 });

// until waits for a value, for up to a minute.
export async function until(what, ok) {
  const end = Date.now() + 30_000;
  while (Date.now() < end) {
    const v = await ok();
    if (v) return v;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error(`not in time: ${typeof what === "function" ? what() : what}`);
}

// calls returns functions for an agent and a person.
function calls(url) {
  async function api(token, method, path, body) {
    const resp = await fetch(url + path, { method, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
    const answer = await resp.json();
    assert.ok(resp.ok, JSON.stringify(answer));
    return answer;
  }
  const asAgent = (...args) => api(agent, ...args);
  const asPerson = (...args) => api(person, ...args);
  // asked waits for a posted request that a test recognizes.
  const asked = (what, found, state = "pending") => until(what, async () => (await asAgent("GET", `/v1/interactions?state=${state}`)).items.find((r) => r.messages && found(r)));
  // answers waits for the request whose prompt contains a text, responds to it,
  // and returns it as the person saw it.
  async function answers(text, reply) {
    const r = await asked(text, (r) => r.interaction.prompt.includes(text));
    await asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, reply);
    return r;
  }
  return { asAgent, asPerson, asked, answers, env: { ...process.env, NOD_URL: url, NOD_TOKEN: agent } };
}
