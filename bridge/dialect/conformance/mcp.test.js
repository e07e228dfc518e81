// The real Claude Code as the MCP client of nod with a model of ours, and a
// person who responds.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { model } from "./claude.js";
import { running, thorough } from "./harness.js";

const options = { skip: !(process.env.CLAUDE && process.env.MCP_SERVER) && "Claude Code or an MCP server not found" };
const live = running(!options.skip);
const { open } = live; // what a failed test may leave open

const own = ["mcp", "--session", "mcp-judge"];
const wrapped = ["mcp", "--session", "mcp-judge", "--wrap", "--name", "every", "--", process.execPath, process.env.MCP_SERVER];

let count = 0;

// hears runs claude -p with a server, and returns what the model hears of its
// tool calls.
async function hears(args, calls, { command = process.env.NOD_BINARY, env = {} } = {}) {
  const dir = join(live.dir, `mcp-${++count}`);
  mkdirSync(join(dir, "home"), { recursive: true });
  const fake = await model(calls.map((c) => async (...of) => (typeof c === "function" ? c(dir, ...of) : c)));
  open.push(fake.close);
  const server = { command, args, env: { NOD_URL: live.env.NOD_URL, NOD_TOKEN: live.env.NOD_TOKEN, NOD_TEST_MARK: dir, ...env } };
  writeFileSync(join(dir, "mcp.json"), JSON.stringify({ mcpServers: { nod: server } }));
  const run = spawn(process.env.CLAUDE, ["-p", "go", "--mcp-config", join(dir, "mcp.json"), "--strict-mcp-config", "--allowedTools", "mcp__nod"], {
    cwd: dir, stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env, HOME: join(dir, "home"), IS_SANDBOX: "1", ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: "sk-ant-test-key-of-nod",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1",
    },
  });
  open.push(() => run.kill("SIGKILL"));
  await once(run, "exit");
  return fake.heard.at(-1).map((r) => ({ failed: r.is_error === true, text: JSON.stringify(r.content) }));
}

const approval = { name: "mcp__nod__request_approval", input: { action: "Release it" } };
const echo = { name: "mcp__nod__echo", input: { message: "said-by-the-server" } };
const read = { name: "mcp__nod__messages", input: {} };

test("mcp: the model reads ten messages once each and in order", options, async () => {
  const words = Array.from({ length: 10 }, (_, n) => `number-${n}.`);
  const [, first, second, third] = await hears(own, [
    { name: "mcp__nod__notify", input: { message: "I begin" } },
    async () => {
      for (const text of words.slice(0, 7)) await live.asPerson("POST", "/v1/sessions/mcp-judge/messages", { text });
      return read;
    },
    async () => {
      for (const text of words.slice(7)) await live.asPerson("POST", "/v1/sessions/mcp-judge/messages", { text });
      return read;
    },
    read,
  ]);
  const all = first.text + second.text + third.text;
  assert.deepEqual(all.match(/number-\d\./g), words);
  assert.ok(first.text.includes("number-6.") && second.text.includes("number-9.") && third.text.includes("No one has written"), all);
});

test("mcp: a guarded tool runs after a yes", options, async () => {
  const heard = hears(wrapped, [echo]);
  const r = await live.asked("the card", ofSession);
  await live.asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, { decision: "once" });
  assert.match((await heard)[0].text, /said-by-the-server/);
});

// ran reports whether the model heard of an approval, or of what needs one.
const ran = ({ text }) => text.includes("said-by-the-server") || text.includes('\\"approved\\"');

// ofSession recognizes the requests of these tests.
const ofSession = (r) => r.interaction.session === "mcp-judge" && r.interaction.approval;

// kill kills the MCP server of nod that runs for a directory.
function kill(dir) {
  const pids = execFileSync("sh", ["-c", `grep -lz '^NOD_TEST_MARK=${dir}$' /proc/[0-9]*/environ 2>/dev/null || true`]).toString().split("\n")
    .map((f) => f.split("/")[2]).filter((pid) => pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(process.env.NOD_BINARY));
  assert.ok(pids.length > 0, "no server found");
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
}

// declining declines all requests of these tests until the run has ended, and
// returns how many. If first is given, it is called when people have been asked,
// before the first request is declined.
async function declining(run, first) {
  let running = true;
  run.finally(() => { running = false; }).catch(() => {});
  let declined = 0;
  for (; running; await new Promise((r) => setTimeout(r, 50))) {
    for (const r of (await live.asAgent("GET", "/v1/interactions?state=pending")).items.filter(ofSession)) {
      first?.();
      first = undefined;
      await live.asPerson("POST", `/v1/interactions/${r.interaction.id}/response`, { decision: "deny" });
      declined++;
    }
  }
  return declined;
}

for (const [what, args, call] of [["request_approval", own, approval], ["a guarded tool", wrapped, echo]]) {
  for (const [name, more] of [
    ["the daemon is unreachable", { env: { NOD_URL: "http://127.0.0.1:9" } }],
    ["nod is missing", { command: "/nowhere/nod" }],
  ]) {
    test(`mcp: ${name}, and ${what} fails`, thorough(options), async (t) => {
      const [heard] = await hears(args, [call], more);
      t.diagnostic(heard.text);
      assert.ok(heard.failed, heard.text);
      assert.ok(!ran(heard), heard.text);
    });
  }
  // Claude Code starts a server that was killed again if it notices in time. Then
  // it calls the tool, and people are asked in the usual way.
  for (const [when, early] of [["before the call", true], ["while it asks", false]]) {
    test(`mcp: nod is killed ${when}, and ${what} fails or asks again`, options, async (t) => {
      let at;
      const run = hears(args, [(dir) => {
        at = dir;
        if (early) kill(dir);
        return call;
      }]);
      const declined = await declining(run, early ? undefined : () => kill(at));
      const [heard] = await run;
      t.diagnostic(`declined ${declined}: ${heard.text}`);
      assert.ok(heard.failed || heard.text.includes("denied"), heard.text);
      assert.ok(!ran(heard), heard.text);
      assert.ok(early || declined > 0, "no one was asked");
    });
  }
}
