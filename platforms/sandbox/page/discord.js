import { act, avatar, clock, diff, h, named, keep, keptValue, link, relative, size, toast } from "./dom.js";

const snowflake = (id) => Number((BigInt(id) >> 22n) + 1420070400000n) / 1000;

// Names by the IDs in messages, which timeline sets.
let names = { users: {}, roles: {}, channels: {} };

// tokens are the parts of a text that are neither plain nor styled. Each has a
// pattern and builds what it shows.
const tokens = [
  [/^\\([^0-9A-Za-z\s])/, (m) => m[1]],
  [/^<t:(-?\d+)(?::([tTdDfFR]))?>/, (m) => h("time", { class: "time", title: full(Number(m[1])) }, stamp(Number(m[1]), m[2]))],
  [/^<@!?(\d+)>/, (m) => h("span", { class: "mention" }, "@" + (names.users[m[1]] || m[1]))],
  [/^<@&(\d+)>/, (m) => h("span", { class: "mention" }, "@" + (names.roles[m[1]] || "unknown-role"))],
  [/^<#(\d+)>/, (m) => h("span", { class: "mention" }, "#" + (names.channels[m[1]] || "unknown"))],
  [/^<\/([^:>]+):\d+>/, (m) => h("span", { class: "mention" }, "/" + m[1])],
  [/^<a?:(\w+):\d+>/, (m) => ":" + m[1] + ":"],
  [/^<(https?:\/\/[^>\s]+)>/, (m) => link(m[1], m[1])],
  [/^\[([^\]\n]+)\]\(<?(https?:\/\/[^)\s>]+)>?\)/, (m) => link(m[2], inline(m[1]))],
  [/^https?:\/\/[^\s<>]*[^\s<>.,:;"'!?)\]]/, (m) => link(m[0], m[0])],
  [/^@(everyone|here)\b/, (m) => h("span", { class: "mention" }, m[0])],
  [/^``([\s\S]+?)``(?!`)/, (m) => h("code", {}, m[1].trim())],
  [/^`([^`]+)`/, (m) => h("code", {}, m[1])],
];

const styles = [["***", "b"], ["**", "b"], ["__", "u"], ["~~", "s"], ["||", "spoiler"], ["*", "i"], ["_", "i"]];

// inline shows Discord's Markdown of one run of text.
function inline(src) {
  const out = [];
  let plain = "";
  const push = (node) => {
    if (plain) out.push(plain);
    plain = "";
    out.push(node);
  };
  for (let i = 0; i < src.length;) {
    const rest = src.slice(i);
    const found = tokens.map(([pattern, build]) => [pattern.exec(rest), build]).find(([m]) => m);
    if (found) {
      const [m, build] = found;
      const node = build(m);
      if (typeof node === "string") plain += node;
      else push(node);
      i += m[0].length;
      continue;
    }
    const style = styles.find(([mark]) => rest.startsWith(mark) && closing(rest, mark) > 0);
    if (style && !(style[0] === "_" && /\w/.test(src[i - 1] || ""))) {
      const [mark, tag] = style;
      const end = closing(rest, mark);
      const inner = inline(rest.slice(mark.length, end));
      push(tag === "spoiler" ? h("span", { class: "spoiler", tabIndex: 0 }, inner) : h(tag, {}, inner));
      i += end + mark.length;
      continue;
    }
    plain += src[i];
    i++;
  }
  if (plain) out.push(plain);
  return out;
}

// closing finds the end of a style, past escapes.
function closing(s, mark) {
  for (let i = mark.length; i < s.length; i++) {
    if (s[i] === "\\") { i++; continue; }
    if (s.startsWith(mark, i) && i > mark.length) return i;
  }
  return -1;
}

const full = (at) => new Date(at * 1000).toLocaleString([], { dateStyle: "full", timeStyle: "short" });

// stamp shows a time in the zone of the reader, in one of Discord's styles.
function stamp(at, style = "f") {
  if (style === "R") return relative(at);
  const shown = {
    t: { timeStyle: "short" }, T: { timeStyle: "medium" }, d: { dateStyle: "short" }, D: { dateStyle: "long" },
    f: { dateStyle: "long", timeStyle: "short" }, F: { dateStyle: "full", timeStyle: "short" },
  };
  return new Date(at * 1000).toLocaleString([], shown[style]);
}

// markdown shows a text with code blocks, quotes and lists.
function markdown(src) {
  return String(src).split(/(```[\s\S]*?```)/).map((part) => {
    const code = /^```(?:([A-Za-z0-9]*)\n)?([\s\S]*?)\n?```$/.exec(part);
    if (code) return h("pre", { "data-language": code[1] }, code[1] === "diff" ? diff(code[2]) : code[2]);
    return quotes(part.replace(/^\n|\n$/g, "").split("\n")).map(line);
  });
}

// quotes joins the lines of a quote to one list of lines.
function quotes(lines) {
  const out = [];
  let rest = false;
  for (const l of lines) {
    rest = rest || l.startsWith(">>> ");
    const quoted = rest || l.startsWith("> ");
    const text = quoted ? l.replace(/^>(>>)? /, "") : l;
    if (quoted && Array.isArray(out.at(-1))) out.at(-1).push(text);
    else out.push(quoted ? [text] : text);
  }
  return out;
}

function line(l) {
  if (Array.isArray(l)) return h("blockquote", {}, l.map(line));
  const title = /^(#{1,3}) (.+)$/.exec(l);
  if (title) return h("div", { class: "title" + title[1].length, role: "heading", "aria-level": "2" }, inline(title[2]));
  if (l.startsWith("-# ")) return h("div", { class: "context" }, inline(l.slice(3)));
  const item = /^( *)([-*] |\d+\. )(.*)$/.exec(l);
  if (item) return h("div", { class: "item" }, item[1] + (/\d/.test(item[2]) ? item[2] : "• "), inline(item[3]));
  return l.trim() ? h("div", {}, inline(l)) : h("div", { class: "gap" });
}

function embed(e) {
  const box = h("div", { class: "embed" },
    e.author && h("small", {}, e.author.name),
    e.title && h("div", { class: "heading" }, e.url ? link(e.url, inline(e.title)) : inline(e.title)),
    e.description && h("div", { class: "rich" }, markdown(e.description)),
    (e.fields || []).map((f) => h("div", { class: "section" }, h("b", {}, inline(f.name)), h("div", { class: "rich" }, markdown(f.value)))),
    e.footer && h("div", { class: "context" }, e.footer.text));
  if (typeof e.color === "number") box.style.borderLeftColor = color(e.color);
  return box;
}

const color = (n) => "#" + n.toString(16).padStart(6, "0");

const buttonStyles = { 1: "primary", 2: "", 3: "success", 4: "danger", 5: "" };

// emoji shows the emoji of a button or an option.
const emoji = (e) => (e && e.name ? (e.id ? ":" + e.name + ":" : e.name) + " " : "");

// menu is a select of a message or of a modal.
function menu(c, key, props, changed = () => {}) {
  const many = (c.max_values || 1) > 1;
  const options = c.options || Object.entries(names.users).map(([id, name]) => ({ value: id, label: name }));
  const chosen = keptValue(key) ?? options.filter((o) => o.default).map((o) => o.value);
  return h("select", {
    ...props, multiple: many, disabled: c.disabled, "aria-label": c.placeholder,
    onchange: (ev) => {
      const v = [...ev.target.selectedOptions].map((o) => o.value).filter((x) => x !== "");
      keep(key, v);
      changed(v);
    },
  }, !many && h("option", { value: "" }, c.placeholder || "Choose…"),
  options.map((o) => h("option", { value: o.value, selected: chosen.includes(o.value) }, emoji(o.emoji) + o.label + (o.description ? " – " + o.description : ""))));
}

function component(c, m, channel, me) {
  const where = { service: "discord", as: me.key, channel: m.channel_id || channel.id, message: m.id, control: c.custom_id };
  if (c.type === 2) {
    const press = c.style === 5 ? () => toast("Discord opens " + c.url) : () => act({ ...where, do: "press" });
    return h("button", { class: buttonStyles[c.style] || "", disabled: c.disabled, onclick: press }, emoji(c.emoji), c.label, c.style === 5 && " ↗");
  }
  const key = "discord/" + m.id + "/" + c.custom_id;
  return menu(c, key, {}, (v) => { if (v.length || c.min_values === 0) act({ ...where, do: "choose", values: { [c.custom_id]: v } }); });
}

// layout shows a component of a message: a container, a text or a file.
function layout(c, m, channel, me) {
  const inner = () => (c.components || []).map((x) => layout(x, m, channel, me));
  switch (c.type) {
    case 1: return h("div", { class: "actions" }, c.components.map((x) => component(x, m, channel, me)));
    case 9: return h("div", { class: "beside" }, h("div", {}, inner()), layout(c.accessory, m, channel, me));
    case 10: return h("div", { class: "rich" }, markdown(c.content));
    case 13: return fileLink({ url: c.file.url, filename: c.name, size: c.size });
    case 14: return h("div", { class: c.divider === false ? "gap" : "divider" });
    case 17: {
      const box = h("div", { class: "container" }, inner());
      if (typeof c.accent_color === "number") box.style.borderLeftColor = color(c.accent_color);
      if (c.spoiler) box.classList.add("hidden");
      return box;
    }
  }
  return component(c, m, channel, me);
}

function fileLink(a) {
  return h("a", { class: "file", href: a.url, target: "_blank" }, "📄 " + a.filename, h("small", {}, size(a.size)));
}

const madeOfComponents = (m) => (m.flags & 32768) !== 0;

// pushed is the notification, where it differs from the message. It is over once the
// message asks for nothing, or no longer asks someone whom it mentions.
function pushed(m) {
  if (!madeOfComponents(m) || m.push === undefined) return null;
  const now = JSON.stringify(m.components);
  const over = (m.push.match(/<@&?\d+>/g) || []).some((who) => !now.includes(who));
  if (over || !now.includes('"custom_id"')) return null;
  return h("div", { class: "push", title: "the notification" }, "🔔 ", m.push ? inline(m.push) : "(a notification without text)");
}

const authorOf = (m) => (m.author.bot ? "nod" : m.author.global_name);

function message(m, channel, me, note, thread, embeds, redraw) {
  const waiting = (m.flags & 128) !== 0;
  const bot = m.author.bot;
  const original = m.referenced_message;
  return h("article", { class: note ? "message note" : "message", "data-message": m.id },
    avatar(authorOf(m), bot),
    h("div", { class: "body" },
      original && h("div", { class: "quoted" }, "↩ " + authorOf(original) + ": " + (original.content || "message").slice(0, 60)),
      h("div", { class: "by" }, h("b", {}, authorOf(m)), bot && h("span", { class: "app" }, "APP"), h("time", {}, clock(snowflake(m.id))),
        redraw && !note && h("button", { class: "reply", onclick: () => { keep("discord/to/" + channel.id, m.id); redraw(); } }, "reply"),
        (m.flags & 4096) !== 0 && h("small", {}, "🔕"), m.edited_timestamp && !madeOfComponents(m) && h("small", { class: "edited" }, "(edited)")),
      thread && h("div", { class: "only" }, "🧵 " + thread),
      waiting && h("div", { class: "only" }, "nod is thinking…"),
      !note && pushed(m),
      m.content && h("div", { class: "rich" }, markdown(m.content)),
      embeds && (m.embeds || []).map(embed),
      !madeOfComponents(m) && (m.attachments || []).map(fileLink),
      (m.components || []).map((c) => layout(c, m, channel, me)),
      note && h("div", { class: "only" }, "👁 Only you can see this")));
}

// picker is an input of a modal other than a text.
function picker(c, k) {
  if (c.type === 3) return menu(c, k, { "data-field": c.custom_id });
  const many = c.type === 22;
  const value = () => keptValue(k) ?? c.options.filter((o) => o.default).map((o) => o.value);
  return h("div", { "data-field": c.custom_id }, c.options.map((o) => h("label", { class: "choice" }, h("input", {
    type: many ? "checkbox" : "radio", name: k, value: o.value, checked: value().includes(o.value),
    onchange: (ev) => {
      const rest = value().filter((v) => v !== o.value);
      keep(k, many ? (ev.target.checked ? [...rest, o.value] : rest) : [o.value]);
    },
  }), h("span", {}, o.label, o.description && h("small", {}, o.description)))));
}

function field(l, key) {
  if (l.type === 10) return h("div", { class: "rich" }, markdown(l.content));
  const c = l.component || l.components[0];
  const k = key + "/" + c.custom_id;
  const input = c.type !== 4 ? picker(c, k) : h(c.style === 2 ? "textarea" : "input", {
    value: (keptValue(k) || [c.value || ""])[0], rows: 4, maxLength: c.max_length, placeholder: c.placeholder || "", "data-field": c.custom_id, oninput: (ev) => keep(k, [ev.target.value]),
  });
  return h("div", { class: "input" }, h("div", { class: "label" }, l.label || c.label, c.required !== false && h("span", { class: "required" }, " *")), l.description && h("small", {}, l.description), named(input, l.label || c.label || ""));
}

export function modal(view, me) {
  const v = view.view;
  const key = "discord/modal/" + view.id;
  const close = () => act({ service: "discord", as: me.key, do: "close", view: view.id });
  return h("div", { class: "modal", role: "dialog", "aria-label": v.title },
    h("div", { class: "title" }, v.title, h("button", { class: "x", "aria-label": "close", onclick: close }, "✕")),
    h("div", { class: "content" }, v.components.map((l) => field(l, key))),
    h("div", { class: "foot" }, h("button", { onclick: close }, "Cancel"), h("button", {
      class: "primary", onclick: () => {
        const values = {};
        for (const l of v.components) {
          const c = l.component || (l.components || [])[0];
          const k = c && keptValue(key + "/" + c.custom_id);
          if (k !== undefined) values[c.custom_id] = k;
        }
        act({ service: "discord", as: me.key, do: "submit", view: view.id, values });
      },
    }, "Submit")));
}

export function timeline(state, channel, me, redraw) {
  const all = [];
  names = {
    users: Object.fromEntries([...state.members.map((m) => [m.discord, m.name]), [state.discord.bot, "nod"]]),
    roles: Object.fromEntries((state.discord.roles || []).map((r) => [r.id, r.name])),
    channels: Object.fromEntries(state.discord.channels.filter((c) => !c.user).map((c) => [c.id, c.name])),
  };
  const embeds = showsEmbeds(state, me);
  for (const c of [channel, ...state.discord.channels.filter((t) => t.parent === channel.id)]) {
    const archived = (state.discord.archived || []).includes(c.id);
    const thread = c === channel ? "" : c.name + (archived ? " (archived)" : "");
    all.push(...c.messages.map((m) => [m, false, thread]));
    all.push(...(c.private || []).filter((p) => p.user === me.discord).map((p) => [p.message, true, thread]));
  }
  return all.sort((a, b) => (BigInt(a[0].id) < BigInt(b[0].id) ? -1 : 1)).map(([m, note, thread]) => ({
    key: m.id, content: [m, note, thread, me.key, embeds], build: () => message(m, channel, me, note, thread, embeds, thread ? undefined : redraw),
  }));
}

export const chats = (state, me) => state.discord.channels.filter((c) => !c.parent && (!c.user || c.user === me.discord)).map((c) => ({ ...c, label: c.user ? "nod (direct)" : "# " + c.name }));
export const modalFor = (state, me) => state.discord.modals.find((v) => v.user === me.discord);
export const mine = (me) => me.discord;

// target returns the message to reply to.
export const target = (channel) => {
  const id = keptValue("discord/to/" + channel.id);
  const m = id && channel.messages.find((x) => x.id === id);
  return m && { ...m, message_id: m.id };
};

// showsEmbeds is a setting of the member.
const showsEmbeds = (state, me) => !(state.discord.no_embeds || []).includes(me.discord);

// composer is the input for a message, a reply or a command.
export function composer(state, channel, me, redraw) {
  const key = "discord/text/" + channel.id;
  const to = target(channel);
  const drop = () => keep("discord/to/" + channel.id, undefined);
  const send = async () => {
    const text = (keptValue(key) || "").trim();
    if (!text) return;
    keep(key, "");
    drop();
    const kind = text.startsWith("/") ? "command" : to ? "reply" : "send";
    await act({ service: "discord", as: me.key, do: kind, channel: channel.id, message: to ? to.id : "", text });
    redraw();
  };
    const suggestions = h("div", { class: "replying suggestions" });
  // suggest shows the app's suggestions for the value that is being typed.
  const suggest = async (text) => {
    if (!/^\/\S+ \S+ /.test(text)) return;
    const r = await fetch("/control/act", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ service: "discord", as: me.key, do: "suggest", channel: channel.id, text }),
    }).then((x) => x.json()).catch(() => ({}));
    suggestions.replaceChildren(...(r.choices || []).map((c) => h("div", {}, c)));
  };
  return h("form", { class: "composer", onsubmit: (ev) => { ev.preventDefault(); send(); } },
    to && h("div", { class: "replying" }, "↩ " + (to.content || "message").slice(0, 70), h("button", { type: "button", class: "x", "aria-label": "do not reply", onclick: () => { drop(); redraw(); } }, "✕")),
    suggestions, h("input", { value: keptValue(key) || "", "aria-label": "message", placeholder: "Message or /nod mine", oninput: (ev) => { keep(key, ev.target.value); suggest(ev.target.value); } }),
    h("button", { class: "send", "aria-label": "send" }, "➤"),
    h("label", { class: "setting" }, h("input", {
      type: "checkbox", checked: showsEmbeds(state, me),
      onchange: async (ev) => { await act({ service: "discord", as: me.key, do: "embeds", text: ev.target.checked ? "on" : "off" }); redraw(); },
    }), "Show embeds"));
}
