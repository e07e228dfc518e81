// The client against a server that misbehaves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, misbehave, table } from "./server.mjs";

const { digest, Nod, NodError } = await import(process.env.NOD_CLIENT ?? "../dist/index.js");
const { prompt, approval } = table.request;

// call makes the call of a case, and returns its outcome as a text.
async function call(c, server) {
  const how = c.deadline ? { deadline: c.deadline * 1000 } : {};
  const { id } = table.records.pending.interaction;
  try {
    const url = (c.url ?? "{url}").replace("{url}", server.url).replace("{host}", server.host);
    const nod = new Nod({ url, token: "token-of-the-agent", patience: 3000, window: (c.window ?? 25) * 1000 });
    if (c.do === "show") return (await nod.show(id)).state;
    if (c.do === "wait") return (await nod.wait(id)).state;
    if (c.do === "list") return (await nod.list()).items[0].state;
    if (c.do === "messages") return (await nod.messages("ship"))[0].text;
    if (c.do === "exchange") return JSON.stringify(await nod.exchange("x", {}, {}, how));
    if (c.do === "ask") return (await nod.ask("Which region?", ["eu", "us"], {}, how)) ?? "none";
    if (c.do === "decide") {
      const decision = await nod.decide(
        prompt,
        { ...approval, decisions: ["deny", "deny_reason", "once", "edit"] },
        {},
        how,
      );
      return decision.approved ? "true " + JSON.stringify(decision.input) : "false";
    }
    const approved = await nod.approve(prompt, approval, {}, how);
    assert.equal(typeof approved, "boolean");
    return String(approved);
  } catch (error) {
    if (!(error instanceof NodError)) throw error;
    return "error " + error.code;
  }
}

assert.ok(table.cases.length >= 36);
// The wall clock jumps forward and back.
const clock = Date.now;
let jump = 3_600_000;
Date.now = () => clock() + (jump = -jump);
// Sixteen cases are played at a time, even by runtimes whose tests run one after another.
const played = [];
for (const [n, c] of table.cases.entries()) {
  played[n] = Promise.allSettled([played[n - 16]]).then(() => play(c));
  played[n].catch(() => {}); // the test below fails
  test(c.name, () => played[n]);
}

async function play(c) {
  const other = await misbehave({ answers: [{ record: "approved" }] });
  const server = await misbehave(c, other.url);
  try {
    assert.equal(await call(c, server), c.want);
    assert.equal(server.seen.keys.size, c.opens ?? 1, "one caller ID");
    assert.equal(other.seen.hits, 0, "calls of another host");
    assert.equal(server.seen.cancels, c.cancels ?? 0, "cancellations");
    if (c.posts) assert.equal(server.seen.posts, c.posts);
  } finally {
    server.close();
    other.close();
  }
}

test("careless callers", async () => {
  const server = await misbehave({ answers: [{ record: "pending" }] });
  const nod = new Nod({ url: server.url, token: "token-of-the-agent", patience: 800 });
  const refused = async (what, call) => assert.rejects(call, (e) => e instanceof NodError && e.code === "invalid", what);
  const values = {
    map: new Map(), bigint: 1n, gap: [, 1], NaN: NaN, function: () => {}, promise: Promise.resolve(), bytes: new Uint8Array(2),
    class: new (class A {})(), regexp: /x/, surrogate: "\ud800", symbol: { [Symbol("command")]: "rm" }, date: new Date(NaN),
    names: Object.assign([1], { command: "rm" }), error: new Error("x"), text: new String("x"),
  };
  for (const [what, x] of Object.entries(values)) await refused(what, () => nod.approve(prompt, { input: { x } }));
  await refused("options", () => nod.ask(prompt, "yes"));
  for (const deadline of [NaN, "5", null]) await refused("deadline", () => nod.approve(prompt, approval, {}, { deadline }));
  assert.equal(server.seen.hits, 0);

  const why = new Error("the user left");
  const stop = new AbortController();
  const sent = setInterval(() => {
    if (server.seen.posts === 0) return;
    clearInterval(sent);
    stop.abort(why);
  }, 5);
  await assert.rejects(nod.approve(prompt, approval, {}, { signal: stop.signal }), (e) => e.code === "aborted" && e.cause === why);
  assert.equal(server.seen.cancels, 1);
  server.close();

  for (const ignores of [() => new Promise(() => {}), () => { throw new TypeError("no network"); }]) {
    const deaf = new Nod({ url: server.url, token: "token-of-the-agent", fetch: ignores });
    await assert.rejects(deaf.approve(prompt, approval, {}, { deadline: 50 }), (e) => e.code === "deadline");
  }
});

test("canonical JSON", async () => {
  for (const row of canonical.filter((r) => r.digest)) {
    const request = { prompt: "Go?", approval: { tool: "t", input: JSON.parse(row.json) } };
    assert.equal(await digest(request), row.digest, row.json);
  }
});
