import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { SlackBot } from "@hubot-friends/hubot-slack/src/Bot.mjs";
import { Robot } from "hubot";
import { start, until } from "./sandbox.js";

// The adapter's own version of the client, because no setting of the adapter changes
// the address of the client that it makes.
const { WebClient } = createRequire(import.meta.resolve("@hubot-friends/hubot-slack/src/Bot.mjs"))("@slack/web-api");

test("hubot answers messages over Socket Mode", async (t) => {
  process.env.HUBOT_LOG_LEVEL = "error";
  const s = await start();
  const clientOptions = { slackApiUrl: s.base + "/slack/api/" };
  const adapter = {
    use: (robot) =>
      new SlackBot(robot, {
        botToken: "xoxb-sandbox",
        appToken: "xapp-sandbox",
        socketModeOptions: { clientOptions },
        web: new WebClient("xoxb-sandbox", clientOptions),
      }),
  };
  const robot = new Robot(adapter, false, "robot");
  const failures = [];
  robot.error((err) => failures.push(err));
  await robot.loadAdapter();
  t.after(() => {
    robot.shutdown();
    s.stop();
  });
  await robot.run();
  await until("hubot knows its name", () => robot.name === "nod");
  robot.hear(/status of (\w+)/, (res) => res.send({ text: `${res.match[1]} is *up*, says ${res.message.user.real_name}` }));
  robot.respond(/deploy (\d+)/, (res) => res.reply("deploying " + res.match[1]));

  const shown = async (id) => (await s.state()).slack.channels.find((c) => c.id === id)?.messages ?? [];
  const said = (id, text) => until(text, async () => (await shown(id)).find((m) => m.text === text));
  const channel = "C0DEPLOYS1";
  await s.act({ service: "slack", as: "ana", do: "send", channel, text: "what is the status of web?" });
  await said(channel, "web is *up*, says Ana Lima");
  await s.act({ service: "slack", as: "bo", do: "send", channel, text: "<@U0BOT00000> deploy 42" });
  const { ts } = await said(channel, "<@U0BO000002>: deploying 42");
  await s.act({ service: "slack", as: "ana", do: "reply", channel, message: ts, text: "status of db" });
  assert.equal((await said(channel, "db is *up*, says Ana Lima")).thread_ts, ts);
  assert.deepEqual(failures, []);
});
