// The real Claude Code with a model of ours, hooks as nod init writes them, and
// a person who responds.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inTurn, model } from "./claude.js";
import { running, thorough, until } from "./harness.js";
import { terminal } from "./terminal.js";

const program = process.env.CLAUDE;
const options = { skip: !program && "Claude Code not found" };
const live = running(program);
const { open } = live; // what a failed test may leave open

let projects = 0;

// project makes a folder with hooks, and a model that makes tool calls there.
async function project({ gate, allow = [], calls, hook = "" }) {
  const dir = join(live.dir, `project-${++projects}`);
  const home = join(dir, "home");
  mkdirSync(join(dir, ".claude"), { recursive: true });
  mkdirSync(home);
  const settings = join(dir, ".claude", "settings.local.json");
  execFileSync(process.env.NOD_BINARY, ["init", "claude", "--file", settings, ...(gate ? ["--gate", gate] : [])], { stdio: "ignore", env: { ...process.env, PATH: "/nowhere" } });
  const s = JSON.parse(readFileSync(settings, "utf8").replaceAll("hook claude", "hook claude --patience 200ms" + hook));
  s.permissions = { allow };
  writeFileSync(settings, JSON.stringify(s));
  // The first start would ask about themes, keys and trust.
  writeFileSync(join(home, ".claude.json"), JSON.stringify({
    hasCompletedOnboarding: true, theme: "dark", customApiKeyResponses: { approved: ["sk-ant-test-key-of-nod".slice(-20)], rejected: [] },
    projects: { [dir]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  }));
  const fake = await model(calls(dir));
  open.push(fake.close);
  const env = {
    ...live.env, HOME: home, IS_SANDBOX: "1", ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: "sk-ant-test-key-of-nod",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1",
  };
  delete env.CLAUDE_CONFIG_DIR;
  return { dir, env, fake, made: (name) => existsSync(join(dir, name)), settings };
}

// headless runs claude -p to its end.
function headless(p, mode, env = {}) {
  const run = spawn(program, ["-p", "go", "--output-format", "json", "--permission-mode", mode], { cwd: p.dir, stdio: ["ignore", "pipe", "inherit"], env: { ...p.env, ...env } });
  open.push(() => run.kill("SIGKILL"));
  const ended = once(run, "exit");
  return { run, ended };
}

// interactive runs claude in a terminal.
function interactive(p, ...args) {
  const t = terminal(program, ["go", ...args], { cwd: p.dir, env: p.env });
  open.push(() => t.kill("SIGKILL"));
  return t;
}

const touch = (name) => (dir) => [{ name: "Bash", input: { command: `touch ${join(dir, name)}`, description: "Make a file" } }];
const inProject = (p) => (r) => r.interaction.approval?.where === p.dir || r.interaction.prompt.includes(p.dir);
const decide = (r, decision) => live.asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, { decision });

for (const mode of ["default", "acceptEdits", "bypassPermissions", "dontAsk"]) {
  for (const decision of ["once", "deny"]) {
    test(`claude -p, mode ${mode}: a gated command after ${decision}`, mode === "default" ? options : thorough(options), async () => {
      const p = await project({ gate: "Bash(touch *)", allow: ["Bash(touch:*)"], calls: touch("made") });
      const { ended } = headless(p, mode);
      await decide(await live.asked(p.dir, inProject(p)), decision);
      await ended;
      assert.equal(p.made("made"), decision === "once");
        });
  }
}

for (const [name, change, env] of [
  ["the daemon is unreachable", (s) => s, { NOD_URL: "http://127.0.0.1:9" }],
  ["nod is missing", (s) => s.replaceAll(process.env.NOD_BINARY, "/nowhere/nod"), {}],
  ["the token is wrong", (s) => s, { NOD_TOKEN: "wrong-token-for-this-daemon-00000000" }],
  ["the hook has an unknown flag", (s) => s.replaceAll("--patience 200ms", "--patience 200ms --unheard-of"), {}],
  ["no one answers", (s) => s.replaceAll("--patience 200ms", "--timeout 1s"), {}],
]) {
  for (const mode of ["default", "bypassPermissions"]) {
    test(`claude -p, mode ${mode}: a gated command does not run if ${name}`, mode === "default" ? options : thorough(options), async () => {
      const p = await project({ gate: "Bash(touch *)", allow: ["Bash(touch:*)"], calls: touch("made") });
      writeFileSync(p.settings, change(readFileSync(p.settings, "utf8")));
      await headless(p, mode, env).ended;
      assert.ok(p.fake.heard.length > 1 && !p.made("made"), JSON.stringify(p.fake.heard));
        });
  }
}

test("claude -p: each of three calls with one ID has a card and an answer of its own", options, async () => {
  const line = (text) => ({ id: "functions.Bash:0", name: "Bash", input: { command: `echo ${text} >>ran`, description: "Note it" } });
  const p = await project({ gate: "Bash", calls: () => inTurn(line("one"), line("one"), line("other")) });
  const { ended } = headless(p, "bypassPermissions");
  const seen = new Set();
  for (const [text, decision] of [["one", "once"], ["one", "deny"], ["other", "once"]]) {
    const r = await live.asked(text, (r) => inProject(p)(r) && !seen.has(r.interaction.id));
    seen.add(r.interaction.id);
    assert.equal(r.interaction.approval.input.command, `echo ${text} >>ran`);
    await decide(r, decision);
  }
  await ended;
  assert.deepEqual(readFileSync(join(p.dir, "ran"), "utf8").trim().split("\n"), ["one", "other"]);
});

test("claude -p: a hook that is killed blocks its call", options, async () => {
  const p = await project({ gate: "Bash(touch *)", allow: ["Bash(touch:*)"], calls: touch("made") });
  const { ended } = headless(p, "bypassPermissions", { NOD_TEST_MARK: p.dir });
  await live.asked(p.dir, inProject(p));
  const pids = execFileSync("sh", ["-c", `grep -lz '^NOD_TEST_MARK=${p.dir}$' /proc/[0-9]*/environ 2>/dev/null || true`]).toString().split("\n")
    .map((f) => f.split("/")[2]).filter((pid) => pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(process.env.NOD_BINARY));
  assert.ok(pids.length > 0, "no hook found");
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  await ended;
  assert.ok(!p.made("made"));
});

test("claude -p: five tool calls cost less than a second more with the daemon away", options, async (t) => {
  const calls = (dir) => [1, 2, 3, 4, 5].map((n) => touch(`made-${n}`)(dir)[0]);
  const took = async (away) => {
    const p = await project({ allow: ["Bash(touch:*)"], calls });
    if (!away) writeFileSync(p.settings, JSON.stringify({ permissions: { allow: ["Bash(touch:*)"] } }));
    const began = Date.now();
    await headless(p, "default", { NOD_URL: "http://127.0.0.1:9" }).ended;
    const all = Date.now() - began;
    assert.ok(p.made("made-5"));
    return all;
  };
  const without = await took(false);
  const away = await took(true);
  t.diagnostic(`${without} ms without nod, ${away} ms with the daemon away`);
  assert.ok(away - without < 5000, `${away - without} ms`); // the bound is a second on a quiet machine
});

const dialog = (t, shows) => until(() => `the dialog, on:\n${t.text()}`, () => t.text().includes(shows));
const question = { name: "AskUserQuestion", input: { questions: [{ question: "Which framework?", header: "Framework", multiSelect: false, options: [{ label: "React", description: "popular" }, { label: "Vue", description: "small" }] }] } };
const secretive = { name: "AskUserQuestion", input: { questions: [{ question: "Should I set api_key=YOUR_API_KEY in .env.example?", header: "Key", multiSelect: false, options: [{ label: "Keep it", description: "as an example" }, { label: "Remove it", description: "leave it out" }] }] } };
// Claude Code names the file for the plan in its request, and reads the plan there.
const plan = [
  (request) => ({ name: "Write", input: { file_path: /[^\s"`]+\/plans\/[^\s"`\\]+\.md/.exec(request)[0], content: "1. Extract the login\n" } }),
  { name: "ExitPlanMode", input: {} },
];

// kinds are the ways in which Claude Code asks, with what its dialog shows, the
// answer of a person in chat, and what happens after a yes.
const kinds = {
  permission: { mode: "default", calls: touch("made"), shows: "Do you want to proceed", reply: { decision: "once" }, card: inProject, then: (p) => p.made("made"), reason: "allowed at the terminal" },
  question: {
    mode: "default", calls: () => [question], shows: "Vue", reply: { answers: { q1: "Vue" } }, then: (p) => JSON.stringify(p.fake.heard.at(-1)).includes("Which framework?"),
    card: () => (r) => r.interaction.prompt.includes("Which framework?"), reason: "answered at the terminal",
  },
  "question with a credential": {
    mode: "default", calls: () => [secretive], shows: "Should I set", reply: { answers: { q1: "Keep it" } },
    then: (p) => JSON.stringify(p.fake.heard.at(-1)).includes("YOUR_API_KEY") && JSON.stringify(p.fake.heard.at(-1)).includes("Keep it"),
    card: () => (r) => r.interaction.prompt.includes("Should I set"), reason: "answered at the terminal",
  },
  plan: {
    mode: "plan", calls: () => plan, shows: "Would you like to proceed?", keys: "2", // with manual approval of edits
    reply: { answers: { plan: { decision: "approve" } } }, then: (p) => p.fake.heard.at(-1).length > 1,
    card: inProject, reason: "allowed at the terminal",
  },
  "plan without a file": {
    mode: "plan", calls: () => [{ name: "ExitPlanMode", input: {} }], shows: "Exit plan mode?", reply: { decision: "once" }, card: inProject,
    then: (p) => p.fake.heard.at(-1).length > 0, reason: "allowed at the terminal",
  },
};

for (const [kind, k] of Object.entries(kinds)) {
  for (const first of ["chat", "the keyboard"]) {
    test(`at the terminal: a ${kind} is in the dialog and on one card, and ${first} is first`, options, async () => {
      const p = await project({ calls: k.calls });
      const t = interactive(p, "--permission-mode", k.mode);
      const r = await live.asked(() => `the card, with\n${t.text()}`, k.card(p));
      await dialog(t, k.shows);
      if (first === "chat") await live.asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, k.reply);
      let typed = 0; // a dialog ignores keys right after it has appeared
      await until(() => `what a yes leads to, with\n${t.text()}`, () => {
        if (first !== "chat" && Date.now() - typed > 2000) {
          typed = Date.now();
          t.type(k.keys ?? "\r");
        }
        return k.then(p);
      });
      const closed = await until("the card closes", async () => {
        const now = await live.asAgent("GET", `/v1/interactions/${r.interaction.id}`);
        return now.state !== "pending" && now;
      });
      if (first !== "chat") assert.equal(closed.response.reason, k.reason);
      const { items } = await live.asAgent("GET", `/v1/interactions?session=${r.interaction.session}`);
      assert.equal(items.length, 1, "more than one card");
      t.kill();
      await t.ended;
    });
  }
}

test("at the terminal: no in the dialog closes the card", options, async () => {
  const p = await project({ calls: touch("made") });
  const t = interactive(p, "--permission-mode", "default");
  const r = await live.asked(() => `the card, with\n${t.text()}`, inProject(p));
  await dialog(t, kinds.permission.shows);
  t.type("\x1b");
  await live.asked("the card closes", (c) => c.interaction.id === r.interaction.id && c.response.reason === "dismissed at the terminal", "cancelled");
  assert.ok(!p.made("made"));
  t.kill();
});

test("at the terminal: the session works, waits for a person, waits for its user, and finishes", options, async (c) => {
  const p = await project({ calls: touch("made") });
  const t = interactive(p, "--permission-mode", "default");
  const seen = [];
  const session = (what, found) => until(() => `${what}, with\n${seen.at(-1)}\n${t.text()}`, async () => {
    const { items } = await live.asPerson("GET", "/v1/sessions");
    const s = items.find((s) => s.status?.folder?.endsWith(p.dir.split("/").at(-1)));
    seen.push(JSON.stringify(s));
    return s && found(s) && s;
  });
  const works = await session("works", (s) => s.status.state === "working" && s.status.message && s.status.host);
  assert.equal(works.status.title, "go");
  const r = await live.asked("the card", inProject(p));
  await session("waits for a person", (s) => s.pending === 1);
  await decide(r, "once");
  await session("waits for its user", (s) => s.pending === 0 && s.status.state === "waiting" && s.status.waits_for === "your next message");
  const waits = await session("the step is known", (s) => s.status.steps === 1);
  assert.match(waits.status.step, /^Bash: touch /);
  c.diagnostic(`last message ${JSON.stringify(waits.status.last_message)}`);
  t.type("/exit");
  await new Promise((ok) => setTimeout(ok, 500));
  t.type("\r");
  await session("finishes", (s) => s.status.state === "finished");
});

test("at the terminal: the death of claude withdraws its card", options, async (c) => {
  const p = await project({ calls: touch("made") });
  const t = interactive(p, "--permission-mode", "default");
  const r = await live.asked(() => `the card, with\n${t.text()}`, inProject(p));
  const began = Date.now();
  t.kill("SIGKILL");
  await live.asked("the card closes", (c) => c.interaction.id === r.interaction.id, "cancelled");
  c.diagnostic(`withdrawn ${Date.now() - began} ms after SIGKILL`);
});

test("at the terminal: a gate that no one answers asks there", options, async () => {
  const p = await project({ gate: "Bash(touch *)", allow: ["Bash(touch:*)"], calls: touch("made"), hook: " --timeout 1s" });
  const t = interactive(p, "--permission-mode", "default");
  await dialog(t, kinds.permission.shows);
  assert.ok(!p.made("made"));
  t.kill();
});

// steers sends a message to the session of a request, as a person.
const steers = (r, text) => live.asPerson("POST", `/v1/sessions/${r.interaction.session}/messages`, { text });
const fate = async (r, m) => (await live.asPerson("GET", `/v1/sessions/${r.interaction.session}/messages/${m.id}`)).fate;
const times = (text, word) => text.split(word).length - 1;

for (const mode of ["default", "bypassPermissions"]) {
  test(`claude -p, mode ${mode}: messages reach it after a tool call and at the end of its turn`, options, async () => {
    let r;
    const late = [];
    const p = await project({
      gate: "Bash(touch *)", allow: ["Bash(touch:*)"],
      calls: (dir) => [touch("made")(dir)[0], async () => {
        if (late.length < 2) late.push(await steers(r, `and-then-${late.length}`)); // the turn ends next
      }],
    });
    const { ended } = headless(p, mode);
    r = await live.asked(p.dir, inProject(p));
    const early = [await steers(r, "first-word"), await steers(r, "second-word")];
    await decide(r, "once");
    await ended;
    assert.deepEqual(await Promise.all([...early, ...late].map((m) => fate(r, m))), Array(4).fill("delivered"));
    const [, afterTool, first] = p.fake.asked;
    const last = p.fake.asked.at(-1);
    assert.match(afterTool, /ana wrote at [0-9:]+ UTC: 'first-word'.*'second-word'/s);
    assert.match(first, /Stop hook feedback.*'and-then-0'/s);
    assert.equal(p.fake.asked.length, 4);
    for (const word of ["first-word", "second-word"]) assert.equal(times(last, `'${word}'`), 1, word);
    assert.ok(last.includes("'and-then-1'"));
  });
}

const wakes = Number(process.env.NOD_WAKES ?? 5);

test(`at the terminal: ${wakes} messages wake the idle session, once each and in order`, thorough(options), async (c) => {
  const p = await project({ calls: () => [] });
  const t = interactive(p, "--permission-mode", "default");
  const idle = () => until(() => `the session is idle, with\n${t.text()}`, async () => {
    const { items } = await live.asPerson("GET", "/v1/sessions");
    return items.find((s) => s.status?.folder?.endsWith(p.dir.split("/").at(-1)) && s.status.state === "waiting");
  });
  const words = Array.from({ length: wakes }, (_, n) => `wake-up-${n}.`);
  const took = [];
  for (const word of words) {
    const r = { interaction: { session: (await idle()).id } };
    await new Promise((ok) => setTimeout(ok, 1000)); // the hooks at the end of the turn have run
    const began = Date.now();
    const m = await steers(r, word);
    await until(() => `${word} in the request, with\n${t.text()}`, () => p.fake.asked.at(-1).includes(`'${word}'`));
    took.push(Date.now() - began);
    await until("the delivery", async () => (await fate(r, m)) === "delivered");
  }
  await idle();
  const last = p.fake.asked.at(-1);
  for (const word of words) assert.equal(times(last, `'${word}'`), 1, word);
  assert.deepEqual([...words].sort((a, b) => last.indexOf(a) - last.indexOf(b)), words);
  assert.equal(p.fake.asked.length, 1 + words.length, "a message woke the session twice");
  c.diagnostic(`from the message to the request: ${took.join(", ")} ms`);
  t.kill();
});

test("claude -p: a message waits if the daemon stops its session, and is not delivered once it has ended", options, async () => {
  const p = await project({ gate: "Bash(touch *)", allow: ["Bash(touch:*)"], calls: touch("made") });
  const { ended } = headless(p, "default");
  const r = await live.asked(p.dir, inProject(p));
  const m = await steers(r, "never-read");
  await live.asPerson("POST", `/v1/sessions/${r.interaction.session}/stop`, {});
  await ended;
  assert.ok(!p.made("made"));
  assert.ok(!p.fake.asked.some((text) => text.includes("never-read")));
  assert.equal(await fate(r, m), "ended");
});

// yes chooses the first button of a dialog until something is true. A dialog ignores
// keys right after it has appeared.
async function yes(t, what, ok) {
  let typed = 0;
  return until(() => `${what}, with\n${t.text()}`, () => {
    if (Date.now() - typed > 2000) {
      typed = Date.now();
      t.type("\r");
    }
    return ok();
  });
}

test("at the terminal: the dialog about a file that nod cannot show stays", options, async () => {
  const p = await project({ calls: (dir) => [{ name: "Write", input: { file_path: join(dir, "made"), content: "x\n".repeat(160 << 10) } }] });
  const t = interactive(p, "--permission-mode", "default");
  await until(() => `the dialog, with\n${t.text()}`, () => t.text().includes("Do you want to create"));
  await new Promise((ok) => setTimeout(ok, 2000));
  assert.match(t.text(), /Do you want to create/);
  await yes(t, "the file", () => p.made("made"));
  const { items } = await live.asAgent("GET", "/v1/interactions");
  assert.ok(!items.some(inProject(p)), "a card");
  t.kill();
});

test("at the terminal: the dialog stays while nod is unreachable", options, async () => {
  const p = await project({ calls: touch("made") });
  p.env.NOD_URL = "http://127.0.0.1:9";
  const t = interactive(p, "--permission-mode", "default");
  await dialog(t, kinds.permission.shows);
  await new Promise((ok) => setTimeout(ok, 2000));
  await dialog(t, kinds.permission.shows);
  await yes(t, "the file", () => p.made("made"));
  t.kill();
});

test("at the terminal: a result of 1.5 MB closes the card", options, async () => {
  const p = await project({ calls: (dir) => [{ name: "Read", input: { file_path: join(dir, "big"), limit: 1 } }, { name: "Write", input: { file_path: join(dir, "big"), content: "small" } }] });
  writeFileSync(join(p.dir, "big"), "a line of text\n".repeat(100_000));
  const t = interactive(p, "--permission-mode", "default");
  const r = await live.asked(() => `the card, with\n${t.text()}`, inProject(p));
  await yes(t, "the change", () => readFileSync(join(p.dir, "big"), "utf8") === "small");
  const closed = await until("the card closes", async () => {
    const now = await live.asAgent("GET", `/v1/interactions/${r.interaction.id}`);
    return now.state !== "pending" && now;
  });
  assert.equal(closed.response.reason, "allowed at the terminal");
  t.kill();
});

test("at the terminal: a denial in chat after the yes came too late", options, async () => {
  const p = await project({ calls: (dir) => [{ name: "Bash", input: { command: `touch ${join(dir, "begun")}; sleep 4; touch ${join(dir, "made")}`, description: "Make files" } }] });
  const t = interactive(p, "--permission-mode", "default");
  const r = await live.asked(() => `the card, with\n${t.text()}`, inProject(p));
  await yes(t, "the start", () => p.made("begun"));
  await decide(r, "deny");
  await until(() => `the end, with\n${t.text()}`, () => p.made("made"));
  const now = await until("the report", async () => {
    const now = await live.asAgent("GET", `/v1/interactions/${r.interaction.id}`);
    return now.completion && now;
  });
  assert.deepEqual([now.state, now.completion.ran], ["denied", "allowed at the terminal"]);
  t.kill();
});

test("at the terminal: a message after a stop and a resume wakes the session", thorough(options), async (c) => {
  let id;
  const sessionOf = async (p) => (await live.asPerson("GET", "/v1/sessions")).items.find((s) => s.status?.folder?.endsWith(p.dir.split("/").at(-1)))?.id;
  const p = await project({
    allow: ["Bash(touch:*)"],
    calls: (dir) => [async () => {
      id = await until("the session", () => sessionOf(p));
      await live.asPerson("POST", `/v1/sessions/${id}/stop`, {});
      return touch("made")(dir)[0];
    }],
  });
  const t = interactive(p, "--permission-mode", "default");
  await until(() => `the stop, with\n${t.text()}`, () => t.text().includes("stopped by ana"));
  assert.ok(!p.made("made"));
  await live.asPerson("POST", `/v1/sessions/${id}/resume`, {});
  const began = Date.now();
  const m = await steers({ interaction: { session: id } }, "go-on-now");
  await until(() => `the message in the request, with\n${t.text()}`, () => p.fake.asked.at(-1).includes("'go-on-now'"));
  c.diagnostic(`woken after ${Date.now() - began} ms`);
  await until("the delivery", async () => (await fate({ interaction: { session: id } }, m)) === "delivered");
  t.kill();
});
