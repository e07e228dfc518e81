// Complaints that are no fault, each with the reason. An entry matches by
// validator, side, method and rule.
const entries = [
  {
    validator: "type definitions (tsc)", side: "bot", method: /^(chat|views)\./, rule: /'"offset"' does not exist in type 'RichTextList'/,
    reason: "Slack documents offset of rich_text_list, docs.slack.dev/reference/block-kit/blocks/rich-text-block; @slack/types 3.2 lacks it",
  },
  {
    validator: "type definitions (tsc)", side: "bot", method: /^chat\.update$/, rule: /'"unfurl_(links|media)"' does not exist/,
    reason: "slack-go sends the same options with every message; Slack ignores arguments that a method does not have",
  },
  {
    validator: "type definitions (tsc)", side: "service", method: /^block_actions$/, rule: /'enterprise'[^]*'null' is not assignable/,
    reason: "Slack sends null outside of an enterprise, docs.slack.dev/reference/interaction-payloads/block_actions-payload",
  },
  {
    validator: "type definitions (tsc)", side: "service", method: /^views\./, rule: /'previous_view_id'[^]*'null' is not assignable/,
    reason: "Slack sends null for the first view, docs.slack.dev/reference/methods/views.open; the types are generated from samples",
  },
  {
    validator: "type definitions (tsc)", side: "bot", method: /^POST \/applications\/\{app\}\/commands$/, rule: /'null' is not assignable/,
    reason: "discordgo writes null for an empty list; Discord reads it as absent",
  },
  {
    validator: "type definitions (tsc)", side: "bot", method: /\/callback$/, rule: /'null' is not assignable to type 'string \| undefined'/,
    reason: "content is nullable where a response updates a message, docs.discord.com/developers/resources/message#edit-message; the type is that of a new message",
  },
  {
    validator: "type definitions (tsc)", side: "bot", method: /^sendmessage$/, rule: /'is_bot' is missing/,
    reason: "the Bot API server reads only the id of the user of a text_mention, github.com/tdlib/telegram-bot-api, Client::get_text_entity_type",
  },
];

// matches reports whether an entry explains a complaint.
const matches = (e, validator, c) => e.validator === validator && e.side === c.side && e.method.test(c.exchange.method) && e.rule.test(c.rule);

// explanation returns the reason of a complaint, or undefined.
export function explanation(validator, complaint) {
  const entry = entries.find((e) => matches(e, validator, complaint));
  if (entry) entry.used = true;
  return entry?.reason;
}

// unused returns the reasons that explained nothing.
export const unused = () => entries.filter((e) => !e.used).map((e) => e.reason);
