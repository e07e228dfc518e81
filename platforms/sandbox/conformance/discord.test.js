import assert from "node:assert/strict";
import { test } from "node:test";
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, Events, GatewayIntentBits, MessageFlags, ModalBuilder, TextInputBuilder, TextInputStyle } from "discord.js";
import { start, until } from "./sandbox.js";

const row = (...components) => new ActionRowBuilder().addComponents(...components);
const button = (id, label) => new ButtonBuilder().setCustomId(id).setLabel(label).setStyle(ButtonStyle.Primary);

test("discord.js runs a bot over the gateway", async (t) => {
  const s = await start();
  const client = new Client({ intents: [GatewayIntentBits.Guilds], rest: { api: s.base + "/discord/api" } });
  t.after(async () => { await client.destroy(); s.stop(); });
  client.on(Events.InteractionCreate, async (i) => {
    if (i.isButton() && i.customId === "yes") await i.update({ content: "yes by " + i.user.username, components: [] });
    if (i.isButton() && i.customId === "form") {
      await i.showModal(new ModalBuilder().setCustomId("form").setTitle("Form").addComponents(
        row(new TextInputBuilder().setCustomId("words").setLabel("Words").setStyle(TextInputStyle.Short))));
    }
    if (i.isModalSubmit()) await i.reply({ content: "thanks for " + i.fields.getTextInputValue("words"), flags: MessageFlags.Ephemeral });
  });
  const ready = new Promise((r) => client.once(Events.ClientReady, r));
  await client.login("sandbox-discord-token");
  await ready;

  const channel = await client.channels.fetch("100000000000000002");
  const sent = await channel.send({ content: "hello", components: [row(button("yes", "Yes"), button("form", "Form"))] });
  const at = { service: "discord", as: "cy", channel: sent.channelId, message: sent.id };
  const shown = async () => (await s.state()).discord.channels.find((c) => c.id === sent.channelId);

  const opened = await s.act({ ...at, do: "press", control: "form" });
  assert.ok(opened.modal);
  assert.equal((await s.act({ service: "discord", as: "cy", do: "submit", view: opened.modal, values: { words: ["good"] } })).ok, true);
  await until("the private answer", async () => ((await shown()).private || []).some((p) => p.message.content === "thanks for good"));

  assert.equal((await s.act({ ...at, do: "press", control: "yes" })).ok, true);
  const [m] = (await shown()).messages;
  assert.equal(m.content, "yes by cy");
  assert.deepEqual(m.components, []);

  await assert.rejects(channel.send({ content: "x".repeat(2001) }), (e) => e.code === 50035);
  await assert.rejects(client.channels.fetch("1"), (e) => e.code === 10003);
});
