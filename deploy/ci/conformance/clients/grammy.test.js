import assert from "node:assert/strict";
import { test } from "node:test";
import { Bot, InlineKeyboard } from "grammy";
import { start, until } from "./sandbox.js";

test("grammy runs a bot by long polling", async (t) => {
  const s = await start();
  const bot = new Bot("7000:sandbox-telegram-token", { client: { apiRoot: s.base + "/telegram" } });
  const chat = -1001000000001;
  bot.callbackQuery("yes", async (ctx) => {
    await ctx.answerCallbackQuery({ text: "noted" });
    await ctx.editMessageText("yes by " + ctx.from.first_name);
  });
  bot.on("message:text", (ctx) => ctx.reply("you said <b>" + ctx.message.text + "</b>", { parse_mode: "HTML", reply_parameters: { message_id: ctx.message.message_id } }));
  const running = bot.start({ drop_pending_updates: false });
  t.after(async () => { await bot.stop(); await running; s.stop(); });
  await until("grammy polls", async () => (await s.state()).telegram.polling);

  const sent = await bot.api.sendMessage(chat, "hello", { reply_markup: new InlineKeyboard().text("Yes", "yes") });
  const at = { service: "telegram", as: "bo", channel: String(chat), message: String(sent.message_id) };
  const messages = async () => (await s.state()).telegram.chats.find((c) => c.id === String(chat)).messages;

  const pressed = await s.act({ ...at, do: "press", control: "yes" });
  assert.equal(pressed.toast, "noted");
  const edited = await until("the edit", async () => (await messages()).find((m) => m.text === "yes by Bo Chen"));
  assert.equal(edited.reply_markup, undefined);

  await s.act({ ...at, do: "reply", text: "words" });
  const answer = await until("the reply", async () => (await messages()).find((m) => m.text === "you said words"));
  assert.deepEqual(answer.entities, [{ type: "bold", offset: 9, length: 5 }]);

  await assert.rejects(bot.api.sendMessage(chat, "x", { reply_markup: new InlineKeyboard().text("x", "d".repeat(65)) }), /BUTTON_DATA_INVALID/);
  await assert.rejects(bot.api.editMessageText(chat, sent.message_id, "yes by Bo Chen"), /message is not modified/);
});
