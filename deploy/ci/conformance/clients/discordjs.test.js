import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ActionRowBuilder, AttachmentBuilder, ButtonBuilder, ButtonStyle, Client, ComponentType, ContainerBuilder, Events, FileBuilder, GatewayIntentBits, MessageFlags, ModalBuilder,
  SectionBuilder, SeparatorBuilder, StringSelectMenuBuilder, TextDisplayBuilder, TextInputBuilder, TextInputStyle,
} from "discord.js";
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

const text = (s) => new TextDisplayBuilder().setContent(s);

test("discord.js posts, edits and answers messages made of components", async (t) => {
  const s = await start();
  const client = new Client({ intents: [GatewayIntentBits.Guilds], rest: { api: s.base + "/discord/api" } });
  t.after(async () => { await client.destroy(); s.stop(); });
  const echoed = [];
  client.on(Events.InteractionCreate, async (i) => {
    echoed.push([i.message.flags.has(MessageFlags.IsComponentsV2), i.message.components[0].type]);
    if (i.isButton()) await i.update({ components: [text("done by " + i.user.username)], flags: MessageFlags.IsComponentsV2 });
    if (i.isStringSelectMenu()) await i.reply({ components: [text("picked " + i.values)], flags: MessageFlags.IsComponentsV2 | MessageFlags.Ephemeral });
  });
  const ready = new Promise((r) => client.once(Events.ClientReady, r));
  await client.login("sandbox-discord-token");
  await ready;
  const channel = await client.channels.fetch("100000000000000002");
  const card = (word) => new ContainerBuilder().setAccentColor(0xf0b232)
    .addTextDisplayComponents(text(word))
    .addFileComponents(new FileBuilder().setURL("attachment://plan.txt"))
    .addSeparatorComponents(new SeparatorBuilder())
    .addSectionComponents(new SectionBuilder().addTextDisplayComponents(text("beside")).setButtonAccessory(button("go", "Go")))
    .addActionRowComponents(row(new StringSelectMenuBuilder().setCustomId("pick").addOptions({ label: "One", value: "1" })));
  const file = (words) => new AttachmentBuilder(Buffer.from(words), { name: "plan.txt" });
  const sent = await channel.send({ components: [card("first")], files: [file("one")], flags: MessageFlags.IsComponentsV2 });
  const shown = (m) => m.components[0].components.find((c) => c.type === ComponentType.File);
  assert.equal(shown(sent).data.name, "plan.txt");
  assert.equal(shown(sent).data.size, 3);
  assert.equal(sent.attachments.size, 0);

  const edited = await sent.edit({ components: [card("second")], files: [file("longer")], attachments: [], flags: MessageFlags.IsComponentsV2 });
  assert.equal(shown(edited).data.size, 6);
  const at = { service: "discord", as: "cy", channel: sent.channelId, message: sent.id };
  assert.equal((await s.act({ ...at, do: "choose", control: "pick", values: { pick: ["1"] } })).ok, true);
  assert.equal((await s.act({ ...at, do: "press", control: "go" })).ok, true);
  const place = (await s.state()).discord.channels.find((c) => c.id === sent.channelId);
  assert.equal(place.messages[0].components[0].content, "done by cy");
  assert.equal(place.private[0].message.components[0].content, "picked 1");
  assert.deepEqual(echoed, [[true, ComponentType.Container], [true, ComponentType.Container]]);

  await assert.rejects(channel.send({ content: "x", components: [text("y")], flags: MessageFlags.IsComponentsV2 }), (e) => e.code === 50035);
  await assert.rejects(sent.edit({ content: "back", flags: [] }), (e) => e.code === 50035);
  await s.fault({ service: "discord", kind: "missing_permission", method: "ATTACH_FILES" });
  await assert.rejects(channel.send({ content: "x", files: [file("one")] }), (e) => e.code === 50013);
});
