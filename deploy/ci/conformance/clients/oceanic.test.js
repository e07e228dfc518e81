import assert from "node:assert/strict";
import { test } from "node:test";
import { ApplicationCommandTypes, ButtonStyles, Client, ComponentTypes, MessageFlags, TextInputStyles } from "oceanic.js";
import { start, until } from "./sandbox.js";

const row = (...components) => ({ type: ComponentTypes.ACTION_ROW, components });
const button = (customID, label) => ({ type: ComponentTypes.BUTTON, style: ButtonStyles.PRIMARY, customID, label });

// answer reacts to an interaction as a bot does.
async function answer(i) {
  if (i.isCommandInteraction()) {
    await i.defer(MessageFlags.EPHEMERAL);
    await i.editOriginal({ content: "command by " + i.user.username });
  } else if (i.isModalSubmitInteraction()) {
    await i.createMessage({ content: "thanks for " + i.data.components.getTextInput("words"), flags: MessageFlags.EPHEMERAL });
  } else if (i.isComponentInteraction() && i.data.customID === "form") {
    const words = { type: ComponentTypes.TEXT_INPUT, customID: "words", label: "Words", style: TextInputStyles.SHORT };
    await i.createModal({ title: "Form", customID: "form", components: [row(words)] });
  } else if (i.isComponentInteraction() && i.isSelectMenuComponentInteraction()) {
    await i.deferUpdate();
    await i.editOriginal({ content: "picked " + i.data.values.raw.join(), components: [] });
  } else if (i.isComponentInteraction()) {
    await i.editParent({ content: "yes by " + i.user.username, components: [] });
  }
}

test("oceanic.js runs a bot over the gateway", async (t) => {
  const s = await start();
  const client = new Client({
    auth: "Bot sandbox-discord-token",
    rest: { baseURL: s.base + "/discord/api/v10" },
    gateway: { intents: ["GUILDS"] },
  });
  const failures = [];
  client.on("error", (err) => failures.push(err));
  client.on("interactionCreate", (i) => answer(i).catch((err) => failures.push(err)));
  t.after(async () => {
    client.disconnect(false);
    s.stop();
  });
  const ready = new Promise((r) => client.once("ready", r));
  await client.connect();
  await ready;
  assert.equal(client.user.username, "nod");
  await client.application.createGlobalCommand({
    type: ApplicationCommandTypes.CHAT_INPUT,
    name: "hello",
    description: "Say hello",
  });

  const channel = "100000000000000002";
  const menu = {
    type: ComponentTypes.STRING_SELECT,
    customID: "pick",
    options: [
      { label: "One", value: "1" },
      { label: "Two", value: "2" },
    ],
  };
  const sent = await client.rest.channels.createMessage(channel, {
    content: "hello",
    components: [row(button("yes", "Yes"), button("form", "Form")), row(menu)],
  });
  const at = { service: "discord", as: "cy", channel, message: sent.id };
  const shown = async () => (await s.state()).discord.channels.find((c) => c.id === channel);
  const said = async (content) => ((await shown()).private ?? []).some((p) => p.message.content === content);

  const opened = await s.act({ ...at, do: "press", control: "form" });
  assert.ok(opened.modal, JSON.stringify([opened, failures]));
  assert.equal(
    (await s.act({ service: "discord", as: "cy", do: "submit", view: opened.modal, values: { words: ["good"] } })).ok,
    true,
  );
  await until("the private answer", () => said("thanks for good"));
  assert.equal((await s.act({ service: "discord", as: "cy", do: "command", channel, text: "/hello" })).ok, true);
  await until("the answer to a command", () => said("command by cy"));

  assert.equal((await s.act({ ...at, do: "choose", control: "pick", values: { pick: ["2"] } })).ok, true);
  await until("the deferred edit", async () => (await shown()).messages.some((m) => m.content === "picked 2"));
  const edited = await client.rest.channels.editMessage(channel, sent.id, {
    content: "again",
    components: [row(button("yes", "Yes"))],
  });
  assert.equal(edited.content, "again");
  assert.equal((await s.act({ ...at, do: "press", control: "yes" })).ok, true);
  await until("the edit", async () => (await shown()).messages.some((m) => m.content === "yes by cy"));

  await assert.rejects(client.rest.channels.createMessage(channel, { content: "x".repeat(2001) }), (e) => e.code === 50035);
  await assert.rejects(client.rest.channels.getMessage(channel, "1"), (e) => e.code === 10008);
  assert.deepEqual(failures, []);
});
