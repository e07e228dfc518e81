// Checks answers against the type definitions and schemas that agents publish.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import ts from "typescript";
import { goldens } from "./goldens.js";

const here = fileURLToPath(new URL(".", import.meta.url));

// check compiles one constant per answer with the type that the agent expects.
function check(lines) {
  const dir = mkdtempSync(join(here, "check-"));
  try {
    const file = join(dir, "check.ts");
    writeFileSync(file, lines.join("\n"));
    const program = ts.createProgram([file], {
      strict: true, noEmit: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022, types: [],
    });
    const text = (d) => `${d.file?.fileName ?? ""}:${d.start ?? ""} ${ts.flattenDiagnosticMessageText(d.messageText, "\n")}`;
    return ts.getPreEmitDiagnostics(program).filter((d) => !d.file || d.file.fileName === file).map(text);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const constants = (type, answers) => Object.entries(answers).map(([name, v], n) => `export const c${type}${n}: ${type} = ${JSON.stringify(v)}; // ${name}`);

test("Claude Code accepts the answers of hooks and of its control protocol", () => {
  const all = goldens("claudecode");
  const hooks = Object.fromEntries(Object.entries(all).filter(([, v]) => v.hookSpecificOutput || Object.keys(v).length === 0));
  const control = Object.fromEntries(Object.entries(all).filter(([, v]) => v.type === "control_response").map(([k, v]) => [k, v.response.response]));
  const prompt = Object.fromEntries(Object.entries(all).filter(([, v]) => v.behavior && !v.request_id));
  assert.ok(Object.keys(hooks).length > 15 && Object.keys(control).length > 4 && Object.keys(prompt).length > 1);
  assert.deepEqual(check([
    'import type { PermissionResult, SyncHookJSONOutput } from "@anthropic-ai/claude-agent-sdk";',
    ...constants("SyncHookJSONOutput", hooks), ...constants("PermissionResult", { ...control, ...prompt }),
  ]), []);
  // Make sure that the check detects a wrong answer.
  assert.notDeepEqual(check(['import type { PermissionResult } from "@anthropic-ai/claude-agent-sdk";', 'export const c: PermissionResult = { behavior: "maybe" };']), []);
});

test("LangChain accepts the decisions", () => {
  const { js, "js-silence": silence } = goldens("langchain");
  assert.deepEqual(check(['import type { HITLResponse } from "langchain";', ...constants("HITLResponse", { js, silence })]), []);
});

test("the AI SDK accepts the tool messages", () => {
  assert.deepEqual(check(['import type { ToolModelMessage } from "ai";', ...constants("ToolModelMessage", goldens("aisdk"))]), []);
});

test("ACP's schema accepts the outcomes", () => {
  const path = createRequire(import.meta.url).resolve("@agentclientprotocol/sdk").replace(/dist\/.*/, "schema/v1/schema.json");
  const schema = JSON.parse(readFileSync(path, "utf8"));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(schema, "acp");
  const defs = schema.$defs ? "$defs" : "definitions";
  const valid = (name, v) => ajv.validate({ $ref: `acp#/${defs}/${name}` }, v) || ajv.errorsText();
  for (const [name, v] of Object.entries(goldens("acp"))) {
    assert.equal(valid(v.outcome ? "RequestPermissionResponse" : "CreateElicitationResponse", v), true, name);
  }
  assert.notEqual(valid("RequestPermissionResponse", { outcome: { outcome: "perhaps" } }), true);
});

test("MCP's schema accepts the forms", () => {
  for (const [name, v] of Object.entries({ ...goldens("acp"), ...goldens("codex") })) {
    if (!v.action) continue;
    const { _meta, content, ...rest } = v;
    assert.ok(ElicitResultSchema.safeParse(content === null ? rest : { ...rest, content }).success, name);
  }
});

test("Codex's own generated schema accepts the answers", { skip: !process.env.CODEX && "Codex not found" }, () => {
  const dir = mkdtempSync(join(here, "codex-"));
  try {
    execFileSync(process.env.CODEX, ["app-server", "generate-json-schema", "--experimental", "--out", dir], { stdio: "ignore", env: { ...process.env, HOME: dir, CODEX_HOME: dir } });
    const kinds = {
      command: "CommandExecutionRequestApprovalResponse", network: "CommandExecutionRequestApprovalResponse", file: "FileChangeRequestApprovalResponse",
      permissions: "PermissionsRequestApprovalResponse", input: "ToolRequestUserInputResponse", elicitation: "McpServerElicitationRequestResponse", legacy: "ExecCommandApprovalResponse",
    };
    let n = 0;
    for (const [name, v] of Object.entries(goldens("codex"))) {
      const kind = kinds[name.split("-")[0]];
      if (!kind) continue; // hooks
      const schema = JSON.parse(readFileSync(join(dir, `${kind}.json`), "utf8"));
      const ajv = new Ajv({ strict: false, validateFormats: false });
      assert.ok(ajv.validate(schema, v), `${name}: ${ajv.errorsText()}`);
      n++;
    }
    assert.ok(n > 15);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
