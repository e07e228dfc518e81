// The real Codex in a terminal with a model of ours, nod proxy codex next to it, and a
// person who responds.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { config, model, patch } from "./codex.js";
import { remove, running, thorough, until } from "./harness.js";
import { terminal } from "./terminal.js";

const program = process.env.CODEX;
const options = { skip: !(program && process.env.CLAUDE_TERMINAL) && "Codex or the terminal not found" };
const tooOld = process.env.CODEX_TOO_OLD;
const live = running(!options.skip || tooOld);
const { open } = live; // what a failed test may leave open

// project makes a home for Codex, and a model that makes one tool call there.
async function project(call = (file) => `touch ${file}`) {
  const dir = mkdtempSync(join(tmpdir(), "codex-")); // a socket's path is short
  const home = join(dir, "home");
  const work = join(dir, "work");
  mkdirSync(home);
  mkdirSync(work);
  open.push(() => remove(dir));
  const fake = await model(call(join(work, "made")));
  open.push(fake.close);
  writeFileSync(join(home, "config.toml"), `${config(fake.url)}\n[projects."${work}"]\ntrust_level = "trusted"\n`);
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home };
  // Codex's own daemon waits a minute for a pending approval before it stops.
  const crash = () => {
    for (const pid of readdirSync("/proc").filter((n) => /^\d+$/.test(n))) {
      try {
        if (readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(join(home, "packages") + "/")) process.kill(Number(pid), "SIGKILL");
      } catch { /* it has ended */ }
    }
  };
  open.push(crash);
  const revive = () => execFileSync(program, ["app-server", "daemon", "start"], { env, stdio: "ignore" });
  return { dir, home, work, env, fake, crash, revive, socket: join(home, "app-server-control", "app-server-control.sock"), made: () => existsSync(join(work, "made")) };
}

// companion runs nod proxy codex.
function companion(p, env = {}) {
  const run = spawn(process.env.NOD_BINARY, ["proxy", "codex"], { stdio: ["ignore", "ignore", "pipe"], env: { ...live.env, CODEX_HOME: p.home, ...env } });
  let said = "";
  run.stderr.on("data", (d) => { said += d; });
  open.push(() => run.kill("SIGKILL"));
  return { run, ended: once(run, "exit"), said: () => said, says: (text) => until(() => `"${text}" in\n${said}`, () => said.includes(text)) };
}

// interactive runs codex in a terminal, and waits for its dialog.
async function interactive(p, ...args) {
  return inTerminal(p, "Would you like to run the following command?", ...args);
}

async function inTerminal(p, shows, ...args) {
  const t = terminal(program, args, { cwd: p.work, env: p.env });
  open.push(() => t.kill("SIGKILL"));
  await until(() => `the dialog, on:\n${t.text()}`, () => t.text().includes(shows));
  return t;
}

const card = (p, what = "the card") => live.asked(what, (r) => JSON.stringify(r.interaction.approval?.input ?? "").includes(p.work));
const decide = (r, decision) => live.asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, { decision });
const now = (r) => live.asAgent("GET", `/v1/interactions/${r.interaction.id}`);
const closed = (r) => until("the card closes", async () => {
  const n = await now(r);
  return n.state !== "pending" && n;
});
const gone = (t) => until(() => `the dialog closes, on:\n${t.text()}`, () => !t.text().includes("Press enter to confirm"));
const one = async (r) => assert.equal((await live.asAgent("GET", `/v1/interactions?session=${r.interaction.session}`)).items.length, 1, "more than one card");

for (const [decision, makes] of [["once", true], ["deny_stop", false]]) {
  test(`codex: chat is first with ${decision}`, options, async () => {
    const p = await project();
    const c = companion(p);
    const t = await interactive(p, "make it");
    const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
    assert.deepEqual([...r.interaction.approval.decisions].sort(), ["always", "deny_stop", "once"]);
    await decide(r, decision);
    await gone(t);
    await until("the end of the turn", () => p.made() || t.text().includes("interrupted"));
    assert.equal(p.made(), makes);
    await until("the agent has the answer", async () => (await now(r)).delivered);
    await one(r);
  });
}

for (const [keys, makes, reason] of [["y", true, "allowed at the terminal"], ["\x1b", false, "dismissed at the terminal"]]) {
  test(`codex: the keyboard is first, ${reason}`, options, async () => {
    const p = await project();
    const c = companion(p);
    const t = await interactive(p, "make it");
    const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
    let typed = 0; // a dialog ignores keys right after it has appeared
    const end = await until(() => `the card closes, with\n${t.text()}`, async () => {
      if (Date.now() - typed > 2000) {
        typed = Date.now();
        t.type(keys);
      }
      const n = await now(r);
      return n.state !== "pending" && n;
    });
    assert.deepEqual([end.state, end.response.reason], ["cancelled", reason]);
    assert.equal(p.made(), makes);
    await one(r);
  });
}

for (const [first, late] of [["chat", false], ["chat", true], ["the keyboard", false]]) {
  test(`codex: a file change has its diff on the card${late ? ", even if nod proxy codex starts later" : ""}, and ${first} is first`, late ? thorough(options) : options, async () => {
    const p = await project((file) => patch(file, "a line of the patch"));
    let c = late ? undefined : companion(p);
    const t = await inTerminal(p, "Would you like to make the following edits?", "make it");
    c ??= companion(p);
    const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
    assert.ok(JSON.stringify(r.interaction.approval.input).includes("a line of the patch"));
    if (first === "chat") await decide(r, "once");
    else t.type("y");
    await until("the file", p.made);
    const end = await closed(r);
    if (first !== "chat") assert.equal(end.response.reason, "allowed at the terminal");
    await one(r);
  });
}

test("codex: nod proxy codex may start after the dialog has opened, and again", thorough(options), async () => {
  const p = await project();
  const t = await interactive(p, "make it");
  const first = companion(p);
  const r = await card(p, () => `the card; nod proxy codex says\n${first.said()}`);
  first.run.kill("SIGKILL");
  await first.ended;
  const second = companion(p);
  await second.says("attached to Codex");
  await decide(r, "once");
  await until(() => `the command runs; nod proxy codex says\n${second.said()}`, p.made);
  await gone(t);
  await one(r);
});

test("codex: the terminal is restarted while the card is open", thorough(options), async () => {
  const p = await project();
  const c = companion(p);
  const t = await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  t.kill("SIGKILL");
  await t.ended;
  const again = await interactive(p, "resume", r.interaction.session);
  assert.equal((await now(r)).state, "pending");
  await decide(r, "once");
  await until("the command runs", p.made);
  await gone(again);
  await one(r);
});

test("codex: its app server dies, and the card closes", thorough(options), async () => {
  const p = await project();
  const c = companion(p);
  await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  p.crash();
  p.revive();
  const end = await closed(r);
  assert.match(end.response.reason, /Codex was restarted/);
  assert.ok(!p.made());
  await until(() => `attached again:\n${c.said()}`, () => c.said().split("attached to Codex").length === 3);
});

test("codex: an answer that was given while its app server was down approves nothing later", thorough(options), async (x) => {
  const p = await project();
  const c = companion(p);
  const t = await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  p.crash();
  await c.says("the connection to its app server was lost");
  await decide(r, "once");
  await c.says("not delivered");
  p.revive();
  await until(() => `attached again:\n${c.said()}`, () => c.said().split("attached to Codex").length === 3);
  // The same command again, which has the same IDs of its request and item.
  await until(() => `Codex is back, on:\n${t.text()}`, () => !/Reconnecting/.test(t.text().split("\n").slice(-12).join("\n")));
  t.type("again");
  await new Promise((done) => setTimeout(done, 500));
  t.type("\r");
  const second = await live.asked(() => `another card, with\n${t.text()}\n${c.said()}`, (n) => n.interaction.id !== r.interaction.id && n.interaction.session === r.interaction.session);
  assert.equal(second.state, "pending");
  assert.ok(!p.made());
  assert.ok(!(await now(r)).delivered);
  x.diagnostic(c.said());
});

test("codex: nod's daemon is restarted while the card is open", options, async () => {
  const p = await project();
  const c = companion(p);
  const t = await interactive(p, "make it");
  await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  await live.restart();
  await decide(await card(p, () => `the card again; nod proxy codex says\n${c.said()}`), "once");
  await until(() => `the command runs; nod proxy codex says\n${c.said()}`, p.made);
  await gone(t);
});

for (const flags of [["--no-daemon"], ["-c", "hide_agent_reasoning=true"]]) {
  test(`codex: started with ${flags[0]}, nothing appears in chat and the terminal asks`, thorough(options), async () => {
    const p = await project();
    const c = companion(p);
    const t = await interactive(p, ...flags, "make it");
    let typed = 0; // a dialog ignores keys right after it has appeared
    await until(() => `the command runs, on:\n${t.text()}`, () => {
      if (Date.now() - typed > 2000) {
        typed = Date.now();
        t.type("y");
      }
      return p.made();
    });
    const { items } = await live.asAgent("GET", "/v1/interactions");
    assert.ok(!items.some((r) => JSON.stringify(r.interaction.approval?.input ?? "").includes(p.work)), c.said());
  });
}

for (const [name, answer, says] of [
  ["another protocol", (s) => s.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "cannot work with this version of Codex"],
  ["a socket that does not answer", () => {}, "cannot connect to its app server"],
]) {
  test(`codex: ${name} is reported`, thorough(options), async () => {
    const p = await project();
    mkdirSync(join(p.home, "app-server-control"));
    const server = createServer((s) => s.once("data", () => answer(s)).on("error", () => {})).listen(p.socket);
    await once(server, "listening");
    open.push(() => server.close());
    await companion(p).says(says);
  });
}

test("codex: messages reach the turn that runs, and then the idle thread, once each", options, async () => {
  const p = await project();
  const c = companion(p);
  const t = await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  const path = `/v1/sessions/${r.interaction.session}/messages`;
  const steers = (text) => live.asPerson("POST", path, { text });
  const delivered = (m) => until(() => `the delivery; nod proxy codex says\n${c.said()}`, async () => (await live.asPerson("GET", `${path}/${m.id}`)).fate === "delivered");
  const heard = (word) => until(() => `"${word}" in the request, on:\n${t.text()}`, () => p.fake.asked.some((text) => text.includes(`'${word}'`)));
  const m = await steers("while-it-works");
  await delivered(m);
  await decide(r, "once");
  await until("the command ran", p.made);
  await heard("while-it-works");
  await until(() => `the end of the turn, on:\n${t.text()}`, () => t.text().includes("done"));
  await delivered(await steers("while-it-is-idle"));
  await heard("while-it-is-idle");
  const last = p.fake.asked.findLast((text) => text.includes("while-it-is-idle"));
  for (const word of ["while-it-works", "while-it-is-idle"]) assert.equal(last.split(`'${word}'`).length, 2, last);
});

const session = (p, what, found) => until(what, async () => {
  const { items } = await live.asPerson("GET", "/v1/sessions");
  const s = items.find((s) => s.status?.folder?.endsWith(p.work));
  return s && found(s) && s;
});

test("codex: a thread is reported: its title and folder, that it waits, and its last message", options, async () => {
  const p = await project();
  const c = companion(p);
  const t = await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  const waits = await session(p, () => `it waits; nod proxy codex says\n${c.said()}`, (s) => s.pending === 1 && s.status.state === "waiting");
  assert.deepEqual([waits.id, waits.status.title], [r.interaction.session, "make it"]);
  await decide(r, "once");
  await session(p, () => `its last message; nod proxy codex says\n${c.said()}`, (s) => s.status.last_message === "done" && s.status.waits_for === "your next message");
  t.kill();
});

test("codex: a stop interrupts the turn at once, and ends the command that runs", options, async (x) => {
  const p = await project((file) => `touch ${file} && sleep 600 && touch ${file}-late`);
  const c = companion(p);
  const t = await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  await decide(r, "once");
  await until("the command runs", p.made);
  await session(p, () => `it works; nod proxy codex says\n${c.said()}`, (s) => s.status.state === "working");
  const running = () => readdirSync("/proc").filter((n) => /^\d+$/.test(n)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${p.work}/made-late`);
    } catch {
      return false;
    }
  });
  assert.ok(running().length > 0);
  const began = Date.now();
  await live.asPerson("POST", `/v1/sessions/${r.interaction.session}/stop`, {});
  await until(() => `the command ends; nod proxy codex says\n${c.said()}\n${t.text()}`, () => running().length === 0);
  x.diagnostic(`ended after ${Date.now() - began} ms`);
  await until(() => `interrupted, on:\n${t.text()}`, () => t.text().includes("interrupted"));
});

test("codex: messages reach the thread once each and in order, although nod proxy codex is killed at any time", thorough(options), async (x) => {
  const p = await project();
  let c = companion(p);
  const t = await interactive(p, "make it");
  const r = await card(p, () => `the card; nod proxy codex says\n${c.said()}`);
  await decide(r, "once");
  await until("the command ran", p.made);
  const path = `/v1/sessions/${r.interaction.session}/messages`;
  const words = Array.from({ length: 10 }, (_, n) => `number-${n}.`);
  const sent = [];
  for (const [n, text] of words.entries()) {
    sent.push(await live.asPerson("POST", path, { text }));
    if (n !== 4) continue;
    await new Promise((done) => setTimeout(done, 40 * Math.random())); // before, while or after nod passes it on
    c.run.kill("SIGKILL");
    await c.ended;
    c = companion(p);
  }
  await until(() => `the delivery; nod proxy codex says\n${c.said()}`, async () => (await live.asPerson("GET", `${path}/${sent.at(-1).id}`)).fate === "delivered");
  await until(() => `the last message in the request, on:\n${t.text()}`, () => p.fake.asked.some((text) => text.includes(`'${words.at(-1)}'`)));
  const last = p.fake.asked.findLast((text) => text.includes(`'${words.at(-1)}'`));
  for (const word of words) assert.equal(last.split(`'${word}'`).length, 2, `${word} in ${last}`);
  assert.deepEqual([...words].sort((a, b) => last.indexOf(a) - last.indexOf(b)), words);
  x.diagnostic(`${p.fake.asked.length} requests of the model`);
});

test("codex: a version that is too old ends nod proxy codex with a clear message", { skip: !tooOld && "no old Codex found" }, async () => {
  const p = await project();
  const version = execFileSync(tooOld, ["--version"], { env: p.env }).toString().trim().split(" ").at(-1);
  const without = companion(p, { PATH: `${dirname(tooOld)}:${process.env.PATH}` });
  await without.says(`cannot work with codex-cli ${version}`);
  await without.ended;
  const socket = join(p.dir, "s.sock");
  const server = spawn(tooOld, ["app-server", "--listen", `unix://${socket}`], { env: p.env, stdio: "ignore" });
  open.push(() => server.kill()); // its child ends with it
  await until("the socket", () => existsSync(socket));
  const run = spawn(process.env.NOD_BINARY, ["proxy", "codex", "--socket", socket], { stdio: ["ignore", "ignore", "pipe"], env: { ...live.env, CODEX_HOME: p.home } });
  open.push(() => run.kill("SIGKILL"));
  let said = "";
  run.stderr.on("data", (d) => { said += d; });
  await once(run, "exit");
  assert.match(said, new RegExp(`it is Codex ${version.replaceAll(".", "\\.")}, and nod works with`));
});
