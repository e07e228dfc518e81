// Reads what bots and services sent to each other: the recording that
// NOD_SANDBOX_RECORD wrote, and the cards that the tests of the renderers wrote to
// NOD_PAYLOADS.
import { readFileSync } from "node:fs";

// read returns the exchanges of a recording, one of each shape.
export function read(path) {
  const byShape = new Map();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (!line) continue;
    const exchange = JSON.parse(line);
    if (!byShape.has(exchange.shape)) byShape.set(exchange.shape, exchange);
  }
  return [...byShape.values()].map((x) => ({
    ...x,
    payload: x.kind === "call" ? decoded(x.service, x.payload ?? {}) : x.payload,
  }));
}

// Fields of forms that hold numbers, booleans or JSON.
const booleans = new RegExp(
  "^(is_|include_|inclusive|return_im|prevent_creation|exclude_|unfurl_|reply_broadcast|" +
    "show_alert|disable_|drop_pending|mrkdwn|delete_original|replace_original)",
);
const numbers = new RegExp(
  "^(chat_id|user_id|receiver_user_id|message_id|ephemeral_message_id|message_thread_id|offset|limit|timeout|" +
    "max_connections|cache_time|date)$",
);
const structures = new RegExp(
  "^(reply_markup|reply_parameters|link_preview_options|ephemeral_message_parameters|entities|caption_entities|" +
    "allowed_updates|commands|scope|media)$",
);

// decoded turns the strings of a form into what they stand for.
function decoded(service, payload) {
  if (service === "discord" || typeof payload !== "object") return payload;
  const out = {};
  for (const [key, value] of Object.entries(payload)) {
    const text = typeof value === "string";
    if (text && booleans.test(key)) out[key] = value === "true" || value === "1";
    else if (text && key === "limit") out[key] = Number(value);
    else if (text && service === "telegram" && numbers.test(key)) out[key] = Number(value);
    else if (text && service === "telegram" && structures.test(key)) out[key] = JSON.parse(value);
    else out[key] = value;
  }
  return out;
}

// cards returns the messages and views of the tests of the renderers as the calls
// that carry them.
export function cards(path) {
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const { service, shape, content } = JSON.parse(line);
    return { kind: "call", service, ...call(service, content), shape };
  });
}

function call(service, c) {
  if (service === "slack" && c.type === "modal") return { method: "views.open", payload: { trigger_id: "1.2.a", view: c } };
  if (service === "slack" && c.type === "home") return { method: "views.publish", payload: { user_id: "U1", view: c } };
  if (service === "slack") return { method: "chat.postMessage", payload: { channel: "C1", text: c.Text, blocks: c.Blocks } };
  if (service === "discord" && "custom_id" in c)
    return { method: "POST /interactions/{id}/{token}/callback", payload: { type: 9, data: c } };
  if (service === "discord") {
    return { method: "POST /channels/{channel}/messages", payload: { components: c.Components ?? [], flags: 32768 } };
  }
  const markup = c.Keyboard ? { reply_markup: { inline_keyboard: c.Keyboard } } : {};
  return { method: "sendmessage", payload: { chat_id: 1, text: c.Text, entities: c.Entities ?? [], ...markup } };
}
