// Complaints that are not faults, each with the reason. An entry matches the
// validator, the side that is at fault, the method, the rule, and the value if it
// has a condition for it.
const types = "type definitions (tsc)",
  builders = "@discordjs/builders";

const entries = [
  {
    validator: types,
    side: "bot",
    method: /^(chat|views)\./,
    rule: /'"offset"' does not exist in type 'RichTextList'/,
    reason:
      "Slack documents offset of rich_text_list, " +
      "docs.slack.dev/reference/block-kit/blocks/rich-text-block; @slack/types 3.2 does not have it",
  },
  {
    validator: types,
    side: "bot",
    method: /^chat\.update$/,
    rule: /'"unfurl_(links|media)"' does not exist/,
    reason: "slack-go sends the same options with each message; Slack ignores arguments that a method does not have",
  },
  {
    validator: types,
    side: "service",
    method: /^(block_actions|view_submission)$/,
    rule: /'enterprise'[^]*'null' is not assignable/,
    reason: "Slack sends null outside of an enterprise, docs.slack.dev/reference/interaction-payloads/block_actions-payload",
  },
  {
    validator: types,
    side: "service",
    method: /^views\./,
    rule: /'(previous_view_id|close|submit)'[^]*'null' is not assignable/,
    reason:
      "Slack sends null for what a view does not have, docs.slack.dev/reference/methods/views.open; the types are generated from samples",
  },
  {
    validator: types,
    side: "service",
    method: /^block_actions$/,
    rule: /'response_url' is missing/,
    reason: "Slack sends a response_url only for controls of messages; the type is the same for messages and views",
  },
  {
    validator: types,
    side: "service",
    method: /^event_callback$/,
    rule: /is missing the following properties[^]*: (?:subtype, )?event_ts, |: channel, channel_type, event_ts/,
    reason:
      "a message inside of an event has no fields of events, docs.slack.dev/reference/events/message/message_changed; " +
      "the type of both is the same",
  },
  {
    validator: types,
    side: "service",
    method: /^event_callback$/,
    rule: /'inviter' is missing/,
    reason: "Slack names an inviter only if there is one, docs.slack.dev/reference/events/message/channel_join",
  },
  {
    validator: types,
    side: "service",
    method: /^event_callback$/,
    rule: /'"message"' is not assignable to type '"app_mention"'/,
    value: (v) => v.event?.subtype === "channel_convert_to_private",
    reason:
      "Slack documents docs.slack.dev/reference/events/message/channel_convert_to_private; @slack/types 3.2 does not have it",
  },
  {
    validator: types,
    side: "bot",
    method: /\/commands$/,
    rule: /'null' is not assignable|"channel_types"' does not exist/,
    reason: "discordgo writes null for an empty list of a command; Discord reads null as absent",
  },
  {
    validator: types,
    side: "service",
    method: /\/commands$/,
    rule: /'null' is not assignable/,
    reason: "the sandbox returns the command as discordgo wrote it, with null for an empty list",
  },
  {
    validator: types,
    side: "bot",
    method: /\/callback$/,
    rule: /'null' is not assignable to type 'string \| undefined'/,
    reason:
      "content is nullable where a response updates a message, " +
      "docs.discord.com/developers/resources/message#edit-message; the type is that of a new message",
  },
  {
    validator: types,
    side: "service",
    method: /^GET \/guilds\/\{guild\}$/,
    rule: /is missing the following properties/,
    reason: "the sandbox answers with the fields of a guild that bots use",
  },
  {
    validator: types,
    side: "service",
    method: /^(POST \/users\/@me\/channels|INTERACTION_CREATE|GET \/guilds\/\{guild\}\/members\/\{user\})$/,
    rule: /'name' is missing in type|missing the following properties[^]*discriminator, global_name, avatar$/,
    reason: "the sandbox names the other person of a direct channel, and a member, by the fields that bots use",
  },
  {
    validator: types,
    side: "bot",
    method: /^sendmessage$/,
    rule: /'is_bot' is missing/,
    reason:
      "the Bot API server reads only the id of the user of a text_mention, " +
      "github.com/tdlib/telegram-bot-api, Client.cpp, get_text_entity_type",
  },
  {
    validator: builders,
    side: "bot",
    method: /\/(messages|messages\/\{message\}|callback)$/,
    rule: /: description: Invalid string length, given "", /,
    reason: "discordgo writes an option without a description with an empty one; Discord reads it as none",
  },
  {
    validator: types,
    side: "service",
    method: /^chat\.postMessage$/,
    rule: /property 'ts' are incompatible/,
    reason: "apprise sends the time of an attachment as a number, as Slack documents it, docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments",
  },
  {
    validator: "TDLib",
    side: "service",
    method: /^sendmessage$/,
    rule: /\\r\\n/,
    reason: "Telegram drops CR when it sends a text, not when it parses one, github.com/tdlib/td, misc.cpp, clean_input_string",
  },
  {
    validator: "TDLib",
    side: "bot",
    method: /^(sendmessage|editmessagetext)$/,
    rule: /^TDLib replaces the tabs of the text by spaces$/,
    reason: "Telegram has no tabs in texts; people see a space",
  },
];

// matches reports whether an entry explains a complaint.
function matches(e, validator, c) {
  const { method } = c.exchange;
  return (
    e.validator === validator &&
    e.side === c.side &&
    e.method.test(method) &&
    e.rule.test(c.rule) &&
    (e.value?.(c.value) ?? true)
  );
}

// explanation returns the reason for a complaint, or undefined.
export function explanation(validator, complaint) {
  const entry = entries.find((e) => matches(e, validator, complaint));
  if (entry) entry.used = true;
  return entry?.reason;
}

// unused returns the reasons that explained nothing.
export const unused = () => entries.filter((e) => !e.used).map((e) => e.reason);
