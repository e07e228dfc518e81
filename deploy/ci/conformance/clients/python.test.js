// Libraries of Python, which PYTHON_CLIENTS has.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { start, until } from "./sandbox.js";

const python = process.env.PYTHON_CLIENTS;
const options = { skip: python ? false : "PYTHON_CLIENTS is not set" };

// run starts a script with the address of the sandbox and more arguments.
function run(script, ...args) {
  return spawn(python, [fileURLToPath(new URL(script, import.meta.url)), ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

test("discord.py runs a bot over the gateway", options, async (t) => {
  const s = await start();
  const bot = run("discordpy.py", s.base);
  t.after(() => { bot.kill(); s.stop(); });
  const lines = createInterface({ input: bot.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  const { message, ...said } = await next();
  assert.deepEqual(said, { user: "nod", content: "hello again", file: "plan.py" });
  assert.deepEqual(await next(), { code: 50035 });
  const channel = "100000000000000002";
  assert.equal((await s.act({ service: "discord", as: "cy", do: "press", channel, message, control: "yes" })).ok, true);
  const shown = async () => (await s.state()).discord.channels.find((c) => c.id === channel);
  await until("the edit", async () => (await shown()).messages.some((m) => m.content === "yes by cy"));
  await until("the private answer", async () => ((await shown()).private ?? []).some((p) => p.message.content === "thanks"));
});

test("apprise notifies channels by their names", options, async (t) => {
  const s = await start();
  t.after(() => s.stop());
  const [code] = await once(run("notify.py", s.base, "xoxb-sandbox", "7000:sandbox-telegram-token", "-1001000000001"), "exit");
  assert.equal(code, 0);
  const { slack, telegram } = await s.state();
  for (const [chats, id] of [[slack.channels, "C0DEPLOYS1"], [telegram.chats, "-1001000000001"]]) {
    const { messages } = chats.find((c) => c.id === id);
    for (const words of ["Deploy 42", "is done"]) assert.ok(JSON.stringify(messages).includes(words), words);
  }
});
