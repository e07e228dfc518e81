// The passkeys and one-time codes of the person who is signed in.
import { ago, call, el, hush, post, say } from "./dom.js";
import { add, supported } from "./webauthn.js";

// act runs an action of a button and draws the page again.
const act = (redraw, f) => async (e) => {
  e.preventDefault();
  try {
    await f();
    hush();
    await redraw();
  } catch (err) {
    say(err.message);
  }
};

function row(key, redraw) {
  const state = key.revoked ? "revoked" : key.synchronized ? "synchronized" : "on one device";
  return el("tr", {},
    el("th", { scope: "row" }, key.label || "Passkey"), el("td", {}, el("code", {}, key.id.slice(0, 8))), el("td", {}, state),
    el("td", {}, ago(key.created)), el("td", {}, key.used ? ago(key.used) : "never"),
    el("td", {}, !key.revoked && el("button", { type: "button", class: "bad", "aria-label": "Revoke " + (key.label || key.id.slice(0, 8)),
      onclick: act(redraw, () => post("/console/passkeys/revoke", { id: key.id })) }, "Revoke")));
}

function adding(list, redraw) {
  if (!supported()) return el("p", { class: "soft" }, "This browser has no passkeys.");
  if (!list.fresh) return el("p", { class: "soft" }, "To add a passkey, sign out and sign in again. You can add passkeys for 5 minutes after you sign in.");
  const name = el("input", { id: "label", type: "text", maxlength: 60, autocomplete: "off" });
  return el("form", { onsubmit: act(redraw, () => add(name.value)) },
    el("label", { for: "label" }, "Name of the new passkey"), name,
    el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Add passkey")));
}

function codes(list, redraw) {
  const place = el("div", {});
  const start = async () => {
    const made = await post("/console/passkeys/codes", {});
    const code = el("input", { id: "code", type: "text", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6, required: true });
    place.replaceChildren(el("form", { onsubmit: act(redraw, () => call("/console/passkeys/codes", { method: "PUT",
      body: JSON.stringify({ secret: made.secret, code: code.value }), headers: { "Content-Type": "application/json" } })) },
      el("p", {}, "Enter this secret in your authenticator app: ", el("code", {}, made.secret.replace(/(.{4})/g, "$1 ").trim())),
      el("p", {}, el("a", { href: made.url }, "Open it in an app on this device")),
      el("label", { for: "code" }, "Code that the app shows"), code,
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Turn on one-time codes"))));
    code.focus();
  };
  if (list.codes) {
    place.append(el("p", {}, "One-time codes are on."), el("div", { class: "buttons" }, el("button", { type: "button", class: "bad",
      onclick: act(redraw, () => call("/console/passkeys/codes", { method: "DELETE" })) }, "Turn off one-time codes")));
  } else if (list.fresh) {
    place.append(el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => start().catch((e) => say(e.message)) }, "Set up one-time codes")));
  }
  return place;
}

export default async function draw({ redraw }) {
  const list = await call("/console/passkeys");
  if (!list.available) return [el("h1", {}, "Passkeys"), el("p", {}, list.problem.message + ": " + list.problem.hint + ".")];
  const valid = list.items.filter((k) => !k.revoked).length;
  return [
    el("h1", {}, "Passkeys"),
    el("p", {}, "With a passkey you sign approvals that need more than a click. It works on " + list.site + " only."),
    valid === 1 && el("p", { class: "soft" }, "Add a second passkey on another device, in case you lose this one."),
    list.items.length ? el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Passkeys" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Name", "ID", "State", "Added", "Used", "Action"].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, list.items.map((k) => row(k, redraw))))) : el("p", {}, "No passkeys."),
    el("h2", {}, "Add a passkey"), adding(list, redraw),
    el("h2", {}, "One-time codes"),
    el("p", { class: "soft" }, "Codes of an authenticator app are a fallback where nod allows them. They are weaker than a passkey."),
    codes(list, redraw),
  ];
}
