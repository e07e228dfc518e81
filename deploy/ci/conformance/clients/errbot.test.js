// errbot is a program of Python, which PYTHON_ERRBOT has.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { start, until } from "./sandbox.js";

const python = process.env.PYTHON_ERRBOT;
const options = { skip: python ? false : "PYTHON_ERRBOT is not set" };

test("errbot answers commands in Telegram", options, async (t) => {
  const s = await start();
  const folder = mkdtempSync(join(tmpdir(), "nod-errbot-"));
  const config = fileURLToPath(new URL("errbotconfig.py", import.meta.url));
  const bot = spawn(python, ["-W", "ignore", "-B", "-m", "errbot.cli", "-c", config], {
    cwd: folder,
    env: { ...process.env, SANDBOX: s.base, TOKEN: "7000:sandbox-telegram-token" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(bot, "exit");
  t.after(async () => {
    bot.kill("SIGKILL");
    await ended;
    s.stop();
    rmSync(folder, { recursive: true });
  });
  await until("errbot polls", async () => (await s.state()).telegram.polling);
  for (const [channel, text, answer] of [
    ["-1001000000001", "/echo deploy 42", "deploy 42"],
    ["7002", "/echo deploy **43**", "deploy 43"],
  ]) {
    await s.act({ service: "telegram", as: "bo", do: "send", channel, text });
    const messages = async () => (await s.state()).telegram.chats.find((c) => c.id === channel).messages;
    await until(answer, async () => (await messages()).find((m) => m.text === answer && m.from.is_bot));
  }
});
