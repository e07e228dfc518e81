// Shows the blocks of Slack and their interactive elements.
import { focusModal } from "./modal.js";
import { h, named, keep, keptValue, link } from "./dom.js";
import { date, stamp, text, user } from "./mrkdwn.js";

let people = [];

// setPlaces remembers what members can choose in menus.
export function setPlaces(state) {
  people = state.members.map((m) => ({ value: m.slack, label: m.name }));
}

function leaf(e) {
  const nodes = {
    text: () => e.text, link: () => link(e.url, e.text || e.url), user: () => user(e.user_id),
    date: () => (e.url ? link(e.url, date(e.timestamp, e.format)) : stamp(e.timestamp, e.format)),
  };
  let node = nodes[e.type] ? nodes[e.type]() : e.type;
  const s = e.style || {};
  for (const [on, tag] of [[s.code, "code"], [s.bold, "b"], [s.italic, "i"], [s.strike, "s"], [s.underline, "u"], [s.highlight, "mark"]]) {
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

const fields = {
  plain_text_input: "text", number_input: "number", email_text_input: "email", url_text_input: "url",
  datepicker: "date", timepicker: "time", datetimepicker: "datetime-local",
};

// choicesOf returns the groups of options of an element.
function choicesOf(e) {
  const own = (options) => (options || []).map((o) => ({ value: o.value, label: text(o.text), about: o.description && text(o.description), url: o.url }));
  if (e.type === "users_select") return [{ options: people }];
  if (e.option_groups) return e.option_groups.map((g) => ({ label: text(g.label), options: own(g.options) }));
  return [{ options: own(e.options) }];
}

// initial returns the values that an element has at first.
function initial(e) {
  const local = (seconds) => {
    const d = new Date(seconds * 1000);
    return new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  };
  if (e.initial_date_time) return [local(e.initial_date_time)];
  const one = e.initial_option ? [e.initial_option.value] : [];
  const many = (e.initial_options || []).map((o) => o.value);
  const plain = [e.initial_value, e.initial_date, e.initial_time, e.initial_user];
  return [...one, ...many, ...plain.filter((v) => v !== undefined)];
}

// sent converts what a member typed to what the action carries.
const sent = (e, values) => (e.type === "datetimepicker" ? values.filter(Boolean).map((v) => String(Math.floor(new Date(v) / 1000))) : values);

// entry draws an element that keeps what a member enters. Changed is called
// after each change, if the element sends them.
function entry(e, field, blockID, changed) {
  const value = () => keptValue(field) ?? initial(e);
  const set = (values, now) => {
    keep(field, values);
    if (changed && now) changed(sent(e, values));
  };
  const common = { "data-block": blockID };
  if (fields[e.type]) {
    const long = e.multiline;
    return h(long ? "textarea" : "input", {
      ...common, ...(long ? {} : { type: fields[e.type] }), value: value()[0] || "", maxLength: e.max_length, rows: 4, placeholder: e.placeholder ? e.placeholder.text : "",
      min: e.min_value, max: e.max_value, step: e.type === "number_input" ? (e.is_decimal_allowed ? "any" : 1) : undefined,
      oninput: (ev) => set(ev.target.value === "" ? [] : [ev.target.value]), onchange: (ev) => set(ev.target.value === "" ? [] : [ev.target.value], true),
    });
  }
  const groups = choicesOf(e);
  if (e.type === "radio_buttons" || e.type === "checkboxes") {
    const many = e.type === "checkboxes";
    return h("div", common, groups[0].options.map((o) => h("label", { class: "choice" },
      h("input", {
        type: many ? "checkbox" : "radio", name: field, value: o.value, checked: value().includes(o.value),
        onchange: (ev) => {
          const rest = value().filter((v) => v !== o.value);
          set(many ? (ev.target.checked ? [...rest, o.value] : rest) : [o.value], true);
        },
      }), h("span", {}, o.label, o.about && h("small", {}, o.about)))));
  }
  if (e.type === "file_input") return h("span", common, "Files cannot be chosen here.");
  const many = e.type.startsWith("multi_");
  const option = (o) => h("option", { value: o.value, selected: value().includes(o.value) }, o.label, o.about && " — ", o.about);
  return h("select", {
    ...common, multiple: many, onchange: (ev) => set([...ev.target.selectedOptions].map((o) => o.value).filter((v) => v !== ""), true),
  }, !many && h("option", { value: "" }, e.placeholder ? e.placeholder.text : "Choose…"),
  groups.map((g) => (g.label ? h("optgroup", { label: g.label }, g.options.map(option)) : g.options.map(option))));
}

// A click elsewhere closes an open menu.
document.addEventListener("click", (ev) => {
  for (const menu of document.querySelectorAll("#slack .menu[open]")) menu.open = menu.contains(ev.target);
});

const keeps = (e) => fields[e.type] || /select$|^radio_buttons$|^checkboxes$/.test(e.type);
const partsOf = (b) => [...(b.elements || []), ...(b.element ? [b.element] : []), ...(b.accessory ? [b.accessory] : [])];

// slots lists the elements of a block that keep values, by the key that the
// action uses for them.
function slots(b) {
  const own = partsOf(b).filter(keeps);
  return own.map((e) => ({ e, key: own.length > 1 ? b.block_id + "/" + e.action_id : b.block_id }));
}

// offered reports whether an element still offers the values that were entered.
function offered(e, entered) {
  const all = choicesOf(e).flatMap((g) => g.options.map((o) => o.value));
  return Boolean(fields[e.type]) || entered.every((v) => all.includes(v));
}

// values collects what was entered below a key.
export function values(blocks, key) {
  const out = {};
  for (const b of blocks || []) {
    for (const s of slots(b)) {
      const v = keptValue(key + "/" + s.key);
      if (v !== undefined && offered(s.e, v)) out[s.key] = sent(s.e, v);
    }
  }
  return out;
}

// confirmed asks the member before a click, if the element wants that.
function confirmed(e, go) {
  if (!e.confirm) return go();
  const c = e.confirm;
  const box = h("div", { class: "overlay confirm" });
  const end = (yes) => () => { box.remove(); focusModal(); if (yes) go(); };
  box.append(h("div", { class: "modal", role: "alertdialog", "aria-label": c.title.text },
    h("div", { class: "title" }, text(c.title)), h("div", { class: "content section" }, text(c.text)),
    h("div", { class: "foot" }, h("button", { onclick: end(false) }, text(c.deny)),
      h("button", { class: c.style === "danger" ? "danger filled" : "primary", onclick: end(true) }, text(c.confirm)))));
  document.getElementById("slack").append(box);
  focusModal();
  return undefined;
}

// element draws an interactive element of a block. The function use carries out
// a click.
function element(e, b, key, use) {
  const id = b.block_id + "/" + e.action_id;
  const go = (control, url) => () => confirmed(e, () => { if (url) window.open(url, "_blank", "noopener"); use(control); });
  switch (e.type) {
    case "button":
      return h("button", { class: e.style || "", "aria-label": e.accessibility_label, onclick: go(id, e.url) }, text(e.text));
    case "overflow": {
      const choose = (o) => (ev) => { ev.target.closest("details").open = false; go(id + "#" + o.value, o.url)(); };
      const items = e.options.map((o) => h("button", { onclick: choose(o) }, text(o.text), o.description && h("small", {}, text(o.description))));
      const visible = (ev) => ev.target.open && ev.target.lastChild.scrollIntoView({ block: "nearest" });
      return h("details", { class: "menu", ontoggle: visible }, h("summary", { "aria-label": "More actions" }, "⋯"), h("div", { class: "items" }, items));
    }
  }
  const slot = slots(b).find((s) => s.e === e);
  if (!slot) return h("span", {}, e.type);
  const sends = b.type !== "input" || b.dispatch_action;
  return entry(e, key + "/" + slot.key, b.block_id, sends && (() => confirmed(e, () => use(id))));
}

// folded hides the end of a long text behind a button, as the client does.
function folded(b, content) {
  const size = b.text ? b.text.text.length : 0;
  if (b.expand || size <= 700) return content;
  const more = h("button", { class: "more", onclick: () => { content.classList.remove("folded"); more.remove(); } }, "See more");
  content.classList.add("folded");
  return [content, more];
}

function section(b, key, use) {
  const body = h("div", {}, b.text && folded(b, h("div", { class: "section" }, text(b.text))),
    b.fields && h("div", { class: "fields" }, b.fields.map((f) => h("div", { class: "section" }, text(f)))));
  return b.accessory ? h("div", { class: "beside" }, body, h("div", { class: "accessory actions" }, element(b.accessory, b, key, use))) : body;
}

const draw = {
  header: (b) => h("div", { class: "heading level" + (b.level || 1), role: "heading", "aria-level": "2" }, text(b.text)),
  section,
  divider: () => h("hr"),
  context: (b) => h("div", { class: "context" }, b.elements.map((e) => h("span", {}, text(e)))),
  rich_text: (b) => h("div", { class: "rich" }, rich(b)),
  actions: (b, key, use) => h("div", { class: "actions" }, b.elements.map((e) => element(e, b, key, use))),
  input: (b, key, use, errors) => h("div", { class: "input" },
    h("div", { class: "label" }, text(b.label), b.optional && h("small", {}, " (optional)")), named(element(b.element, b, key, use), b.label.text),
    b.hint && h("small", {}, text(b.hint)), errors[b.block_id] && h("div", { class: "error" }, errors[b.block_id])),
};

// block draws a block. A block that the page does not know shows its type.
export function block(b, key, use, errors = {}) {
  try {
    return draw[b.type] ? draw[b.type](b, key, use, errors) : h("div", { class: "section" }, "(" + b.type + ")");
  } catch (err) {
    console.error(err);
    return h("div", { class: "section error" }, "The page cannot show this " + b.type + " block.");
  }
}
