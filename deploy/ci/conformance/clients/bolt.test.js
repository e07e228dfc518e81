import assert from "node:assert/strict";
import { test } from "node:test";
import bolt from "@slack/bolt";
import { start, until } from "./sandbox.js";

const { App, SocketModeReceiver } = bolt;
const button = (id, text) => ({ type: "button", action_id: id, value: id, text: { type: "plain_text", text } });

test("@slack/bolt runs a bot over Socket Mode", async (t) => {
  const s = await start();
  const clientOptions = { slackApiUrl: s.base + "/slack/api/" };
  const app = new App({
    token: "xoxb-sandbox", clientOptions, logLevel: "error",
    receiver: new SocketModeReceiver({ appToken: "xapp-sandbox", installerOptions: { clientOptions }, logLevel: "error" }),
  });
  t.after(async () => { await app.stop(); s.stop(); });

  app.action("yes", async ({ ack, body, client }) => {
    await ack();
    await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: "yes by " + body.user.name, blocks: [] });
  });
  app.action("form", async ({ ack, body, client }) => {
    await ack();
    await client.views.open({
      trigger_id: body.trigger_id,
      view: {
        type: "modal", callback_id: "form", title: { type: "plain_text", text: "Form" }, submit: { type: "plain_text", text: "Send" }, private_metadata: body.channel.id,
        blocks: [{ type: "input", block_id: "b", label: { type: "plain_text", text: "Words" }, element: { type: "plain_text_input", action_id: "a" } }],
      },
    });
  });
  app.view("form", async ({ ack, view, client, body }) => {
    const words = view.state.values.b.a.value;
    if (words === "bad") return ack({ response_action: "errors", errors: { b: "not that" } });
    await ack();
    await client.chat.postEphemeral({ channel: view.private_metadata, user: body.user.id, text: "thanks for " + words });
  });
  await app.start();
  await until("bolt is connected", async () => (await s.state()).slack.connections === 1);

  const posted = await app.client.chat.postMessage({
    channel: "C0DEPLOYS1", text: "hello", blocks: [{ type: "section", text: { type: "mrkdwn", text: "hello" } }, { type: "actions", elements: [button("yes", "Yes"), button("form", "Form")] }],
  });
  const at = { service: "slack", as: "ana", channel: posted.channel, message: posted.ts };
  const message = async () => (await s.state()).slack.channels.find((c) => c.id === posted.channel);

  const opened = await s.act({ ...at, do: "press", control: "form" });
  assert.equal(opened.ok, true);
  // The press ends with the bot's ack; the form opens after it.
  const view = await until("the form is open", async () => (await s.state()).slack.views[0]);
  const refused = await s.act({ service: "slack", as: "ana", do: "submit", view: view.id, values: { b: ["bad"] } });
  assert.deepEqual(refused.errors, { b: "not that" });
  const taken = await s.act({ service: "slack", as: "ana", do: "submit", view: view.id, values: { b: ["good"] } });
  assert.equal(taken.ok, true);
  await until("the private note", async () => ((await message()).private || []).some((p) => p.message.text === "thanks for good"));

  assert.equal((await s.act({ ...at, do: "press", control: "yes" })).ok, true);
  await until("the update", async () => (await message()).messages[0].text === "yes by Ana Lima");

  await assert.rejects(app.client.chat.postMessage({ channel: "C0NOWHERE", text: "x" }), /channel_not_found/);
  await assert.rejects(app.client.chat.postMessage({ channel: posted.channel, text: "x", blocks: [{ type: "header", text: { type: "plain_text", text: "x".repeat(151) } }] }), /invalid_blocks/);
});

test("@slack/bolt uses every surface", async (t) => {
  const s = await start();
  const clientOptions = { slackApiUrl: s.base + "/slack/api/" };
  const app = new App({
    token: "xoxb-sandbox", clientOptions, logLevel: "error",
    receiver: new SocketModeReceiver({ appToken: "xapp-sandbox", installerOptions: { clientOptions }, logLevel: "error" }),
  });
  t.after(async () => { await app.stop(); s.stop(); });
  const seen = [];
  const text = (words) => ({ type: "plain_text", text: words });
  const view = (id) => ({
    type: "modal", callback_id: id, title: text(id),
    blocks: [{ type: "section", block_id: "s", text: text("Words"), accessory: button("push", "Push") }],
  });
  app.action("menu", async ({ ack, action, body, client }) => {
    seen.push(action.selected_option.value);
    await ack();
    await client.views.open({ trigger_id: body.trigger_id, view: view("first") });
  });
  app.action("push", async ({ ack, body, client }) => {
    await ack();
    await client.views.push({ trigger_id: body.trigger_id, view: view("second") });
  });
  app.action("who", async ({ ack, action }) => { seen.push(action.selected_user); await ack(); });
  app.message("hello", async ({ message, client }) => {
    await client.chat.postMessage({ channel: message.channel, thread_ts: message.ts, text: "*hi* <@" + message.user + ">" });
  });
  app.event("app_home_opened", async ({ event, client }) => {
    await client.views.publish({ user_id: event.user, view: { type: "home", blocks: [{ type: "header", text: text("Home of " + event.user) }] } });
  });
  await app.start();
  await until("bolt is connected", async () => (await s.state()).slack.connections === 1);

  const menu = { type: "overflow", action_id: "menu", options: [{ text: text("One"), value: "1" }, { text: text("Two"), value: "2" }] };
  const posted = await app.client.chat.postMessage({
    channel: "C0DEPLOYS1", text: "x", blocks: [{ type: "actions", block_id: "b", elements: [menu, { type: "users_select", action_id: "who" }] }],
  });
  const at = { service: "slack", as: "ana", channel: posted.channel, message: posted.ts };
  await s.act({ ...at, do: "press", control: "menu#2" });
  const first = await until("the first modal", async () => (await s.state()).slack.views[0]);
  await s.act({ service: "slack", as: "ana", do: "press", view: first.id, control: "push" });
  const second = await until("the second modal", async () => (await s.state()).slack.views[1]);
  assert.equal((await s.act({ service: "slack", as: "ana", do: "close", view: second.id })).modal, first.id);
  await s.act({ ...at, do: "press", control: "who", values: { b: ["U0BO000002"] } });
  await until("what the bot saw", async () => seen.length === 2);
  assert.deepEqual(seen, ["2", "U0BO000002"]);

  await s.act({ service: "slack", as: "bo", do: "send", channel: posted.channel, text: "hello" });
  const room = async () => (await s.state()).slack.channels.find((c) => c.id === posted.channel);
  await until("the reply", async () => (await room()).messages.some((m) => m.thread_ts && m.text.startsWith("*hi*")));
  const { messages } = await app.client.conversations.history({ channel: posted.channel });
  assert.equal(messages[0].text, "hello");
  await s.act({ service: "slack", as: "ana", do: "home" });
  await until("the Home tab", async () => (await s.state()).slack.homes.length === 1);
});
