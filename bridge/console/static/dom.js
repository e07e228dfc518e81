// Elements, calls and texts that every page uses. Texts are inserted as text.
// The only HTML is that of cards, which the daemon has escaped.

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

export async function call(path, options = {}) {
  const response = await fetch(path, { headers: { Accept: "application/json" }, ...options });
  const body = await response.json().catch(() => ({}));
  if (response.status === 401) signedOut();
  if (!response.ok) {
    const e = body.error || { message: "nod responded with status " + response.status };
    throw new Error(e.message + (e.hint ? " (" + e.hint + ")" : ""));
  }
  return body;
}

export const post = (path, body) =>
  call(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

let sayTimer;
export function say(text) {
  said.textContent = visible(text);
  said.hidden = false;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => (said.hidden = true), 8000);
}

export const hush = () => (said.hidden = true);

export const clock = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" }).replace(/\s/g, " ");

export function left(deadline) {
  const s = Math.round((new Date(deadline) - Date.now()) / 1000);
  if (s <= 0) return "deadline passed";
  if (s < 90) return s + " s left";
  if (s < 5400) return Math.round(s / 60) + " min left";
  return Math.round(s / 3600) + " h left";
}

export const state = (s) => el("span", { class: "state " + s }, s);

// html returns the elements of HTML that the daemon has escaped.
export function html(text) {
  const t = document.createElement("template");
  t.innerHTML = text;
  return t.content;
}
