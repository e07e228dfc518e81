import { act, avatar, clock, commands, h, keep, keptValue, link } from "./dom.js";

// text renders the parts of mrkdwn that bots use: entities and dates.
function text(t) {
  const s = t.text.replace(/<!date\^(\d+)\^[^|]*\|([^>]*)>/g, (_, at) => clock(Number(at)));
  if (t.type === "plain_text") return s;
  return s.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function leaf(e) {
  let node = e.text ?? "";
  if (e.type === "link") node = link(e.url, e.text || e.url);
  if (e.type === "date") node = new Date(e.timestamp * 1000).toLocaleTimeString();
  const s = e.style || {};
  for (const [on, tag] of [[s.code, "code"], [s.bold, "b"], [s.italic, "i"], [s.strike, "s"]]) {
    if (on) node = h(tag, {}, node);
  }
  return node;
}

function rich(block) {
  return (block.elements || []).map((e) => {
    const inner = () => (e.elements || []).map(leaf);
    switch (e.type) {
      case "rich_text_preformatted": return h("pre", {}, inner());
      case "rich_text_quote": return h("blockquote", {}, inner());
      case "rich_text_list": {
        const items = e.elements.map((i) => h("li", {}, (i.elements || []).map(leaf)));
        return h(e.style === "ordered" ? "ol" : "ul", { start: (e.offset || 0) + 1, class: "indent" + (e.indent || 0) }, items);
      }
      default: return h("div", { class: "section" }, inner());
    }
  });
}

// options lists the options of a select, including those in groups.
function options(e) {
  return e.options || (e.option_groups || []).flatMap((g) => g.options);
}

// element draws a stateful element. Changes are kept under key until they are
// sent.
function element(e, key, blockID) {
  const field = key + "/" + blockID;
  const initial = (e.initial_options || (e.initial_option ? [e.initial_option] : [])).map((o) => o.value);
  const typed = { plain_text_input: "text", number_input: "number", email_text_input: "email", url_text_input: "url", datepicker: "date", timepicker: "time" }[e.type];
  const value = () => keptValue(field) ?? (typed ? [e.initial_value || e.initial_date || e.initial_time || ""] : initial);
  const common = { "data-block": blockID };
  switch (e.type) {
    case "plain_text_input":
    case "number_input":
    case "email_text_input":
    case "url_text_input":
    case "datepicker":
    case "timepicker":
      return h(e.multiline ? "textarea" : "input", {
        ...common, ...(e.multiline ? {} : { type: typed }), value: value()[0] || "", maxLength: e.max_length, rows: 4, placeholder: e.placeholder ? e.placeholder.text : "",
        oninput: (ev) => keep(field, [ev.target.value]),
      });
    case "radio_buttons":
    case "checkboxes": {
      const many = e.type === "checkboxes";
      return h("div", common, e.options.map((o) => h("label", { class: "choice" },
        h("input", {
          type: many ? "checkbox" : "radio", name: field, value: o.value, checked: value().includes(o.value),
          onchange: (ev) => {
            const rest = value().filter((v) => v !== o.value);
            keep(field, many ? (ev.target.checked ? [...rest, o.value] : rest) : [o.value]);
          },
        }), h("span", {}, o.text.text, o.description && h("small", {}, o.description.text)))));
    }
    case "static_select":
    case "multi_static_select": {
      const many = e.type === "multi_static_select";
      return h("select", {
        ...common, multiple: many, onchange: (ev) => keep(field, [...ev.target.selectedOptions].map((o) => o.value).filter((v) => v !== "")),
      }, !many && h("option", { value: "" }, e.placeholder ? e.placeholder.text : "Choose…"),
      options(e).map((o) => h("option", { value: o.value, selected: value().includes(o.value) }, o.text.text)));
    }
  }
  return h("span", {}, e.type);
}

// values collects the inputs under key, by block.
function values(blocks, key) {
  const out = {};
  for (const b of blocks) {
    const v = keptValue(key + "/" + b.block_id);
    if (v !== undefined) out[b.block_id] = v;
  }
  return out;
}

function block(b, key, press, errors = {}) {
  switch (b.type) {
    case "header": return h("div", { class: "heading" }, text(b.text));
    case "section": return h("div", { class: "section" }, b.text && text(b.text));
    case "divider": return h("hr");
    case "context": return h("div", { class: "context" }, b.elements.map((e) => h("span", {}, text(e))));
    case "rich_text": return h("div", { class: "rich" }, rich(b));
    case "input": return h("div", { class: "input" },
      h("div", { class: "label" }, text(b.label), b.optional && h("small", {}, " (optional)")), element(b.element, key, b.block_id),
      b.hint && h("small", {}, text(b.hint)), errors[b.block_id] && h("div", { class: "error" }, errors[b.block_id]));
    case "actions": return h("div", { class: "actions" }, b.elements.map((e) => e.type === "button"
      ? h("button", { class: e.style || "", onclick: () => press(e) }, e.text.text) : element(e, key, b.block_id)));
  }
  return h("div", { class: "section" }, b.type);
}

function message(m, channel, me, note) {
  const key = "slack/" + channel.id + "/" + m.ts;
  const press = (e) => act({
    service: "slack", as: me.key, do: "press", channel: channel.id, message: m.ts, control: e.action_id, values: values(m.blocks, key),
  });
  return h("article", { class: note ? "message note" : "message", "data-message": m.ts },
    avatar("nod", true),
    h("div", { class: "body" },
      h("div", { class: "by" }, h("b", {}, "nod"), h("span", { class: "app" }, "APP"), h("time", {}, clock(Number(m.ts)))),
      note && h("div", { class: "only" }, "Only visible to you"),
      m.subtype === "thread_broadcast" && h("div", { class: "only" }, "replied to a thread"),
      m.blocks && m.blocks.length ? m.blocks.map((b) => block(b, key, press)) : h("div", {}, text({ type: "mrkdwn", text: m.text })),
      m.edits && h("small", { class: "edited" }, "")));
}

export function modal(view, me) {
  const v = view.view;
  const key = "slack/view/" + view.id;
  return h("div", { class: "modal", role: "dialog", "aria-label": v.title.text },
    h("div", { class: "title" }, v.title.text, h("button", {
      class: "x", "aria-label": "close", onclick: () => act({ service: "slack", as: me.key, do: "close", view: view.id }),
    }, "✕")),
    h("div", { class: "content" }, v.blocks.map((b) => block(b, key, () => {}, view.errors || {}))),
    h("div", { class: "foot" },
      v.close && h("button", { onclick: () => act({ service: "slack", as: me.key, do: "close", view: view.id }) }, v.close.text),
      v.submit && h("button", {
        class: "primary", onclick: async () => {
          const r = await act({ service: "slack", as: me.key, do: "submit", view: view.id, values: values(v.blocks, key) });
          for (const e of document.querySelectorAll("#slack .modal .error")) e.remove();
          for (const [id, why] of Object.entries(r.errors || {})) {
            const at = document.querySelector(`#slack .modal [data-block="${CSS.escape(id)}"]`);
            if (at) at.after(h("div", { class: "error" }, why));
          }
        },
      }, v.submit.text)));
}

// timeline lists the shown messages, each with its data.
export function timeline(state, channel, me) {
  const notes = (channel.private || []).filter((p) => p.user === me.slack).map((p) => [p.message, true]);
  return [...channel.messages.map((m) => [m, false]), ...notes]
    .sort((a, b) => Number(a[0].ts) - Number(b[0].ts))
    .map(([m, note]) => ({ key: m.ts, content: [m, note, me.key], build: () => message(m, channel, me, note) }));
}

export const chats = (state, me) => state.slack.channels.filter((c) => !c.user || c.user === me.slack).map((c) => ({ ...c, label: c.user ? "nod (direct)" : "# " + c.name }));
export const modalFor = (state, me) => state.slack.views.find((v) => v.user === me.slack);
export const mine = (me) => me.slack;
export const target = () => undefined;
export const composer = (state, channel, me, redraw) => commands("slack", channel, me, redraw);
