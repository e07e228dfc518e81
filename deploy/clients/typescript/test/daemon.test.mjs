// The client against the real daemon on the sandbox.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { agent as agentToken, daemon, person as personToken } from "./server.mjs";

const { Nod, NodError } = await import(process.env.NOD_CLIENT ?? "../dist/index.js");
let live, agent, person;

before(async () => {
  live = await daemon();
  agent = new Nod({ url: live.url, token: agentToken, patience: 5000 });
  person = new Nod({ url: live.url, token: personToken });
});
after(() => live.stop());

// pending returns the ID of the pending request with a text, once its card is posted.
async function pending(text) {
  for (let n = 0; n < 400; n++) {
    const found = (await agent.list({ state: "pending", text })).items.find((r) => r.messages);
    if (found) return found.interaction.id;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error("no request with " + text);
}

// asked makes a call while a person answers its request.
async function asked(text, reply, call) {
  const result = call();
  const settled = result.catch(() => {}); // awaited below
  await person.respond(await pending(text), reply);
  await settled;
  return result;
}
const refused = (code) => (error) => error instanceof NodError && error.code === code;

test("ask", async () => {
  assert.equal(await asked("Region 1", { answers: { q: "us" } }, () => agent.ask("Region 1", ["eu", "us"])), "us");
  assert.equal(await asked("Name 1", { answers: { q: "billing" } }, () => agent.ask("Name 1")), "billing");
  assert.equal(await agent.ask("Nobody 1", ["a", "b"], { timeout: "1s" }), undefined);
});

test("approve", async () => {
  const input = {
    command: "rm -rf /x",
    n: [1, 2.5, 1e21, 1e-7, -0, 2 ** 53, 1e16],
    é: '€\u2028"\\\n',
    "\u{1f600}": null,
    "\ufb33": 1,
    gone: undefined,
  };
  for (const [decision, want] of [
    ["once", true],
    ["deny", false],
  ]) {
    const call = () => agent.approve("Approve " + decision, { tool: "shell", where: "prod", input });
    assert.equal(await asked("Approve " + decision, { decision }, call), want);
  }
  assert.equal(await agent.approve("Approve late", { input }, { timeout: "1s" }), false);
  assert.equal(await asked("Approve bare", { decision: "once" }, () => agent.approve("Approve bare")), true);
  const secret = { header: "Authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD" };
  const call = () => agent.approve("Call the API", { tool: "http", input: secret });
  assert.equal(await asked("Call the API", { decision: "once", confirm: "hidden" }, call), true);
});

test("edit", async () => {
  const call = () =>
    agent.decide("Edit me", {
      tool: "deploy",
      input: { version: 2, f: 1.5 },
      decisions: ["deny", "deny_reason", "once", "edit"],
    });
  const edited = await asked("Edit me", { decision: "edit", input: { version: 3 } }, call);
  assert.deepEqual([edited.approved, edited.input, edited.edited, edited.scope], [true, { version: 3 }, true, "once"]);
  const denied = await asked("Edit me", { decision: "deny_reason", reason: "not now" }, call);
  assert.deepEqual([denied.approved, denied.state, denied.reason], [false, "denied", "not now"]);
});

test("receipts", async () => {
  const { record } = await asked("Receipt 1", { decision: "once" }, () =>
    agent.decide("Receipt 1", { tool: "t", input: { a: 1 } }),
  );
  assert.equal(live.verify(record), 0);
  assert.equal(live.verify({ ...record, state: "denied" }), 6);
});

test("forms", async () => {
  const body = {
    prompt: "Form 1",
    questions: [
      { widget: "text", text: "Name" },
      { widget: "number", text: "Count" },
    ],
  };
  const form = await asked("Form 1", { answers: { q1: "é", q2: 2 } }, () => agent.request(body));
  assert.deepEqual(form.response.answers, { q1: "é", q2: 2 });
});

test("the life of a request", async () => {
  const first = await agent.open({ prompt: "Life 1", session: "life" }, { key: "life-1" });
  const { id } = first.interaction;
  assert.equal((await agent.open({ prompt: "Life 1", session: "life" }, { key: "life-1" })).interaction.id, id);
  await assert.rejects(agent.open({ prompt: "Life 2", session: "life" }, { key: "life-1" }), refused("conflict"));
  assert.equal((await agent.show(id)).state, "pending");
  assert.deepEqual(
    (await agent.list({ session: "life", limit: 1 })).items.map((r) => r.interaction.id),
    [id],
  );
  assert.equal((await agent.availability({ session: "life" })).available, true);
  assert.ok((await agent.defer(id, { hold: "1h", message: "later" })).queued);
  await person.respond(id, { answers: { q1: "yes" } });
  const late = await agent.messages("life", { wait: 5000 });
  assert.deepEqual(late[0].record.response.answers, { q1: "yes" });
  await agent.acknowledge("life", late.at(-1).id);
  assert.deepEqual(await agent.messages("life"), []);
  await agent.complete(id, { result: "done" });
  const next = await asked("Life again", { answers: { q1: "no" } }, () =>
    agent.reprompt(id, { prompt: "Life again", session: "life" }),
  );
  assert.equal(next.state, "answered");
  assert.equal((await agent.wait(id)).state, "answered");
  assert.equal((await agent.cancel(id)).state, "answered");
  await agent.open({ prompt: "Life 3", session: "life" });
  assert.equal((await agent.cancelSession("life", "enough")).items.length, 1);
  await assert.rejects(agent.show("0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"), refused("not_found"));
});

test("sessions", async () => {
  assert.equal((await agent.notify("Started", { session: "ship" })).interaction.kind, "notice");
  await agent.open({ prompt: "Steer 1", session: "ship" });
  await agent.reportSession("ship", { state: "working", title: "Ship it" });
  await pending("Steer 1");
  const sent = await person.steer("ship", "Use port 8080");
  const got = await agent.messages("ship", { wait: 5000, reader: "test", lease: "10s" });
  assert.equal(got[0].steering.text, "Use port 8080");
  await agent.acknowledge("ship", got.at(-1).id);
  assert.equal((await person.steering("ship", sent.id)).fate, "delivered");
  assert.equal((await agent.stop("ship"))[0].session, "ship");
  assert.ok((await agent.sessions()).some((s) => s.id === "ship"));
  assert.equal(await agent.approve("Stopped?", { input: 1 }, { session: "ship" }), false);
  assert.equal((await person.resume("ship"))[0].session, "ship");
});

test("grants, dialects and health", async () => {
  const call = () => agent.approve("Grant 1", { tool: "g", input: { a: 1 } }, { session: "granted" });
  assert.equal(await asked("Grant 1", { decision: "session" }, call), true);
  assert.equal(await call(), true); // without a person
  const [grant] = await agent.grants("granted");
  await person.revoke(grant.id);
  assert.deepEqual(await agent.grants("granted"), []);
  const parts = [
    {
      type: "tool-approval-request",
      approvalId: "a-1",
      toolCall: { toolCallId: "c", toolName: "partTool", input: {} },
    },
  ];
  const answer = await asked("partTool", { decision: "once" }, () => agent.exchange("ai_sdk", parts));
  assert.deepEqual(answer, {
    role: "tool",
    content: [{ type: "tool-approval-response", approvalId: "a-1", approved: true }],
  });
  assert.equal((await agent.health()).status, "ok");
  assert.equal((await agent.ready()).status, "ok");
});

test("deadlines and signals cancel the request", async () => {
  await assert.rejects(agent.approve("Deadline 1", { input: 1 }, {}, { deadline: 500 }), refused("deadline"));
  assert.equal((await agent.list({ text: "Deadline 1" })).items[0].state, "cancelled");
  const stop = new AbortController();
  const call = assert.rejects(agent.approve("Signal 1", { input: 1 }, {}, { signal: stop.signal }), refused("aborted"));
  const id = await pending("Signal 1");
  stop.abort();
  await call;
  assert.equal((await agent.show(id)).state, "cancelled");
  await assert.rejects(agent.approve("Signal 2", { input: 1 }, {}, { signal: stop.signal }), refused("aborted"));
  assert.equal((await agent.list({ text: "Signal 2" })).items.length, 0);
});

test("wrong arguments", async () => {
  for (const x of [NaN, 1n, "\ud800"])
    await assert.rejects(agent.approve("Wrong", { input: { x } }), refused("invalid"), String(x));
  for (const url of ["ftp://x", "http://", "http://user@host", "nonsense"])
    assert.throws(() => new Nod({ url, token: "token" }), refused("invalid"));
  assert.throws(() => new Nod({ url: live.url, token: "token\r\nX: y" }), refused("invalid"));
  await assert.rejects(agent.ask("Wrong", [], { timout: "5m" }), refused("invalid"));
  await assert.rejects(agent.show("../keys"), refused("invalid"));
});

test("limits", async () => {
  for (const [size, code] of [[200_000], [300_000, "invalid"], [2_000_000, "invalid"], [50_000_000, "invalid"]]) {
    const opening = agent.open({ prompt: "Limit", approval: { tool: "t", input: { a: "x".repeat(size) } } });
    if (code) await assert.rejects(opening, refused(code), String(size));
    else await agent.cancel((await opening).interaction.id);
  }
});
