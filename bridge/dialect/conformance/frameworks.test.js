// The real AI SDK, LangChain and OpenAI Agents SDK with scripted models, the snippets
// of docs/agents/frameworks.md, and a person who responds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Command, MemorySaver } from "@langchain/langgraph";
import { Agent, Runner, Usage, applyPatchTool, shellTool, tool as agentTool } from "@openai/agents-core";
import { generateText, jsonSchema, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import * as langchain from "langchain";
import { running } from "./harness.js";

const live = running();

// exchange sends a message in a dialect, and waits for its answer.
const exchange = (dialect, body) => live.asAgent("POST", `/v1/dialects/${dialect}?session=frameworks&wait=1m`, body);

// scripted returns a model of the AI SDK that makes some calls, and then is done.
function scripted(calls) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let steps = 0;
  return new MockLanguageModelV4({
    doGenerate: async () =>
      steps++ === 0
        ? { content: calls, finishReason: { unified: "tool-calls" }, usage, warnings: [] }
        : { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] },
  });
}

const called = (name, n) => ({ type: "tool-call", toolCallId: `call-${n}`, toolName: name, input: JSON.stringify({ n }) });

for (const [form, parts] of Object.entries({
  snippet: (r) => r.content.filter((p) => p.type === "tool-approval-request" && !p.isAutomatic),
  "content of the result": (r) => r.content,
  "content of the message": (r) => r.response.messages[0].content,
})) {
  for (const [decision, runs] of [["once", ["mail", "wipe"]], ["deny", ["mail"]]]) {
    test(`AI SDK, ${form}: people decide only what the application leaves to them, ${decision}`, async () => {
      const ran = [];
      const runner = (name) => tool({ description: name, inputSchema: jsonSchema({ type: "object" }), execute: async () => void ran.push(name) });
      const options = {
        model: scripted([called("mail", 1), called("wipe", 2), called("spam", 3)]),
        tools: { mail: runner("mail"), wipe: runner("wipe"), spam: runner("spam") },
        toolApproval: { mail: "approved", wipe: { type: "user-approval", reason: `It is gone then (${form}, ${decision}).` }, spam: "denied" },
      };
      const messages = [{ role: "user", content: "go" }];
      const first = await generateText({ ...options, messages });
      messages.push(...first.response.messages);
      const [answer, card] = await Promise.all([exchange("ai_sdk", parts(first)), live.answers(`It is gone then (${form}, ${decision}).`, { decision })]);
      assert.deepEqual([card.interaction.approval.tool, card.interaction.approval.input], ["wipe", { n: 2 }]);
      messages.push(answer);
      assert.equal((await generateText({ ...options, messages })).text, "done");
      assert.deepEqual(ran, runs);
      const pending = await live.asAgent("GET", "/v1/interactions?session=frameworks&state=pending");
      assert.equal(pending.items.length, 0);
    });
  }
}

for (const [decision, reply, did] of [
  ["approve", { decision: "once" }, [{ n: 1 }]],
  ["edit", { decision: "edit", input: { n: 7 } }, [{ n: 7 }]],
  ["reject", { decision: "deny" }, []],
]) {
  test(`LangChain, what interruptOn: true sends: ${decision}`, async () => {
    const ran = [];
    const wipe = langchain.tool(async (input) => void ran.push(input), {
      name: "wipe", description: "wipe", schema: { type: "object", properties: { n: { type: "number" } } },
    });
    const agent = langchain.createAgent({
      model: new langchain.FakeToolCallingModel({ toolCalls: [[{ name: "wipe", args: { n: 1 }, id: "call-1" }], []] }),
      tools: [wipe], checkpointer: new MemorySaver(),
      middleware: [langchain.humanInTheLoopMiddleware({ interruptOn: { wipe: true }, descriptionPrefix: `Wipe it (${decision})` })],
    });
    const config = { configurable: { thread_id: decision } };
    const interrupted = await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
    assert.equal(interrupted.__interrupt__.length, 1);
    const resume = {};
    for (const { id, value } of interrupted.__interrupt__) {
      [resume[id]] = await Promise.all([exchange("langchain_hitl", value), live.answers(`Wipe it (${decision})`, reply)]);
    }
    await agent.invoke(new Command({ resume }), config);
    assert.deepEqual(ran, did);
  });
}

// The calls of the model of the OpenAI Agents SDK, each with what its card must show.
const wanted = [
  { call: { type: "function_call", callId: "f", name: "mail", arguments: '{"to":"x"}', status: "completed" }, tool: "mail", input: { to: "x" } },
  { call: { type: "shell_call", callId: "s", status: "completed", action: { commands: ["rm -rf build"] } }, tool: "shell", input: { command: "rm -rf build" } },
  {
    call: { type: "apply_patch_call", callId: "p", status: "completed", operation: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" } },
    tool: "apply_patch", input: { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b" },
  },
];

for (const [decision, runs] of [["once", ["mail", "shell", "apply_patch"]], ["deny", []]]) {
  test(`OpenAI Agents: people see all of each call, ${decision}`, async () => {
    const ran = [];
    let steps = 0;
    const output = [wanted.map((w) => w.call), [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] }]];
    const name = `Agent ${decision}`;
    const agent = new Agent({
      name, model: { getResponse: async () => ({ usage: new Usage(), output: output[steps++] }) },
      tools: [
        agentTool({
          name: "mail", description: "mail", strict: true, needsApproval: true, execute: async () => void ran.push("mail"),
          parameters: { type: "object", properties: { to: { type: "string" } }, required: ["to"], additionalProperties: false },
        }),
        shellTool({ needsApproval: true, shell: { run: async () => (ran.push("shell"), { output: [] }) } }),
        applyPatchTool({ needsApproval: true, editor: { updateFile: async () => (ran.push("apply_patch"), { status: "completed" }) } }),
      ],
    });
    const runner = new Runner({ tracingDisabled: true });
    let result = await runner.run(agent, "go");
    assert.equal(result.interruptions.length, 3);
    const asked = exchange("openai_agents", result.interruptions.map((i) => i.toJSON()));
    for (const w of wanted) {
      const { interaction } = await live.answers(`${name} wants to use **${w.tool}**`, { decision });
      assert.deepEqual(interaction.approval.input, w.input);
    }
    const decisions = await asked;
    result.interruptions.forEach((item, n) => {
      const d = decisions[n];
      if (d.approved) result.state.approve(item, { alwaysApprove: d.always });
      else result.state.reject(item, { alwaysReject: d.always, message: d.message });
    });
    result = await runner.run(agent, result.state);
    assert.equal(result.finalOutput, "done");
    assert.deepEqual(ran.sort(), runs.toSorted());
  });
}
