// The sign-in form.
import { el, hush, post, say } from "./dom.js";

export function loginPage(session, begin) {
  const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  return [el("div", { class: "login" },
    el("h1", {}, "Sign in"),
    session.refused && el("p", { class: "problem", role: "alert" }, session.refused),
    session.oidc && el("p", {}, el("a", { href: "/console/oidc" }, "Sign in with your identity provider")),
    el("form", { onsubmit: async (e) => {
      e.preventDefault();
      try {
        await post("/console/login", { token: token.value });
        hush();
        await begin();
      } catch (err) {
        say(err.message);
      }
    } },
      el("label", { for: "token" }, "Your token"), token,
      el("p", { class: "soft" }, "The token of a person in the config. Run nod config token to create one."),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Sign in"))))];
}
