// The passkeys of the person who is signed in.
import { act as send, ago, call, el, hush, joined, say } from "./dom.js";
import { forget } from "./drafts.js";
import { add, unusable } from "./webauthn.js";

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
  const name = key.label || "Passkey";
  const state = key.revoked ? "revoked" : key.synchronized ? "synchronized" : "on one device";
  return el("li", { class: "passkey" },
    el("div", {}, el("strong", {}, name), " ", el("code", {}, key.id.slice(0, 8)),
      el("div", { class: "soft" }, joined(state, el("span", {}, "added ", ago(key.created)), el("span", {}, key.used ? ["used ", ago(key.used)] : "never used")))),
    !key.revoked && el("button", { type: "button", class: "bad", "aria-label": "Revoke " + name,
      onclick: act(redraw, () => send("/console/passkeys/revoke", { id: key.id })) }, "Revoke"));
}

function adding(list, redraw) {
  if (unusable()) return el("p", { class: "soft" }, unusable());
  if (!list.fresh) return el("p", { class: "soft" }, "To add a passkey, sign out and sign in again. You can add passkeys for 5 minutes after you sign in.");
  const name = el("input", { id: "label", type: "text", maxlength: 60, autocomplete: "off" });
  return el("form", { onsubmit: act(redraw, () => add(name.value).then(() => forget("label"))) },
    el("label", { for: "label" }, "Name of the new passkey"), name,
    el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Add passkey")));
}

export default async function draw({ redraw }) {
  const list = await call("/console/passkeys");
  if (!list.available) return [el("h1", {}, "Passkeys"), el("p", {}, list.problem.message + ": " + list.problem.hint + ".")];
  const valid = list.items.filter((k) => !k.revoked).length;
  return [
    el("h1", {}, "Passkeys"),
    el("p", {}, "With a passkey you sign approvals that need more than a click. It works on " + list.site + " only."),
    valid === 1 && el("p", { class: "soft" }, "Add a second passkey on another device, in case you lose this one."),
    list.items.length ? el("ul", { class: "passkeys" }, list.items.map((k) => row(k, redraw))) : el("p", {}, "No passkeys."),
    el("h2", {}, "Add a passkey"), adding(list, redraw),
  ];
}
