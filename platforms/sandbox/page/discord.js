import { act, avatar, clock, commands, h, keep, keptValue, link } from "./dom.js";

const snowflake = (id) => Number((BigInt(id) >> 22n) + 1420070400000n) / 1000;

// inline shows Discord's Markdown of one run of text.
function inline(src) {
  const out = [];
  let plain = "";
  const flush = () => { if (plain) out.push(plain); plain = ""; };
  for (let i = 0; i < src.length;) {
    const rest = src.slice(i);
    let m;
    if ((m = /^\\([^0-9A-Za-z\s])/.exec(rest))) { plain += m[1]; i += m[0].length; continue; }
    if ((m = /^<t:(-?\d+)(?::([tTdDfFR]))?>/.exec(rest))) {
      flush(); out.push(h("span", { class: "time" }, stamp(Number(m[1]), m[2]))); i += m[0].length; continue;
    }
    if ((m = /^<(https?:\/\/[^>\s]+)>/.exec(rest))) { flush(); out.push(link(m[1], m[1])); i += m[0].length; continue; }
    if ((m = /^`([^`]+)`/.exec(rest))) { flush(); out.push(h("code", {}, m[1])); i += m[0].length; continue; }
    let styled = false;
    for (const [mark, tag] of [["**", "b"], ["~~", "s"], ["*", "i"]]) {
      const end = rest.startsWith(mark) ? closing(rest, mark) : -1;
      if (end > 0) {
        flush(); out.push(h(tag, {}, inline(rest.slice(mark.length, end)))); i += end + mark.length; styled = true;
        break;
      }
    }
    if (!styled) { plain += src[i]; i++; }
  }
  flush();
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

function stamp(at, style) {
  const left = at - Date.now() / 1000;
  if (style !== "R") return clock(at);
  const abs = Math.abs(left);
  const [n, unit] = abs < 90 ? [abs, "second"] : abs < 5400 ? [abs / 60, "minute"] : [abs / 3600, "hour"];
  return new Intl.RelativeTimeFormat("en").format(Math.round(left < 0 ? -n : n), unit);
}

// markdown shows a text with code blocks, quotes and lists.
function markdown(src) {
  return src.split(/(```[\s\S]*?```)/).map((part) => {
    const code = /^```(?:([A-Za-z0-9]*)\n)?([\s\S]*?)\n?```$/.exec(part);
    if (code) return h("pre", {}, code[2]);
    return part.split("\n").map((line) => {
      const title = /^(#{1,3}) (.+)$/.exec(line);
      if (title) return h("div", { class: "title" + title[1].length, role: "heading" }, inline(title[2]));
      if (line.startsWith("-# ")) return h("div", { class: "context" }, inline(line.slice(3)));
      if (line.startsWith("> ")) return h("blockquote", {}, inline(line.slice(2)));
      const item = /^( *)(- |\d+\. )(.*)$/.exec(line);
      if (item) return h("div", { class: "item" }, item[1] + (item[2] === "- " ? "• " : item[2]), inline(item[3]));
      return line.trim() ? h("div", {}, inline(line)) : h("div", { class: "gap" });
    });
  });
}

function embed(e) {
  const box = h("div", { class: "embed" },
    e.title && h("div", { class: "heading" }, inline(e.title)),
    e.description && h("div", { class: "rich" }, markdown(e.description)),
    e.footer && h("div", { class: "context" }, e.footer.text));
  if (e.color !== undefined) box.style.borderLeftColor = "#" + e.color.toString(16).padStart(6, "0");
  return box;
}

const buttonStyles = { 1: "primary", 2: "", 3: "success", 4: "danger", 5: "" };

function component(c, m, channel, me) {
  const where = { service: "discord", as: me.key, channel: m.channel_id || channel.id, message: m.id, control: c.custom_id };
  if (c.type === 2) {
    return h("button", { class: buttonStyles[c.style] || "", disabled: c.disabled, onclick: () => act({ ...where, do: "press" }) }, c.label);
  }
  const key = "discord/" + m.id + "/" + c.custom_id;
  const chosen = keptValue(key) ?? c.options.filter((o) => o.default).map((o) => o.value);
  return h("select", {
    multiple: (c.max_values || 1) > 1,
    onchange: (ev) => {
      const v = [...ev.target.selectedOptions].map((o) => o.value).filter((x) => x !== "");
      keep(key, v);
      if (v.length) act({ ...where, do: "choose", values: { [c.custom_id]: v } });
    },
  }, h("option", { value: "" }, c.placeholder || "Choose…"), c.options.map((o) => h("option", { value: o.value, selected: chosen.includes(o.value) }, o.label + (o.description ? " – " + o.description : ""))));
}

// layout shows a component of a message: a container, a text or a file.
function layout(c, m, channel, me) {
  const inner = () => (c.components || []).map((x) => layout(x, m, channel, me));
  switch (c.type) {
    case 1: return h("div", { class: "actions" }, c.components.map((x) => component(x, m, channel, me)));
    case 9: return h("div", { class: "beside" }, h("div", {}, inner()), layout(c.accessory, m, channel, me));
    case 10: return h("div", { class: "rich" }, markdown(c.content));
    case 11: return picture(c.media, c.description);
    case 12: return h("div", { class: "gallery" }, c.items.map((i) => picture(i.media, i.description)));
    case 13: return fileLink({ url: c.file.url, filename: c.name, size: c.size });
    case 14: return h("div", { class: c.divider === false ? "gap" : "divider" });
    case 17: {
      const box = h("div", { class: "container" }, inner());
      if (typeof c.accent_color === "number") box.style.borderLeftColor = "#" + c.accent_color.toString(16).padStart(6, "0");
      return box;
    }
  }
  return component(c, m, channel, me);
}

// picture shows only uploads to the sandbox; the page loads nothing from other
// servers.
function picture(media, description) {
  if (!media.attachment_id) return link(media.url, description || media.url);
  return h("img", { src: media.url, alt: description || "" });
}

function fileLink(a) {
  const size = a.size < 1024 ? a.size + " B" : (a.size / 1024).toFixed(1) + " KB";
  return h("a", { class: "file", href: a.url, target: "_blank" }, "📄 " + a.filename, h("small", {}, size));
}

const madeOfComponents = (m) => (m.flags & 32768) !== 0;

function message(m, channel, me, note, thread, embeds) {
  return h("article", { class: note ? "message note" : "message", "data-message": m.id },
    avatar("nod", true),
    h("div", { class: "body" },
      h("div", { class: "by" }, h("b", {}, "nod"), h("span", { class: "app" }, "APP"), h("time", {}, clock(snowflake(m.id)))),
      thread && h("div", { class: "only" }, "🧵 " + thread),
      m.content && h("div", { class: "rich" }, markdown(m.content)),
      embeds && (m.embeds || []).map(embed),
      !madeOfComponents(m) && (m.attachments || []).map(fileLink),
      (m.components || []).map((c) => layout(c, m, channel, me)),
      note && h("div", { class: "only" }, "👁 Only you can see this")));
}

function field(l, key) {
  const c = l.component;
  const k = key + "/" + c.custom_id;
  const value = () => keptValue(k) ?? (c.type === 4 ? [c.value || ""] : c.options.filter((o) => o.default).map((o) => o.value));
  let input;
  if (c.type === 4) {
    input = h(c.style === 2 ? "textarea" : "input", {
      value: value()[0], rows: 4, maxLength: c.max_length, placeholder: c.placeholder || "", "data-field": c.custom_id, oninput: (ev) => keep(k, [ev.target.value]),
    });
  } else if (c.type === 3) {
    const many = (c.max_values || 1) > 1;
    input = h("select", { multiple: many, "data-field": c.custom_id, onchange: (ev) => keep(k, [...ev.target.selectedOptions].map((o) => o.value).filter((x) => x !== "")) },
      !many && h("option", { value: "" }, "Choose…"), c.options.map((o) => h("option", { value: o.value, selected: value().includes(o.value) }, o.label)));
  } else {
    const many = c.type === 22;
    input = h("div", { "data-field": c.custom_id }, c.options.map((o) => h("label", { class: "choice" }, h("input", {
      type: many ? "checkbox" : "radio", name: k, value: o.value, checked: value().includes(o.value),
      onchange: (ev) => {
        const rest = value().filter((v) => v !== o.value);
        keep(k, many ? (ev.target.checked ? [...rest, o.value] : rest) : [o.value]);
      },
    }), h("span", {}, o.label, o.description && h("small", {}, o.description)))));
  }
  return h("div", { class: "input" }, h("div", { class: "label" }, l.label, c.required !== false && h("span", { class: "required" }, " *")), l.description && h("small", {}, l.description), input);
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
          const k = keptValue(key + "/" + l.component.custom_id);
          if (k !== undefined) values[l.component.custom_id] = k;
        }
        act({ service: "discord", as: me.key, do: "submit", view: view.id, values });
      },
    }, "Submit")));
}

export function timeline(state, channel, me) {
  const all = [];
  const embeds = showsEmbeds(state, me);
  for (const c of [channel, ...state.discord.channels.filter((t) => t.parent === channel.id)]) {
    const archived = (state.discord.archived || []).includes(c.id);
    const thread = c === channel ? "" : c.name + (archived ? " (archived)" : "");
    all.push(...c.messages.map((m) => [m, false, thread]));
    all.push(...(c.private || []).filter((p) => p.user === me.discord).map((p) => [p.message, true, thread]));
  }
  return all.sort((a, b) => (BigInt(a[0].id) < BigInt(b[0].id) ? -1 : 1)).map(([m, note, thread]) => ({
    key: m.id, content: [m, note, thread, me.key, embeds], build: () => message(m, channel, me, note, thread, embeds),
  }));
}

export const chats = (state, me) => state.discord.channels.filter((c) => !c.parent && (!c.user || c.user === me.discord)).map((c) => ({ ...c, label: c.user ? "nod (direct)" : "# " + c.name }));
export const modalFor = (state, me) => state.discord.modals.find((v) => v.user === me.discord);
export const mine = (me) => me.discord;
export const target = () => undefined;

// showsEmbeds is a setting of the member.
const showsEmbeds = (state, me) => !(state.discord.no_embeds || []).includes(me.discord);

export function composer(state, channel, me, redraw) {
  const box = commands("discord", channel, me, redraw);
  box.append(h("label", { class: "setting" }, h("input", {
    type: "checkbox", checked: showsEmbeds(state, me),
    onchange: async (ev) => { await act({ service: "discord", as: me.key, do: "embeds", text: ev.target.checked ? "on" : "off" }); redraw(); },
  }), "Show embeds"));
  return box;
}
