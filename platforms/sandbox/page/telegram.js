import { act, clock, h, initials, keep, keptValue, link } from "./dom.js";

// spans shows a text with its entities. Offsets count UTF-16 units, as strings
// in JavaScript do.
function spans(text, entities = []) {
  const cuts = new Set([0, text.length]);
  for (const e of entities) { cuts.add(e.offset); cuts.add(e.offset + e.length); }
  const at = [...cuts].sort((a, b) => a - b);
  return at.slice(0, -1).map((from, n) => {
    const on = entities.filter((e) => e.offset <= from && e.offset + e.length >= at[n + 1]);
    let node = text.slice(from, at[n + 1]);
    for (const e of on) {
      const tag = { bold: "b", italic: "i", strikethrough: "s", underline: "u", code: "code", pre: "pre", blockquote: "blockquote", text_mention: "em", mention: "em", bot_command: "em" }[e.type];
      if (e.type === "text_link") node = link(e.url, node);
      else if (e.type === "url") node = link(/^https?:/i.test(node) ? node : "http://" + node, node);
      else if (tag) node = h(tag, {}, node);
    }
    return node;
  });
}

function keyboard(m, channel, me) {
  const rows = m.reply_markup && m.reply_markup.inline_keyboard;
  if (!rows) return null;
  return h("div", { class: "keyboard" }, rows.map((row) => h("div", { class: "row" }, row.map((b) => h("button", {
    class: b.style || "", disabled: !!b.disabled,
    onclick: async (ev) => {
      ev.target.classList.add("loading");
      await act({ service: "telegram", as: me.key, do: "press", channel: channel.id, message: String(m.message_id), control: b.callback_data });
      ev.target.classList.remove("loading");
    },
  }, b.text)))));
}

function message(m, channel, me, redraw) {
  const own = m.from.id === me.telegram;
  return h("article", { class: own ? "message own" : "message", "data-message": String(m.message_id) },
    !own && h("span", { class: m.from.is_bot ? "avatar bot" : "avatar" }, m.from.is_bot ? "✓" : initials(m.from.first_name)),
    h("div", { class: "column" },
      h("div", { class: "bubble" },
        !own && h("div", { class: "by" }, h("b", {}, m.from.first_name)),
        m.reply_to_message && h("div", { class: "quoted" }, (m.reply_to_message.text || m.reply_to_message.caption || "file").slice(0, 60)),
        m.document && h("a", { class: "file", href: m.document.url, target: "_blank" }, "📄 " + m.document.file_name),
        h("div", { class: "rich" }, spans(m.text || m.caption || "", m.entities)),
        m.preview && h("div", { class: "quoted" }, "preview of " + m.preview),
        h("div", { class: "meta" }, h("button", { class: "reply", onclick: () => { keep("telegram/to/" + channel.id, m.message_id); redraw(); } }, "reply"), m.edit_date && !own ? "edited " : "", clock(m.date))),
      keyboard(m, channel, me)));
}

const asked = (m, me) => m.reply_markup && m.reply_markup.force_reply && (m.entities || []).some((e) => e.user && e.user.id === me.telegram);

const picked = (channel) => channel.messages.find((m) => m.message_id === keptValue("telegram/to/" + channel.id));

// target returns the message to reply to: the chosen one, or the newest prompt
// for this member.
export const target = (channel, me) => picked(channel) || channel.messages.findLast((m) => asked(m, me));

// composer is the input for a message, or for a reply to a prompt.
export function composer(state, channel, me, redraw) {
  const chosen = picked(channel);
  const to = target(channel, me);
  const key = "telegram/text/" + channel.id;
  const send = async () => {
    const text = (keptValue(key) || "").trim();
    if (!text) return;
    keep(key, "");
    keep("telegram/to/" + channel.id, undefined);
    await act({ service: "telegram", as: me.key, do: to ? "reply" : "send", channel: channel.id, message: to ? String(to.message_id) : "", text });
    redraw();
  };
  return h("form", { class: "composer", onsubmit: (ev) => { ev.preventDefault(); send(); } },
    to && h("div", { class: "replying" }, "↩ " + (to.text || "").slice(0, 70), chosen && h("button", { type: "button", class: "x", "aria-label": "do not reply", onclick: () => { keep("telegram/to/" + channel.id, undefined); redraw(); } }, "✕")),
    h("input", {
      value: keptValue(key) || "", "aria-label": "message", placeholder: (to && to.reply_markup && to.reply_markup.input_field_placeholder) || "Message",
      oninput: (ev) => keep(key, ev.target.value),
    }), h("button", { class: "send", "aria-label": "send" }, "➤"));
}

export function timeline(state, channel, me, redraw) {
  return channel.messages.map((m) => ({ key: String(m.message_id), content: [m, me.key], build: () => message(m, channel, me, redraw) }));
}

export const chats = (state, me) => state.telegram.chats.filter((c) => !c.user || c.user === String(me.telegram)).map((c) => ({ ...c, label: c.user ? "nod (private)" : c.name }));
export const modalFor = () => undefined;
export const mine = (me) => String(me.telegram);
