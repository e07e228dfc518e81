// The content of a request with its controls, for a page and for a list.
import { act, el, html, say } from "./dom.js";
import { diff } from "./diff.js";
import { forget, keep, restore, typed } from "./drafts.js";

// answers returns the content of a card and the controls that the person may
// use. With brief, decisions that need text are behind a menu. After a response,
// done is called with its words; after a failure, failed.
export function answers(c, { brief, done, failed }) {
  const form = el("form", { onsubmit: (e) => e.preventDefault() });
  const problems = el("div", { role: "alert" });
  const send = async (answer) => {
    problems.replaceChildren();
    const buttons = [...form.querySelectorAll("button:enabled")];
    const able = (on) => buttons.forEach((b) => (b.disabled = !on));
    able(false); // until nod has answered
    try {
      const got = await act("/console/cards/" + c.id, { ...values(form, c), terms: c.terms, seen: c.seen, ...answer });
      if (got.sign) { // the approval counts once the person has signed it there
        location.assign(got.sign);
        return;
      }
      if (got.problems) {
        able(true);
        for (const [id, text] of Object.entries(got.problems)) {
          problems.append(el("p", { class: "problem" }, (c.fields.find((f) => f.id === id) || {}).label + ": " + text));
        }
        return;
      }
      forget("field-" + c.id);
      forget("wanted-" + c.id);
      const words = got.state === "pending" ? "Vote recorded." : "Response recorded: " + got.state + ".";
      say(words);
      done(words);
    } catch (e) {
      say(e.unknown ? e.message + " It is unknown whether your response was recorded. Look at the request before you respond again." : e.message);
      able(true);
      failed();
    }
  };
  if (c.may_answer) {
    form.append(...c.fields.map((f, n) => inputOf(f, c.id + "-" + n)), problems, ...decisionsOf(c, send, brief));
  }
  return [el("div", { class: "content" }, html(c.body), html(c.closing)), ...c.notes.map((n) => el("p", { class: "soft" }, n)), form];
}

function decisionsOf(c, send, brief) {
  const buttons = el("div", { class: "buttons" });
  const wants = el("div");
  const rest = el("details", { class: "rest" }, el("summary", {}, "More…"));
  for (const d of c.decisions) {
    const short = !brief || d.id === "once" || d.id === "deny" || c.decisions.length < 3;
    (short ? buttons : rest).append(el("button", { type: "button", class: d.tone, "data-decision": d.id,
      onclick: () => (d.wants ? ask(d) : send({ decision: d.id })) }, d.label));
  }
  if (rest.children.length > 1) buttons.append(rest);
  if (c.fields.length) buttons.append(el("button", { type: "button", class: "good", onclick: () => send({}) }, "Submit"));
  if (c.declinable) buttons.append(el("button", { type: "button", class: "bad", onclick: () => send({ decline: true }) }, "Close for everyone, no answer"));
  function ask(d, again) {
    const id = "wanted-" + c.id + "-" + d.id;
    const label = { reason: d.id === "respond" ? "Answer for the agent" : "Reason for the denial", input: "Edited input", confirm: c.confirm }[d.wants];
    const field = d.wants === "confirm"
      ? el("input", { id, name: "wanted", autocomplete: "off" })
      : el("textarea", { id, name: "wanted", class: d.wants });
    const changes = el("div");
    if (d.wants === "input") field.value = pretty(c.input);
    if (again) restore(el("div", {}, field));
    if (d.wants === "input") {
      const compare = () => changes.replaceChildren(diff(pretty(c.input), field.value));
      field.addEventListener("input", compare);
      compare();
    }
    const submit = d.wants === "input" ? "Approve the edited input" : d.label.replace("…", "");
    const answer = () => send({ decision: d.id, [d.wants]: field.value });
    wants.replaceChildren(el("label", { for: id }, label), field, changes, el("div", { class: "buttons" },
      el("button", { type: "button", class: d.tone, onclick: answer }, submit),
      el("button", { type: "button", onclick: () => {
        forget("wanted-" + c.id);
        wants.replaceChildren();
      } }, "Cancel")));
    if (!again) field.focus();
    keep(field); // it opens again after a reload
  }
  const begun = c.decisions.find((d) => d.wants && typed("wanted-" + c.id + "-" + d.id).length);
  if (begun) ask(begun, true);
  return [buttons, wants];
}

function pretty(json) {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

const kinds = { number: "number", date: "date", time: "time", email: "email", url: "url" };

function inputOf(f, key) {
  const id = "field-" + key;
  const hint = f.hint && el("p", { class: "soft", id: id + "-hint" }, f.hint);
  const described = f.hint ? id + "-hint" : false;
  const other = f.other && el("input", { id: id + "-other", name: "other:" + f.id, "aria-label": "Other answer for " + f.label, placeholder: "Other answer" });
  if (f.options.length) {
    return el("fieldset", { "aria-describedby": described }, el("legend", {}, f.label + (f.required ? "" : " (optional)")), hint,
      f.options.map((o, n) => el("label", { class: "choice" },
        el("input", { id: id + "-" + n, type: f.many ? "checkbox" : "radio", name: f.id, value: o.value, checked: f.value.includes(o.value) }),
        el("span", {}, o.label || o.value, o.description && el("span", { class: "soft" }, " " + o.description)))), other);
  }
  const long = f.widget === "textarea";
  const input = el(long ? "textarea" : "input", {
    id, name: f.id, type: long ? false : kinds[f.widget] || "text", step: f.widget === "number" ? "any" : false,
    placeholder: f.placeholder, "aria-describedby": described,
  });
  input.value = f.value[0] || "";
  return el("div", {}, el("label", { for: id }, f.label + (f.required ? "" : " (optional)")), hint, input, other);
}

function values(form, c) {
  const data = new FormData(form);
  const out = { values: {}, others: {} };
  for (const f of c.fields) {
    out.values[f.id] = data.getAll(f.id).filter((v) => v !== "");
    const other = data.get("other:" + f.id);
    if (other) out.others[f.id] = other;
  }
  return out;
}
