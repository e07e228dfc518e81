// The page of an invitation. The secret is in the fragment of the URL, so that
// no server log and no link preview has it.
import { act, el, hush, say } from "./dom.js";
import { add, unusable } from "./webauthn.js";

export default async function draw({ id }) {
  const invitation = id || "";
  const head = el("h1", {}, "Add your passkey");
  let invited;
  try {
    invited = await act("/console/passkeys/invited", { invitation });
  } catch (e) {
    return [head, el("p", { class: "problem", role: "alert" }, e.message)];
  }
  if (unusable()) return [head, el("p", { class: "problem", role: "alert" }, unusable())];
  const name = el("input", { id: "label", type: "text", maxlength: 60, autocomplete: "off" });
  const done = el("div", { role: "status" });
  const form = el("form", { onsubmit: async (e) => {
    e.preventDefault();
    try {
      await add(name.value, invitation);
      hush();
      form.remove();
      done.replaceChildren(el("p", {}, "Your passkey was added. You can close this page."),
        el("p", {}, "Add a second one on another device: sign in to the console and open Passkeys."));
    } catch (err) {
      say(err.message);
    }
  } },
    el("p", {}, "An administrator invites ", el("strong", {}, invited.person), " to add a passkey for ", el("strong", {}, invited.site),
      ". You will use it to sign approvals. If you are not " + invited.person + ", close this page."),
    el("label", { for: "label" }, "Name of the passkey"), name,
    el("p", { class: "soft" }, "Such as Phone or Laptop. The link counts once."),
    el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Add passkey")));
  return [el("div", { class: "login" }, head, form, done)];
}
