// Checks every text for Telegram with TDLib, the library of Telegram's own
// clients and of its Bot API server: a text and its entities must pass
// unchanged, and the sandbox must answer with what TDLib makes of them.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

// The names of entities in the Bot API, and in TDLib.
const names = {
  bold: "Bold",
  italic: "Italic",
  underline: "Underline",
  strikethrough: "Strikethrough",
  spoiler: "Spoiler",
  blockquote: "BlockQuote",
  expandable_blockquote: "ExpandableBlockQuote",
  code: "Code",
  pre: "Pre",
  text_link: "TextUrl",
  text_mention: "MentionName",
  mention: "Mention",
  hashtag: "Hashtag",
  cashtag: "Cashtag",
  bot_command: "BotCommand",
  url: "Url",
  email: "EmailAddress",
  phone_number: "PhoneNumber",
  date_time: "DateTime",
};
const styles = ["bold", "italic", "underline", "strikethrough", "spoiler"];
const botAPI = Object.fromEntries(Object.entries(names).map(([bot, td]) => [`textEntityType${td}`, bot]));
botAPI.textEntityTypePreCode = "pre";

// open returns TDLib, or undefined if no build of it exists for this machine.
function open() {
  let library;
  try {
    library = require.resolve("@prebuilt-tdlib/linux-x64-glibc/libtdjson.so");
  } catch {
    return undefined;
  }
  const tdl = require("tdl");
  tdl.configure({ tdjson: library, verbosityLevel: 0 });
  return tdl.execute;
}

function toTD(e) {
  const type = { _: `textEntityType${names[e.type] ?? e.type}` };
  if (e.type === "text_link") type.url = e.url;
  if (e.type === "text_mention") type.user_id = e.user.id;
  if (e.type === "pre" && e.language) Object.assign(type, { _: "textEntityTypePreCode", language: e.language });
  if (e.type === "date_time") type.unix_time = e.unix_time;
  return { _: "textEntity", offset: e.offset, length: e.length, type };
}

const key = (e) => JSON.stringify([e.offset, e.length, e.type, e.url ?? e.language ?? e.user?.id ?? e.unix_time ?? ""]);

function fromTD({ offset, length, type }) {
  const kind = botAPI[type._] ?? type._;
  return {
    offset,
    length,
    type: kind,
    url: type.url || undefined,
    language: type.language || undefined,
    user: type.user_id ? { id: type.user_id } : undefined,
    unix_time: type.unix_time,
  };
}

// sorted returns the entities in one order, without those that the Bot API does
// not have. TDLib joins adjacent entities of one style.
function sorted(entities) {
  const out = [];
  for (const e of entities
    .filter((e) => !e.type.startsWith("textEntityType"))
    .sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    const before = out.find((o) => styles.includes(e.type) && o.type === e.type && o.offset + o.length === e.offset);
    if (before) before.length += e.length;
    else out.push({ ...e });
  }
  return out.map(key).sort();
}

// fixed returns everything that TDLib makes of a formatted text. Characters of Markdown are
// replaced, because the call that corrects entities also reads Markdown.
function fixed(execute, text, entities) {
  const plain = text.replace(/[*_~`|[\]()]/g, "x");
  const got = execute({ _: "parseMarkdown", text: { _: "formattedText", text: plain, entities: entities.map(toTD) } });
  if (got._ === "error") return got;
  let restored = got.text;
  if (got.text.length === text.length)
    restored =
      [...got.text].length &&
      text
        .split("")
        .map((c, i) => (/[*_~`|[\]()]/.test(c) ? c : got.text[i]))
        .join("");
  return { text: restored, entities: got.entities.map(fromTD) };
}

// found returns the entities that Telegram adds, outside of those
// that hide them.
function found(execute, text, entities) {
  const hiding = entities.filter((e) => ["code", "pre", "text_link", "text_mention"].includes(e.type));
  const all = execute({ _: "getTextEntities", text }).entities.map(fromTD);
  return all.filter((e) => !hiding.some((h) => e.offset < h.offset + h.length && h.offset < e.offset + e.length));
}

// texts returns the formatted texts of a call, and the message that answers it.
function texts(x) {
  const p = x.payload,
    out = [];
  for (const [text, entities] of [
    ["text", "entities"],
    ["caption", "caption_entities"],
  ]) {
    if (typeof p[text] !== "string") continue;
    const answered = x.answer && typeof x.answer === "object" && typeof x.answer[text] === "string";
    out.push({
      text: p[text],
      entities: p[entities] ?? [],
      mode: p.parse_mode,
      answer: answered ? { text: x.answer[text], entities: x.answer[entities] ?? [] } : undefined,
    });
  }
  for (const b of (p.reply_markup?.inline_keyboard ?? []).flat()) out.push({ text: b.text, entities: [] });
  for (const c of p.commands ?? []) out.push({ text: c.description, entities: [] });
  return out;
}

function problems(execute, t) {
  const got = t.mode
    ? execute({
        _: "parseTextEntities",
        text: t.text,
        parse_mode: { _: `textParseMode${/html/i.test(t.mode) ? "HTML" : "Markdown"}`, version: 2 },
      })
    : fixed(execute, t.text, t.entities);
  if (got._ === "error") return [["bot", got.message]];
  const want = t.mode ? { text: got.text, entities: got.entities.map(fromTD) } : got;
  const out = [];
  if (!t.mode && want.text === t.text.replaceAll("\t", " ") && want.text !== t.text)
    out.push(["bot", "TDLib replaces the tabs of the text by spaces"]);
  else if (!t.mode && want.text !== t.text) out.push(["bot", `TDLib changes the text to ${JSON.stringify(want.text)}`]);
  const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
  if (!t.mode && !same(want.entities, t.entities)) out.push(["bot", `TDLib changes the entities to ${sorted(want.entities)}`]);
  if (t.answer) {
    const all = [...want.entities, ...found(execute, want.text, want.entities)];
    if (t.answer.text !== want.text.trim())
      out.push(["service", `TDLib would answer with the text ${JSON.stringify(want.text.trim())}`]);
    else if (!same(all, t.answer.entities))
      out.push(["service", `TDLib would answer with the entities ${sorted(all)}, not ${sorted(t.answer.entities)}`]);
  }
  return out;
}

// check returns the numbers of exchanges and the complaints.
export function check(exchanges) {
  const execute = open();
  if (!execute) return { skipped: "no build of TDLib exists for this machine", checked: {}, complaints: [] };
  const complaints = [];
  let checked = 0;
  for (const x of exchanges) {
    if (x.service !== "telegram" || x.kind !== "call") continue;
    const all = texts(x);
    if (all.length > 0) checked++;
    for (const t of all) {
      for (const [side, rule] of problems(execute, t)) complaints.push({ exchange: x, side, value: t, rule });
    }
  }
  return { checked: { telegram: checked }, complaints };
}
