import assert from "node:assert/strict";
import { Agent } from "node:https";
import { connect } from "node:net";
import { test } from "node:test";
import { Client, Constants } from "eris";
import { start, until } from "./sandbox.js";

// Plain connects without TLS, which eris cannot be told.
class Plain extends Agent {
  constructor(at) {
    super();
    this.at = at;
  }
  createConnection() {
    return connect(this.at.port, this.at.hostname);
  }
}

const row = (...components) => ({ type: Constants.ComponentTypes.ACTION_ROW, components });
const yes = { type: Constants.ComponentTypes.BUTTON, style: Constants.ButtonStyles.PRIMARY, custom_id: "yes", label: "Yes" };

test("eris runs a bot over the gateway", async (t) => {
  const s = await start();
  const at = new URL(s.base);
  const client = new Client("Bot sandbox-discord-token", {
    intents: ["guilds", "guildMessages"], rest: { agent: new Plain(at), domain: at.host, baseURL: "/discord/api/v10" },
  });
  const failures = [];
  client.on("error", (err) => failures.push(err));
  client.on("interactionCreate", (i) => i.editParent({ content: "yes by " + i.member.username, components: [] }).catch((err) => failures.push(err)));
  t.after(() => {
    client.disconnect({ reconnect: false });
    s.stop();
  });
  const ready = new Promise((r) => client.once("ready", r));
  await client.connect();
  await ready;
  assert.equal(client.user.username, "nod");
  const channel = "100000000000000002";
  const sent = await client.createMessage(channel, { content: "hello", components: [row(yes)] });
  assert.equal((await client.editMessage(channel, sent.id, { content: "again" })).content, "again");
  assert.equal((await s.act({ service: "discord", as: "cy", do: "press", channel, message: sent.id, control: "yes" })).ok, true);
  const shown = async () => (await s.state()).discord.channels.find((c) => c.id === channel);
  await until("the edit", async () => (await shown()).messages.some((m) => m.content === "yes by cy"));
  const gone = new Promise((r) => client.once("messageDelete", r));
  await client.deleteMessage(channel, sent.id);
  assert.equal((await gone).id, sent.id);
  await assert.rejects(client.createMessage(channel, "x".repeat(2001)), (e) => e.code === 50035);
  assert.deepEqual(failures, []);
});
