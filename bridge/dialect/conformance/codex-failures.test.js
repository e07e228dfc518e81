// The behavior of the real Codex if a PermissionRequest hook fails, compared with
// the table in docs/agents/failures.md.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { config, model } from "./codex.js";
import { here, remove, until } from "./harness.js";
import { terminal } from "./terminal.js";

const program = process.env.CODEX;
const skip = !(program && process.env.CLAUDE_TERMINAL) && "Codex or the terminal not found";
const nod = `NOD_URL=http://127.0.0.1:9 NOD_TOKEN=x ${process.env.NOD_BINARY} hook codex --patience 200ms`;

// The failures, by their rows in the table: the commands of the hook, and
// further members of its entry.
const failures = {
  "nod is missing": [["/nowhere/nod hook codex"]],
  "The hook exits with 1, is killed, or takes too long": [["exit 1", "kill -9 $$", "sleep 30"], { timeout: 2 }],
  "Output that is not valid": [["echo '{not json'", "echo hello"]],
  "Exit code 2": [["echo no >&2; exit 2"]],
  "The daemon or its Redis is unreachable": [[nod, `${nod} --fail open`]],
  '`"onFailure": "block"`': [["exit 1"], { onFailure: "block" }],
};

const rows = new Map(readFileSync(join(here, "../../../docs/agents/failures.md"), "utf8").split("\n## ")[2].split("\n")
  .filter((l) => l.startsWith("| ")).map((l) => l.split(" | ").map((c) => c.replace(/^\| | \|$/g, ""))).map(([name, hook]) => [name, hook]));

// expected returns everything that the table says about a row.
function expected(name) {
  const cell = rows.get(name);
  return cell === "denied" ? "denied" : "asks"; // "no effect" is as without onFailure
}

const open = []; // what a failed test may leave open

after(async () => {
  for (const close of open.reverse()) await close();
});

// decided returns "asks" if the terminal asks, or "denied" if the model reads a
// denial.
async function decided(hook, entry) {
  const dir = mkdtempSync(join(tmpdir(), "codex-"));
  open.push(() => remove(dir));
  const home = join(dir, "home");
  const work = join(dir, "work");
  mkdirSync(home);
  mkdirSync(work);
  writeFileSync(join(dir, "hook.sh"), hook + "\n");
  const command = hook.startsWith("/nowhere") ? hook : `sh ${join(dir, "hook.sh")}`;
  writeFileSync(join(home, "hooks.json"), JSON.stringify({ hooks: { PermissionRequest: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 60, ...entry }] }] } }));
  const fake = await model(`touch ${join(work, "made")}`);
  open.push(fake.close);
  writeFileSync(join(home, "config.toml"), `${config(fake.url)}\n[projects."${work}"]\ntrust_level = "trusted"\n`);
  const t = terminal(program, ["--dangerously-bypass-hook-trust", "make it"], { cwd: work, env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home } });
  open.push(() => t.kill("SIGKILL"));
  const got = await until(() => `a decision, on:\n${t.text()}`, () => {
    if (t.text().includes("Would you like to run the following command?")) return "asks";
    return fake.asked.some((text) => text.includes("Rejected(")) && "denied";
  });
  assert.ok(!existsSync(join(work, "made")));
  t.kill("SIGKILL");
  return got;
}

test("the table of Codex has a row for each failure", () => {
  for (const name of Object.keys(failures)) assert.ok(rows.has(name), name);
});

describe("codex: a hook that fails", { skip, concurrency: 3 }, () => {
  for (const [name, [hooks, entry]] of Object.entries(failures)) {
    for (const hook of hooks) {
      test(`${name}: ${hook.replace(process.env.NOD_BINARY, "nod")}`, async () => assert.equal(await decided(hook, entry), expected(name)));
    }
  }
});
