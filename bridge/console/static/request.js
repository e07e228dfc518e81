// One request, with its controls and its timeline.
import { call, clock, el, html, left, post, say } from "./dom.js";

export default async function draw({ id, redraw }) {
  const card = await call("/console/cards/" + encodeURIComponent(id));
  const content = [cardOf(card, redraw)];
  content.version = JSON.stringify(card);
  return content;
}

function cardOf(c, redraw) {
  const form = el("form", { onsubmit: (e) => e.preventDefault() });
  const problems = el("div", { role: "alert" });
  const send = async (answer) => {
    problems.replaceChildren();
    try {
      const got = await post("/console/cards/" + c.id, { ...values(form, c), terms: c.terms, ...answer });
      if (got.problems) {
        for (const [id, text] of Object.entries(got.problems)) {
          problems.append(el("p", { class: "problem" }, (c.fields.find((f) => f.id === id) || {}).label + ": " + text));
        }
        return;
      }
      say(got.state === "pending" ? "Vote recorded." : "Response recorded: " + got.state + ".");
      redraw();
    } catch (e) {
      say(e.message);
      redraw();
    }
  };
  if (c.may_answer) {
    form.append(...c.fields.map(inputOf), problems, ...decisionsOf(c, send));
  }
  return el("article", { class: "card", "aria-labelledby": "headline", "data-state": c.state },
    el("h1", { id: "headline" }, c.headline),
    el("p", { class: "soft" }, c.from + (c.state === "pending" ? " · " + left(c.deadline) : "")),
    html(c.body), html(c.closing),
    c.notes.map((n) => el("p", { class: "soft" }, n)),
    form,
    c.state === "pending" && !c.may_answer && el("p", { class: "soft" }, "You cannot respond to this request. Responders: " + c.asked.join(", ") + "."),
    el("h2", {}, "Timeline"),
    el("ol", { class: "timeline" }, c.timeline.map((m) => el("li", {}, el("time", { datetime: m.at }, clock(m.at)), m.text))),
    el("p", { class: "soft" }, [c.id, c.route && "route " + c.route, c.session && "session " + c.session, c.digest].filter(Boolean).join(" · ")));
}

function decisionsOf(c, send) {
  const buttons = el("div", { class: "buttons" });
  const wants = el("div");
  for (const d of c.decisions) {
    buttons.append(el("button", { type: "button", class: d.tone, onclick: () => (d.wants ? ask(d) : send({ decision: d.id })) }, d.label));
  }
  if (c.fields.length) buttons.append(el("button", { type: "button", class: "good", onclick: () => send({}) }, "Submit"));
  if (c.declinable) buttons.append(el("button", { type: "button", class: "bad", onclick: () => send({ decline: true }) }, "Decline"));
  function ask(d) {
    const label = { reason: "Reason for the denial", input: "Edited input", confirm: "To approve, type: " + c.confirm }[d.wants];
    const field = d.wants === "confirm" ? el("input", { id: "wanted", autocomplete: "off" }) : el("textarea", { id: "wanted", class: d.wants });
    if (d.wants === "input") field.value = pretty(c.input);
    wants.replaceChildren(el("label", { for: "wanted" }, label), field,
      el("div", { class: "buttons" }, el("button", { type: "button", class: d.tone, onclick: () => send({ decision: d.id, [d.wants]: field.value }) }, d.label.replace("…", ""))));
    field.focus();
  }
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

function inputOf(f, n) {
  const id = "field-" + n;
  const hint = f.hint && el("p", { class: "soft", id: id + "-hint" }, f.hint);
  const described = f.hint ? id + "-hint" : false;
  const other = f.other && el("input", { name: "other:" + f.id, "aria-label": "Other answer for " + f.label, placeholder: "Other answer" });
  if (f.options.length) {
    return el("fieldset", { "aria-describedby": described }, el("legend", {}, f.label + (f.required ? "" : " (optional)")), hint,
      f.options.map((o) => el("label", { class: "choice" },
        el("input", { type: f.many ? "checkbox" : "radio", name: f.id, value: o.value, checked: f.value.includes(o.value) }),
        el("span", {}, o.label || o.value, o.description && el("span", { class: "soft" }, " " + o.description)))), other);
  }
  const long = f.widget === "textarea";
  const input = el(long ? "textarea" : "input", { id, name: f.id, type: long ? false : kinds[f.widget] || "text", step: f.widget === "number" ? "any" : false, placeholder: f.placeholder, "aria-describedby": described });
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
