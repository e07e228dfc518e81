// What the real Claude Code does if a hook fails, compared with the table in
// docs/agents/failures.md. The hooks are scripts, so that each failure is exact.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { model } from "./claude.js";
import { here, thorough } from "./harness.js";

const program = process.env.CLAUDE;
const options = { skip: !program && "Claude Code not found" };
let dir;

before(() => (dir = mkdtempSync(join(here, "failures-"))));
after(() => rmSync(dir, { recursive: true, force: true }));

const denial = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}';

// The failures, by their names in the table: the command of the hook, and
// further members of its entry.
const failures = {
  "nod is missing": ["/nowhere/nod hook claude"],
  "The hook exits with 1": ["exit 1"],
  "The hook is killed": ["kill -9 $$"],
  "The hook takes longer than its `timeout`": ["sleep 20", { timeout: 1 }],
  "A JSON object with a syntax error": [`printf '%s' '{"hookSpecificOutput":{"permissionDecision":"deny"}'`],
  "A JSON object with a wrong value": [`echo '${denial.replace('"deny"', '"maybe"')}'`],
  "Text that is not JSON": ["echo hello"],
  "A log line before a denial": [`echo started; echo '${denial}'`],
  "Nothing on stdout": ["true"],
  "Exit code 2": ["echo no >&2; exit 2"],
  '`"async": true`, and a denial': [`echo '${denial}'`, { async: true }],
};

// table returns the cells of the table, by the name of the failure.
function table() {
  const text = readFileSync(join(here, "../../../docs/agents/failures.md"), "utf8").split("\n## ")[1];
  return new Map(text.split("\n").filter((l) => l.startsWith("| ")).map((l) => l.split(" | ").map((c) => c.replace(/^\| | \|$/g, ""))).map(([name, ...cells]) => [name, cells]));
}

let runs = 0;

// ran reports whether a command runs in claude -p that only a hook could stop.
// A PermissionRequest hook is tested with a command that no rule allows.
async function ran(event, hook, entry, mode) {
  const project = join(dir, `project-${++runs}`);
  const home = join(project, "home");
  mkdirSync(join(project, ".claude"), { recursive: true });
  mkdirSync(home);
  writeFileSync(join(project, "hook.sh"), hook + "\n");
  const command = hook.startsWith("/nowhere") ? hook : `sh ${join(project, "hook.sh")}`;
  writeFileSync(join(project, ".claude", "settings.local.json"), JSON.stringify({
    permissions: { allow: event === "PreToolUse" ? ["Bash(touch:*)"] : [] },
    hooks: { [event]: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 60, ...entry }] }] },
  }));
  writeFileSync(join(home, ".claude.json"), JSON.stringify({ hasCompletedOnboarding: true, projects: { [project]: { hasTrustDialogAccepted: true } } }));
  const fake = await model([{ name: "Bash", input: { command: `touch ${join(project, "made")}`, description: "Make a file" } }]);
  const env = {
    ...process.env, HOME: home, IS_SANDBOX: "1", ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: "sk-ant-test-key-of-nod",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1",
  };
  delete env.CLAUDE_CONFIG_DIR;
  const run = spawn(program, ["-p", "go", "--permission-mode", mode], { cwd: project, stdio: ["ignore", "ignore", "inherit"], env });
  const limit = setTimeout(() => run.kill("SIGKILL"), 120_000);
  await once(run, "exit");
  clearTimeout(limit);
  fake.close();
  assert.ok(fake.heard.length > 1, "Claude Code made no tool call");
  return existsSync(join(project, "made"));
}

const columns = [["PreToolUse", { onFailure: "block" }], ["PreToolUse", {}], ["PermissionRequest", {}]];

test("the table has a row for each failure", () => {
  const rows = table();
  for (const name of Object.keys(failures)) assert.ok(rows.has(name), name);
});

const version = program && execFileSync(program, ["--version"]).toString().trim();

for (const [name, [hook, entry]] of Object.entries(failures)) {
  test(`claude -p: ${name}`, thorough(options), async (t) => {
    const cells = table().get(name);
    for (const [n, [event, members]] of columns.entries()) {
      if (cells[n] === "not tested") continue;
      const got = await ran(event, hook, { ...members, ...entry }, "default");
      assert.equal(got, cells[n].startsWith("runs"), `${version}: ${event} ${JSON.stringify(members)}: the table says ${cells[n]}`);
    }
  });
}
