import assert from "node:assert/strict";
import { test } from "node:test";
import { Markup, Telegraf } from "telegraf";
import { start, until } from "./sandbox.js";

test("telegraf runs a bot by long polling", async (t) => {
  const s = await start();
  const bot = new Telegraf("7000:sandbox-telegram-token", { telegram: { apiRoot: s.base + "/telegram/" } });
  const chat = -1001000000001;
  bot.command("start", (ctx) => ctx.reply("started by " + ctx.from.username));
  bot.action("yes", async (ctx) => {
    await ctx.answerCbQuery("noted");
    await ctx.editMessageText("yes by " + ctx.from.first_name, Markup.inlineKeyboard([Markup.button.callback("Undo", "undo")]));
  });
  bot.action("undo", async (ctx) => {
    await ctx.editMessageReplyMarkup(undefined);
    await ctx.answerCbQuery();
  });
  bot.on("text", (ctx) =>
    ctx.replyWithHTML("you said <b>" + ctx.message.text + "</b>", { reply_parameters: { message_id: ctx.message.message_id } }),
  );
  const failures = [];
  bot.catch((err) => failures.push(err));
  const running = bot.launch();
  t.after(async () => {
    bot.stop();
    await running;
    s.stop();
  });
  await until("telegraf polls", async () => (await s.state()).telegram.polling);
  assert.equal(bot.botInfo.username, (await bot.telegram.getMe()).username);

  const sent = await bot.telegram.sendMessage(
    chat,
    "hello",
    Markup.inlineKeyboard([Markup.button.callback("Yes", "yes"), Markup.button.url("Docs", "https://example.com/")]),
  );
  const at = { service: "telegram", as: "bo", channel: String(chat), message: String(sent.message_id) };
  const messages = async () => (await s.state()).telegram.chats.find((c) => c.id === String(chat)).messages;
  assert.equal((await s.act({ ...at, do: "press", control: "yes" })).toast, "noted");
  await until("the edit", async () => (await messages()).find((m) => m.text === "yes by Bo Chen"));
  await s.act({ ...at, do: "press", control: "undo" });
  await until("the keyboard is gone", async () => (await messages()).find((m) => m.text === "yes by Bo Chen" && !m.reply_markup));

  await s.act({ ...at, do: "reply", text: "words" });
  await until("the reply", async () =>
    (await messages()).find((m) => m.text === "you said words" && m.entities[0].type === "bold"),
  );
  await s.act({ ...at, do: "send", text: "/start@nod_sandbox_bot" });
  await until("the answer to a command", async () => (await messages()).find((m) => m.text === "started by bo_tg"));

  const file = await bot.telegram.sendDocument(
    chat,
    { source: Buffer.from("a plan"), filename: "plan.txt" },
    { caption: "the plan" },
  );
  assert.deepEqual([file.document.file_name, file.document.file_size, file.caption], ["plan.txt", 6, "the plan"]);
  await bot.telegram.deleteMessage(chat, file.message_id);
  await assert.rejects(bot.telegram.sendMessage(chat, "x".repeat(4097)), /message is too long/);
  await assert.rejects(
    bot.telegram.sendMessage(-1009999999999, "x"),
    (e) => e.response.error_code === 400 && /chat not found/.test(e.description),
  );
  assert.deepEqual(failures, []);
});
