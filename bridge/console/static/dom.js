// Elements, calls and texts that every page uses. Texts are inserted as text.
// The only HTML is that of cards, which the daemon has escaped.

import { forget } from "./drafts.js";

const said = document.getElementById("said");

// visible replaces invisible characters with their code points, as cards do.
// Variation selectors and joiners stay inside an emoji.
const unseen = /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\p{Variation_Selector}|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|(?![\n\t \u200d]|\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\u2800\u{1d159}\ufff9-\ufffd]/gu;

export function visible(text) {
  return text.replace(unseen, (c) => "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

// el returns an element with attributes and children.
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  if (name === "code" || name === "pre") e.translate = false; // a command must not change
  for (const [k, v] of Object.entries(attributes)) {
    if (v === false || v === undefined || v === null) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false).map((c) => (typeof c === "string" ? visible(c) : c)));
  return e;
}

// signedOut is called when a call finds that the session has ended.
let signedOut = () => {};
export const onSignedOut = (f) => (signedOut = f);

let ahead = 0; // milliseconds by which the clock of the daemon is ahead of this device

// call returns the answer of the daemon. The error of a call whose answer was
// lost is unknown: what it asked for may have happened.
export async function call(path, options = {}) {
  const lost = (why) => Object.assign(new Error(why), { unknown: true });
  let response, body;
  try {
    response = await fetch(path, { cache: "no-store", headers: { Accept: "application/json" }, signal: AbortSignal.timeout(patience), ...options });
    body = await response.json().catch(() => null);
  } catch {
    throw lost("No answer from nod arrived.");
  }
  const error = body && body.error && body.error.message ? body.error : null;
  if (!response.ok && error) {
    if (response.status === 401) signedOut();
    throw Object.assign(new Error(error.message + (error.hint ? " (" + error.hint + ")" : "")), { status: response.status });
  }
  if (!response.ok || body === null) throw lost("A server in front of nod answered with status " + response.status + ".");
  const at = Date.parse(response.headers.get("date"));
  ahead = Math.abs(at - Date.now()) > 5000 ? at - Date.now() : 0;
  return body;
}

const patience = 20000; // milliseconds

// act sends what a person decided. It asks again while no answer arrives: nod
// then says what is recorded.
export async function act(path, body) {
  const request = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", Accept: "application/json" } };
  for (let pause = 500; ; pause *= 2) {
    try {
      return await call(path, { ...request, signal: AbortSignal.timeout(patience) });
    } catch (e) {
      if (!e.unknown || pause > 4000) throw e;
      await new Promise((done) => setTimeout(done, pause));
    }
  }
}

let sayTimer;
export function say(text) {
  said.textContent = visible(text);
  said.hidden = false;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => (said.hidden = true), 8000);
}

export const hush = () => (said.hidden = true);

export const clock = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" }).replace(/\s/g, " ");

// span returns a duration as text, in its largest unit.
function span(ms) {
  const s = Math.round(ms / 1000);
  if (s < 90) return s + " s";
  if (s < 5400) return Math.round(s / 60) + " min";
  if (s < 172800) return Math.round(s / 3600) + " h";
  return Math.round(s / 86400) + " days";
}

const words = {
  left: (ms) => (ms <= 0 ? "deadline passed" : span(ms) + " left"),
  ago: (ms) => (ms >= -5000 ? "a moment ago" : span(-ms) + " ago"),
};
const urgent = 5 * 60 * 1000;

function tick(e) {
  const ms = new Date(e.dateTime) - Date.now() - ahead;
  e.textContent = words[e.dataset.as](ms);
  e.classList.toggle("urgent", e.dataset.as === "left" && ms < urgent);
}

// left and ago return a time relative to now, which stays current. Its title is
// the exact time.
function relative(as, at) {
  const e = el("time", { datetime: at, title: clock(at), "data-as": as });
  tick(e);
  return e;
}
export const left = (at) => relative("left", at);
export const ago = (at) => relative("ago", at);
setInterval(() => document.querySelectorAll("time[data-as]").forEach(tick), 5000);

export const state = (s) => el("span", { class: "state " + s }, s);

// html returns the elements of HTML that the daemon has escaped.
export function html(text) {
  const t = document.createElement("template");
  t.innerHTML = text;
  return t.content;
}

export const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");

// link returns the URL of a page with a query.
export function link(name, query) {
  const q = new URLSearchParams(Object.entries(query).filter(([, v]) => v));
  return "#/" + name + (String(q) ? "?" + q : "");
}

// joined returns the parts that are not empty, with a dot between them.
export function joined(...parts) {
  return parts.filter(Boolean).flatMap((p, n) => (n ? [" · ", p] : [p]));
}

// choose returns a labeled select, with an option for no filter.
export function choose(name, label, options, value) {
  const all = value && !options.includes(value) ? [value, ...options] : options;
  return el("label", { class: "filter" }, label, el("select", { name },
    el("option", { value: "" }, "any"), all.map((o) => el("option", { value: o, selected: o === value }, o))));
}

// filtered reports whether a query has filters.
export const filtered = (query) => [...query].some(([k, v]) => v && k !== "who" && k !== "page");

// filters returns a form whose fields are the query of a page.
export function filters(page, query, ...fields) {
  const used = filtered(query);
  const form = el("form", { class: "filters", role: "search", onsubmit: (e) => {
    e.preventDefault();
    apply();
  } }, fields, el("button", { type: "submit" }, "Search"),
  used && el("a", { href: link(page, { who: query.get("who") }) }, "Clear filters"));
  for (const f of form.querySelectorAll("input")) f.id = "filter-" + link(page, Object.fromEntries(query)) + "-" + f.name; // drafts keep it
  const kept = { who: query.get("who"), session: query.get("session") };
  const apply = () => {
    forget("filter-");
    location.hash = link(page, { ...Object.fromEntries(new FormData(form)), ...kept });
  };
  form.addEventListener("change", (e) => e.target.tagName === "SELECT" && apply());
  return el("details", { class: "folded", open: used || matchMedia("(min-width: 36rem)").matches }, el("summary", {}, "Filters"), form);
}

// dates returns the fields for the first and the last day on which a request was
// opened.
export function dates(query) {
  const date = (name, label) =>
    el("label", { class: "filter" }, label, el("input", { type: "date", name, value: query.get(name) || "" }));
  return [date("since", "From"), date("until", "To")];
}

// zoned returns a query whose days are those of the person.
export function zoned(query) {
  const out = new URLSearchParams(query);
  for (const [name, days] of [["since", 0], ["until", 1]]) {
    const [year, month, day] = (query.get(name) || "").split("-").map(Number);
    if (day) out.set(name, new Date(year, month - 1, day + days).toISOString());
  }
  return out;
}

export const find = (value, label) =>
  el("label", { class: "filter text" }, "Search", el("input", { type: "search", name: "text", value, title: label }));
