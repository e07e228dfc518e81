// Recipes of deploy/recipes with the real binary: LangGraph itself, and a strict
// replacement of n8n.
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MemorySaver } from "@langchain/langgraph";
import ts from "typescript";
import { running, until } from "./harness.js";

const recipes = fileURLToPath(new URL("../../../deploy/recipes/", import.meta.url));
const source = fileURLToPath(new URL("../../../deploy/clients/typescript/", import.meta.url));
const live = running();

// client compiles the package @nodbridge/nod, and returns its class.
async function client() {
  const { config } = ts.readConfigFile(join(source, "tsconfig.json"), ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    { ...config, compilerOptions: { ...config.compilerOptions, skipLibCheck: true } },
    ts.sys,
    source,
  );
  const dist = join(live.dir, "dist");
  const emitted = ts.createProgram(fileNames, { ...options, outDir: dist }).emit();
  assert.equal(emitted.emitSkipped, false);
  return (await import(pathToFileURL(join(dist, "index.js")))).Nod;
}

test("the LangGraph recipe deploys only after a yes, including after a restart", async () => {
  const Nod = await client();
  const nod = new Nod({ url: live.url, token: live.env.NOD_TOKEN });
  const name = join(live.dir, "graph.mjs");
  cpSync(join(recipes, "langgraph/graph.mjs"), name);
  const { graph, run } = await import(pathToFileURL(name));
  const deployed = [];
  const deploy = async (version) => {
    deployed.push(version);
    return true;
  };
  const app = graph(deploy, new MemorySaver());
  const denied = run(app, nod, "thread-1", "v1");
  await live.answers("Deploy v1?", { decision: "deny" });
  assert.notEqual((await denied).deployed, true);
  assert.deepEqual(deployed, []);
  // The process ends while it waits: its call fails, and the graph stays interrupted.
  const checkpointer = new MemorySaver();
  const dying = {
    approve: (prompt, approval, fields, how) =>
      nod.open({ prompt, approval, ...fields }, how).then(() => {
        throw new Error("the process ended");
      }),
  };
  await assert.rejects(run(graph(deploy, checkpointer), dying, "thread-2", "v2"), /ended/);
  const resumed = run(graph(deploy, checkpointer), nod, "thread-2", "v2");
  await live.answers("Deploy v2?", { decision: "once" });
  assert.equal((await resumed).deployed, true);
  assert.deepEqual(deployed, ["v2"]);
  const { items } = await live.asAgent("GET", "/v1/interactions?session=thread-2");
  assert.equal(items.length, 1, "a restart asks again");
});

// fields checks that an object has no other fields.
function fields(object, names) {
  for (const name of Object.keys(object)) assert.ok(names.includes(name), `unknown field ${name}`);
}

// n8n runs a workflow with the nodes that the recipe uses, as n8n does. A call
// of nod to its webhook starts the branch of Told. If that call is lost, the time of
// the Wait node passes at once.
async function n8n(flow, input, execution, hosts, lost = false) {
  const resumeUrl = `https://n8n.example.com/webhook-waiting/${execution}?signature=${randomUUID()}`;
  let resumed = false;
  const waits = async (node) => {
    fields(node.parameters, ["resume", "limitWaitTime", "limitType", "resumeAmount", "resumeUnit", "options"]);
    assert.deepEqual([node.parameters.resume, node.parameters.limitWaitTime], ["webhook", true]);
    if (lost) {
      await new Promise((r) => setTimeout(r, 100));
      return {};
    }
    const told = await until("nod tells the webhook", () => live.told.find((t) => t.body.includes(resumeUrl)));
    await executes(flow, "Told", { body: JSON.parse(told.body), headers: told.headers }, execution, hosts, {
      resumeUrl,
      resume: () => (resumed = true),
    });
    assert.ok(resumed, "the execution was not resumed");
    return {};
  };
  await executes(flow, "Start", { body: input }, execution, hosts, { resumeUrl, waits });
}

// executes runs the nodes from a trigger on.
async function executes(flow, trigger, item, execution, hosts, { resumeUrl, waits, resume }) {
  const nodes = Object.fromEntries(flow.nodes.map((n) => [n.name, n]));
  const results = {};
  const value = (text) => {
    if (typeof text !== "string" || !text.startsWith("=")) return text;
    const run = (code) =>
      new Function("$json", "$execution", "$", `return (${code})`)(item, { id: execution, resumeUrl }, (name) => ({
        item: { json: results[name] },
      }));
    const whole = /^=\{\{((?:(?!\}\} *\{\{)[^])*)\}\}$/.exec(text);
    return whole ? run(whole[1]) : text.slice(1).replace(/\{\{(.*?)\}\}/g, (_, code) => String(run(code)));
  };
  const http = async (node) => {
    const p = node.parameters;
    fields(p, [
      "method",
      "url",
      "authentication",
      "genericAuthType",
      "sendHeaders",
      "headerParameters",
      "sendBody",
      "specifyBody",
      "jsonBody",
      "options",
    ]);
    const url = new URL(value(p.url));
    const headers = Object.fromEntries((p.headerParameters?.parameters ?? []).map((h) => [h.name, value(h.value)]));
    if (p.genericAuthType) {
      assert.deepEqual([p.genericAuthType, node.credentials.httpHeaderAuth.name], ["httpHeaderAuth", "nod"]);
      headers.Authorization = `Bearer ${live.env.NOD_TOKEN}`;
    }
    if (url.href === resumeUrl) {
      resume();
      return {};
    }
    assert.ok(hosts[url.host], `unknown host ${url.host}`);
    const body = p.sendBody ? value(p.jsonBody) : undefined;
    if (body) JSON.parse(body);
    const resp = await fetch(hosts[url.host] + url.pathname + url.search, {
      method: p.method,
      headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
      body,
      redirect: "manual",
    });
    if (!resp.ok) throw new Error(`status ${resp.status}: ${await resp.text()}`);
    return resp.json();
  };
  const set = (node) => {
    const p = node.parameters;
    fields(p, ["assignments", "includeOtherFields", "options"]);
    const added = p.assignments.assignments.map((a) => [a.name, value(a.value)]);
    return { ...(p.includeOtherFields && item), ...Object.fromEntries(added) };
  };
  const holds = (c) => {
    assert.equal(c.operator.type, "string");
    const left = value(c.leftValue);
    if (c.operator.operation === "startsWith") return left.startsWith(value(c.rightValue));
    assert.equal(c.operator.operation, "equals");
    return left === value(c.rightValue);
  };
  for (let name = trigger, steps = 0; name; steps++) {
    assert.ok(steps < 200, "endless");
    const node = nodes[name];
    let output = 0;
    if (node.type === "n8n-nodes-base.httpRequest") item = await http(node);
    else if (node.type === "n8n-nodes-base.set") item = set(node);
    else if (node.type === "n8n-nodes-base.wait") item = await waits(node);
    else if (node.type === "n8n-nodes-base.if") output = node.parameters.conditions.conditions.every(holds) ? 0 : 1;
    else assert.equal(node.type, "n8n-nodes-base.webhook");
    results[name] = item;
    name = flow.connections[name]?.main[output]?.[0]?.node;
  }
}

test("the n8n recipe deploys only after a yes", async () => {
  const flow = JSON.parse(readFileSync(join(recipes, "n8n/workflow.json"), "utf8"));
  const deployed = [];
  const target = createServer(async (req, res) => {
    let body = "";
    for await (const part of req) body += part;
    deployed.push(body);
    res.setHeader("Content-Type", "application/json");
    res.end("{}");
  }).listen(0, "127.0.0.1");
  await once(target, "listening");
  const hosts = { "nod.example.com": live.url, "deploy.example.com": `http://127.0.0.1:${target.address().port}` };
  try {
    const denied = n8n(flow, { version: "n1" }, "71", hosts);
    await live.answers("Deploy n1?", { decision: "deny" });
    await denied;
    assert.deepEqual(deployed, []);
    const approved = n8n(flow, { version: "n2" }, "72", hosts);
    await live.answers("Deploy n2?", { decision: "once" });
    await approved;
    assert.deepEqual(deployed, ['{"version":"n2"}']);
    // Another database of n8n counts its executions from the start.
    const again = n8n(flow, { version: "n2" }, "72", hosts);
    await live.answers("Deploy n2?", { decision: "deny" });
    await again;
    assert.equal(deployed.length, 1);
    // The answer to another request is not a yes.
    const { items } = await live.asAgent("GET", "/v1/interactions?session=n8n-72");
    const proxy = createServer((req, res) => {
      const other = structuredClone(items[0]);
      if (req.method === "POST")
        Object.assign(other, {
          state: "pending",
          interaction: { ...other.interaction, id: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03" },
        });
      res.setHeader("Content-Type", "application/json");
      res.end(JSON.stringify(other));
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    await n8n(flow, { version: "n3" }, "73", {
      ...hosts,
      "nod.example.com": `http://127.0.0.1:${proxy.address().port}`,
    }, true);
    proxy.close();
    assert.equal(deployed.length, 1);
    // An address of another host is not called.
    const forged = { body: { data: { interaction: { metadata: { resume_url: "https://other.example.com/webhook-waiting/1" } } } } };
    await executes(flow, "Told", forged, "74", {}, {});
    // Without the webhook, the workflow looks for itself.
    const alone = n8n(flow, { version: "n4" }, "75", hosts, true);
    await live.answers("Deploy n4?", { decision: "once" });
    await alone;
    assert.deepEqual(deployed.slice(1), ['{"version":"n4"}']);
  } finally {
    target.close();
  }
});
