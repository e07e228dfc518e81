import assert from "node:assert/strict";
import { test } from "node:test";
import { Bot, InlineKeyboardBuilder, InputFile } from "node-telegram-bot-api";
import { start, until } from "./sandbox.js";

test("node-telegram-bot-api runs a bot by long polling", async (t) => {
  const s = await start();
  const bot = new Bot("7000:sandbox-telegram-token", { apiRoot: s.base + "/telegram" });
  const chat_id = -1001000000001;
  const failures = [];
  bot.catch((err) => failures.push(err));
  bot.command("start", (ctx) => ctx.reply("started by " + ctx.from.username));
  bot.hears(/repeat (.+)/, (ctx) => ctx.reply(`<b>${ctx.match[1]}</b>`, { parse_mode: "HTML" }));
  bot.on("callback_query", async (ctx) => {
    await ctx.answerCallbackQuery({ text: "noted" });
    const { message_id } = ctx.callbackQuery.message;
    await ctx.api.editMessageText({ chat_id, message_id, text: "yes by " + ctx.from.first_name });
  });
  const running = bot.startPolling();
  t.after(async () => {
    bot.stop();
    await running;
    s.stop();
  });
  await until("the bot polls", async () => (await s.state()).telegram.polling);
  assert.equal((await bot.api.getMe()).username, "nod_sandbox_bot");

  const reply_markup = new InlineKeyboardBuilder().text("Yes", "yes").url("Docs", "https://example.com/").build();
  const { message_id } = await bot.api.sendMessage({ chat_id, text: "hello", reply_markup });
  const at = { service: "telegram", as: "bo", channel: String(chat_id), message: String(message_id) };
  const messages = async () => (await s.state()).telegram.chats.find((c) => c.id === at.channel).messages;
  const said = (text) => until(text, async () => (await messages()).find((m) => m.text === text));
  assert.equal((await s.act({ ...at, do: "press", control: "yes" })).toast, "noted");
  assert.equal((await said("yes by Bo Chen")).reply_markup, undefined);
  await s.act({ ...at, do: "send", text: "/start@nod_sandbox_bot" });
  await said("started by bo_tg");
  await s.act({ ...at, do: "reply", text: "repeat words" });
  assert.deepEqual((await said("words")).entities, [{ type: "bold", offset: 0, length: 5 }]);

  const plan = new InputFile(Buffer.from("a plan"), { filename: "plan.txt" });
  const { document } = await bot.api.sendDocument({ chat_id, document: plan, caption: "the plan" });
  assert.deepEqual([document.file_name, document.file_size], ["plan.txt", 6]);
  await assert.rejects(bot.api.sendMessage({ chat_id, text: "x".repeat(4097) }), /message is too long/);
  assert.deepEqual(failures, []);
});
