import { act, clock, diff, h, initials, keep, keptValue, link, relative, size, toast } from "./dom.js";

const tags = {
  bold: "b", italic: "i", strikethrough: "s", underline: "u", code: "code", pre: "pre", blockquote: "blockquote",
  text_mention: "em", mention: "em", bot_command: "em", hashtag: "em",
};

const blocks = new Set(["pre", "blockquote", "expandable_blockquote"]);

// spans shows a text with its entities. Offsets count UTF-16 units, as strings
// in JavaScript do.
function spans(text, entities = []) {
  const sorted = [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
  return nested(text, 0, text.length, sorted);
}

// nested shows a part of a text. What of an entity is outside the entity around
// it follows after it.
function nested(text, start, end, entities) {
  const out = [];
  let at = start;
  let rest = entities;
  while (rest.length) {
    const [e, ...others] = rest;
    const from = Math.max(e.offset, at);
    const to = Math.min(e.offset + e.length, end);
    rest = others;
    if (to <= from) continue;
    out.push(text.slice(at, from));
    out.push(styled(e, text.slice(from, to), nested(text, from, to, others.filter((x) => x.offset < to))));
    rest = others.filter((x) => x.offset + x.length > to);
    at = to + (blocks.has(e.type) && text[to] === "\n" ? 1 : 0); // a block ends its line
  }
  out.push(text.slice(at, end));
  return out;
}

function styled(e, plain, inner) {
  switch (e.type) {
    case "text_link": return link(e.url, inner);
    case "url": return link(/^https?:/i.test(plain) ? plain : "http://" + plain, inner);
    case "date_time": return h("time", { class: "date", title: plain }, e.date_time_format ? date(e.unix_time, e.date_time_format) : inner);
    case "expandable_blockquote": return h("details", { class: "quote" }, h("summary", {}, inner));
    case "spoiler": return h("span", { class: "spoiler", tabIndex: 0 }, inner);
    case "pre": return h("pre", { "data-language": e.language }, e.language === "diff" ? diff(plain) : inner);
  }
  return tags[e.type] ? h(tags[e.type], {}, inner) : inner;
}

// date shows a time in the zone of the reader.
function date(seconds, format) {
  if (/r/i.test(format)) return relative(seconds);
  const parts = {};
  if (/w/i.test(format)) parts.weekday = "short";
  if (format.includes("d")) Object.assign(parts, { day: "numeric", month: "short" });
  if (format.includes("D")) Object.assign(parts, { day: "numeric", month: "long", year: "numeric" });
  if (/t/i.test(format)) Object.assign(parts, { hour: "2-digit", minute: "2-digit" });
  if (format.includes("T")) parts.second = "2-digit";
  return new Date(seconds * 1000).toLocaleString([], parts);
}

function button(b, m, channel, me) {
  const props = { class: b.style || "", disabled: !!b.disabled };
  let mark = "";
  if (b.callback_data) {
    props.onclick = async (ev) => {
      ev.target.classList.add("loading");
      await act({ service: "telegram", as: me.key, do: "press", channel: channel.id, message: idOf(m), control: b.callback_data });
      ev.target.classList.remove("loading");
    };
  } else if (b.url) {
    mark = " ↗";
    props.onclick = () => toast("Telegram opens " + b.url);
  } else if (b.copy_text) {
    mark = " 📋";
    props.onclick = () => {
      navigator.clipboard?.writeText(b.copy_text.text).catch(() => {});
      toast("Copied: " + b.copy_text.text);
    };
  }
  return h("button", props, b.text, mark && h("span", { class: "mark" }, mark));
}

function keyboard(m, channel, me) {
  const rows = m.reply_markup && m.reply_markup.inline_keyboard;
  if (!rows) return null;
  return h("div", { class: "keyboard" }, rows.map((row) => h("div", { class: "row" }, row.map((b) => button(b, m, channel, me)))));
}

// idOf returns the ID of a message in the control API.
const idOf = (m) => (m.ephemeral_message_id ? "e" + m.ephemeral_message_id : String(m.message_id));

const said = (m) => m.text || m.caption || (m.document ? m.document.file_name : "");

function message(m, channel, me, redraw) {
  const own = m.from.id === me.telegram;
  const topic = m.is_topic_message ? "topic " + m.message_thread_id : "";
  const notes = [topic, m.ephemeral_message_id && "👁 only you can see this", m.silent && "🔕 silent", m.edit_date && !own && "edited"];
  return h("article", { class: own ? "message own" : "message", "data-message": idOf(m) },
    !own && h("span", { class: m.from.is_bot ? "avatar bot" : "avatar" }, m.from.is_bot ? "✓" : initials(m.from.first_name)),
    h("div", { class: "column" },
      h("div", { class: "bubble" },
        !own && h("div", { class: "by" }, h("b", {}, m.from.first_name)),
        m.migrate_to_chat_id && h("div", { class: "only" }, "became a supergroup"),
        m.migrate_from_chat_id && h("div", { class: "only" }, "was a basic group"),
        m.reply_to_message && h("div", { class: "quoted" }, h("b", {}, m.reply_to_message.from?.first_name), said(m.reply_to_message)),
        m.document && h("a", { class: "file", href: m.document.url, target: "_blank" }, "📄 " + m.document.file_name, h("small", {}, size(m.document.file_size))),
        h("div", { class: "rich" }, m.text ? spans(m.text, m.entities) : spans(m.caption || "", m.caption_entities)),
        m.preview && h("div", { class: "quoted" }, "preview of " + m.preview),
        h("div", { class: "meta" }, !m.ephemeral_message_id && h("button", { class: "reply", onclick: () => { keep("telegram/to/" + channel.id, m.message_id); redraw(); } }, "reply"),
          notes.filter(Boolean).map((n) => n + " · "), clock(m.date))),
      keyboard(m, channel, me)));
}

// asked reports whether a message asks a member to reply: every member, unless
// it is selective.
function asked(m, me) {
  const markup = m.reply_markup || {};
  return markup.force_reply && (!markup.selective || (m.entities || []).some((e) => e.user && e.user.id === me.telegram));
}

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
    to && h("div", { class: "replying" }, "↩ " + said(to).slice(0, 70), chosen && h("button", { type: "button", class: "x", "aria-label": "do not reply", onclick: () => { keep("telegram/to/" + channel.id, undefined); redraw(); } }, "✕")),
    h("input", {
      value: keptValue(key) || "", "aria-label": "message", placeholder: (to && to.reply_markup && to.reply_markup.input_field_placeholder) || "Message",
      oninput: (ev) => keep(key, ev.target.value),
    }), h("button", { class: "send", "aria-label": "send" }, "➤"));
}

// timeline lists the shown messages. An ephemeral message follows the message
// after which it was sent, or takes its place.
export function timeline(state, channel, me, redraw) {
  const notes = (channel.private || []).filter((p) => p.user === String(me.telegram)).map((p) => p.message);
  const hidden = new Set(notes.map((m) => m.replaces));
  const after = (m) => (m.ephemeral_message_id ? (m.replaces || m.after) + 0.5 : m.message_id);
  return [...channel.messages.filter((m) => !hidden.has(m.message_id)), ...notes]
    .sort((a, b) => after(a) - after(b))
    .map((m) => ({ key: idOf(m), content: [m, me.key], build: () => message(m, channel, me, redraw) }));
}

export const chats = (state, me) => state.telegram.chats.filter((c) => !c.user || c.user === String(me.telegram)).map((c) => ({ ...c, label: c.user ? "nod (private)" : c.name }));
export const modalFor = () => undefined;
export const mine = (me) => String(me.telegram);
