// Installing nod never increases the number of questions, unless a rule of its
// policy asks: the real programs with and without nod's hooks, in each mode.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as claude from "./claude.js";
import * as codex from "./codex.js";
import * as copilot from "./copilot.js";
import { running, thorough, until } from "./harness.js";
import { terminal } from "./terminal.js";

const { CODEX, CLAUDE, CLAUDE_TERMINAL, COPILOT, NOD_BINARY } = process.env;
const rules = `
policy:
  - {name: deploys, command: ["touch *deployed"], then: ask}
`;
const live = running(CODEX || CLAUDE || COPILOT, rules);
const { open } = live; // what a failed test may leave open

let projects = 0;

// folder makes a folder for a run, with a home.
function folder() {
  const dir = join(live.dir, `run-${++projects}`);
  const home = join(dir, "home");
  const work = join(dir, "work");
  mkdirSync(home, { recursive: true });
  mkdirSync(work);
  return { dir, home, work, made: (name) => existsSync(join(work, name)) };
}

// approves approves what people are asked about calls in a folder, until stopped,
// and withdraws what it cannot approve. It returns the number of questions.
function approves(work, decision = "once") {
  let asked = 0;
  let stopped = false;
  const loop = (async () => {
    while (!stopped) {
      const { items } = await live.asAgent("GET", "/v1/interactions?state=pending");
      for (const { interaction: i } of items.filter((r) => r.messages && JSON.stringify(r.interaction).includes(work))) {
        asked++;
        if (i.kind === "approval") await live.asPerson("POST", `/v1/interactions/${i.id}/response`, { decision });
        else await live.asAgent("POST", `/v1/interactions/${i.id}/cancel`, {});
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  })();
  return async () => {
    stopped = true;
    await loop;
    return asked;
  };
}

// runCodex runs commands outside the sandbox in codex exec, and returns how many
// questions and reviews there were.
async function runCodex(reviewer, nod, names) {
  const p = folder();
  const fake = await codex.model(names.map((name) => `touch ${join(p.work, name)}`));
  open.push(fake.close);
  writeFileSync(join(p.home, "config.toml"), `${codex.config(fake.url, reviewer)}\n[projects."${p.work}"]\ntrust_level = "trusted"\n`);
  if (nod) execFileSync(NOD_BINARY, ["init", "codex", "--file", join(p.home, "hooks.json")], { stdio: "ignore", env: { ...process.env, PATH: "/nowhere" } });
  const stop = approves(p.work);
  const run = spawn(CODEX, ["--dangerously-bypass-hook-trust", "exec", "--skip-git-repo-check", "make it"], {
    cwd: p.work, stdio: "ignore", env: { ...live.env, HOME: p.home, CODEX_HOME: p.home },
  });
  open.push(() => run.kill("SIGKILL"));
  await once(run, "exit");
  return { questions: await stop(), reviews: fake.reviewed.length, made: names.filter(p.made).length };
}

const withCodex = { skip: !CODEX && "Codex not found" };

test("codex exec: a model reviews, and nod asks no one", withCodex, async () => {
  const names = ["a", "b", "c", "d"];
  const want = { questions: 0, reviews: 4, made: 4 };
  assert.deepEqual(await runCodex("auto_review", false, names), want, "without nod");
  assert.deepEqual(await runCodex("auto_review", true, names), want, "with nod");
});

test("codex exec: a model reviews, and nod asks what a rule says", withCodex, async () => {
  assert.deepEqual(await runCodex("auto_review", true, ["a", "deployed"]), { questions: 1, reviews: 1, made: 2 });
});

test("codex exec: no one reviews, and nothing is asked", thorough(withCodex), async () => {
  const want = { questions: 0, reviews: 0, made: 0 }; // without a reviewer, codex exec never asks
  assert.deepEqual(await runCodex("user", false, ["a"]), want, "without nod");
  assert.deepEqual(await runCodex("user", true, ["a"]), want, "with nod");
});

// dialogs runs Codex in its terminal, and returns the number of its dialogs and of
// questions in chat.
async function dialogs(reviewer, nod) {
  const p = folder();
  const fake = await codex.model(`touch ${join(p.work, "made")}`);
  open.push(fake.close);
  writeFileSync(join(p.home, "config.toml"), `${codex.config(fake.url, reviewer)}\n[projects."${p.work}"]\ntrust_level = "trusted"\n`);
  if (nod) execFileSync(NOD_BINARY, ["init", "codex", "--file", join(p.home, "hooks.json")], { stdio: "ignore", env: { ...process.env, PATH: "/nowhere" } });
  const stop = approves(p.work);
  const t = terminal(CODEX, ["--no-daemon", "--dangerously-bypass-hook-trust", "make it"], { cwd: p.work, env: { ...live.env, HOME: p.home, CODEX_HOME: p.home } });
  open.push(() => t.kill("SIGKILL"));
  let shown = 0;
  let typed = 0;
  await until(() => `the command runs, on:\n${t.text()}`, () => {
    if (t.text().includes("Would you like to run the following command?")) {
      shown = 1;
      if (Date.now() - typed > 2000) t.type("y"), (typed = Date.now());
    }
    return p.made("made");
  });
  t.kill("SIGKILL");
  return { dialogs: shown, questions: await stop(), reviews: fake.reviewed.length };
}

const inTerminal = { skip: !(CODEX && CLAUDE_TERMINAL) && "Codex or the terminal not found" };

for (const [reviewer, without, with_] of [
  ["user", { dialogs: 1, questions: 0, reviews: 0 }, { dialogs: 0, questions: 1, reviews: 0 }],
  ["auto_review", { dialogs: 0, questions: 0, reviews: 1 }, { dialogs: 0, questions: 0, reviews: 1 }],
]) {
  test(`codex at the terminal, reviewer ${reviewer}: as many questions with nod as without`, thorough(inTerminal), async () => {
    assert.deepEqual(await dialogs(reviewer, false), without, "without nod");
    assert.deepEqual(await dialogs(reviewer, true), with_, "with nod");
  });
}

// The calls of Claude Code: two are harmless, two edit, and two run a program.
// The automatic check of Claude Code denies one of the last two.
const calls = (work) => [
  { name: "Read", input: { file_path: join(work, "a.txt") } },
  { name: "Bash", input: { command: "ls", description: "List" } },
  { name: "Write", input: { file_path: join(work, "b.txt"), content: "b" } },
  { name: "Edit", input: { file_path: join(work, "a.txt"), old_string: "one", new_string: "two" } },
  { name: "Bash", input: { command: "python3 -c 'print(1)'", description: "Print" } },
  { name: "Bash", input: { command: "python3 -c 'print(2)'", description: "Print the flagged number" } },
];

// runClaude runs claude -p, and returns how many calls it denied and how many
// questions there were in chat.
async function runClaude(mode, nod) {
  const p = folder();
  writeFileSync(join(p.work, "a.txt"), "one");
  mkdirSync(join(p.work, ".claude"));
  if (nod) execFileSync(NOD_BINARY, ["init", "claude", "--file", join(p.work, ".claude", "settings.local.json")], { stdio: "ignore", env: { ...process.env, PATH: "/nowhere" } });
  writeFileSync(join(p.home, ".claude.json"), JSON.stringify({ hasCompletedOnboarding: true, projects: { [p.work]: { hasTrustDialogAccepted: true } } }));
  const fake = await claude.model(calls(p.work), (call) => JSON.stringify(call).includes("flagged"));
  open.push(fake.close);
  const env = {
    ...live.env, HOME: p.home, IS_SANDBOX: "1", ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: "sk-ant-test-key-of-nod",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_AUTO_MODE_SERVER: "1",
  };
  delete env.CLAUDE_CONFIG_DIR;
  const stop = approves(p.work);
  const run = spawn(CLAUDE, ["-p", "go", "--output-format", "json", "--permission-mode", mode], { cwd: p.work, stdio: ["ignore", "pipe", "inherit"], env });
  open.push(() => run.kill("SIGKILL"));
  let said = "";
  run.stdout.on("data", (d) => { said += d; });
  await once(run, "exit");
  const result = JSON.parse(said);
  return { denied: result.permission_denials.length, questions: await stop() };
}

const withClaude = { skip: !CLAUDE && "Claude Code not found" };

for (const [mode, denied] of [["auto", 1], ["default", 4], ["acceptEdits", 2], ["dontAsk", 4], ["bypassPermissions", 0]]) {
  test(`claude -p, mode ${mode}: no more questions than calls that it would ask about`, mode === "auto" ? withClaude : thorough(withClaude), async () => {
    const asks = ["default", "acceptEdits"].includes(mode);
    assert.deepEqual(await runClaude(mode, false), { denied, questions: 0 }, "without nod");
    assert.deepEqual(await runClaude(mode, true), asks ? { denied: 0, questions: denied } : { denied, questions: 0 }, "with nod");
  });
}

// runCopilot runs commands in copilot -p. It returns how many questions there were,
// which commands ran, and what the model read.
async function runCopilot(names, { nod = true, args = [], decision = "once", env = {}, change = (s) => s } = {}) {
  const p = folder();
  const hooks = join(p.home, ".copilot", "hooks", "nod.json");
  const fake = await copilot.model(names.map((name) => `touch ${join(p.work, name)}`));
  open.push(fake.close);
  if (nod) {
    execFileSync(NOD_BINARY, ["init", "copilot", "--file", hooks], { stdio: "ignore", env: { ...process.env, PATH: "/nowhere" } });
    writeFileSync(hooks, change(readFileSync(hooks, "utf8").replace("hook copilot", "hook copilot --patience 200ms")));
  }
  const stop = approves(p.work, decision);
  const run = spawn(COPILOT, ["-p", "go", ...args], {
    cwd: p.work, stdio: "ignore",
    env: { ...live.env, HOME: p.home, COPILOT_OFFLINE: "true", COPILOT_PROVIDER_BASE_URL: fake.url, COPILOT_MODEL: "gpt-4.1", ...env },
  });
  open.push(() => run.kill("SIGKILL"));
  await once(run, "exit");
  return { questions: await stop(), made: names.filter(p.made), heard: fake.heard.join("\n") };
}

const withCopilot = { skip: !COPILOT && "Copilot CLI not found" };

for (const [name, args, without] of [["all tools allowed", ["--allow-all-tools"], ["a"]], ["one tool allowed", ["--allow-tool", "shell(touch:*)"], ["a"]], ["nothing allowed", [], []]]) {
  test(`copilot -p, ${name}: nod asks only what a rule says`, name === "all tools allowed" ? withCopilot : thorough(withCopilot), async () => {
    const plain = await runCopilot(["a"], { nod: false, args });
    assert.deepEqual([plain.questions, plain.made], [0, without], "without nod");
    const same = await runCopilot(["a"], { args });
    assert.deepEqual([same.questions, same.made], [0, without], "with nod");
    const ruled = await runCopilot(["a", "deployed"], { args });
    assert.deepEqual([ruled.questions, ruled.made], [1, [...without, "deployed"]], "a rule asks");
  });
}

test("copilot -p: a denial in chat blocks the call, with the reason", withCopilot, async () => {
  const { questions, made, heard } = await runCopilot(["deployed"], { args: ["--allow-all-tools"], decision: "deny" });
  assert.deepEqual([questions, made], [1, []]);
  assert.match(heard, /Denied by ana/);
});

for (const [name, options, made] of [
  ["nod is missing", { change: (s) => s.replace(NOD_BINARY, "/nowhere/nod") }, []],
  ["nod exits with an error", { change: (s) => s.replace(/"bash": "[^"]*"/, '"bash": "exit 1"') }, []],
  ["the hook takes too long", { change: (s) => s.replace(/"bash": "[^"]*"/, '"bash": "sleep 30"').replace("86400", "1") }, ["a"]],
  ["the daemon is unreachable", { env: { NOD_URL: "http://127.0.0.1:9" } }, ["a"]],
]) {
  test(`copilot -p, all tools allowed: ${name}`, thorough(withCopilot), async () => {
    assert.deepEqual((await runCopilot(["a"], { args: ["--allow-all-tools"], ...options })).made, made);
  });
}
