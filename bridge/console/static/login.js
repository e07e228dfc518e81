// The sign-in form, as a page and in a dialog over a page that stays.
import { act, el, hush } from "./dom.js";

function form(session, begin) {
  const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true, autofocus: true });
  const problem = el("p", { class: "problem", role: "alert" }, session.refused || "");
  return [
    problem,
    session.oidc && el("p", {}, el("a", { href: "/console/oidc?to=" + encodeURIComponent(location.hash) }, "Sign in with your identity provider")),
    el("form", { onsubmit: async (e) => {
      e.preventDefault();
      try {
        await act("/console/login", { token: token.value });
        hush();
        await begin();
      } catch (err) {
        problem.textContent = err.message;
      }
    } },
      el("label", { for: "token" }, "Your token"), token,
      el("p", { class: "soft" }, "The token of a person in the config. Run nod config token to create one."),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Sign in")))];
}

export const loginPage = (session, begin) => [el("div", { class: "login" }, el("h1", {}, "Sign in"), ...form(session, begin).filter(Boolean))];

// askAgain asks a person whose session has ended to sign in again.
export async function askAgain(session, begin) {
  if (document.querySelector("dialog.login")) return;
  const box = el("dialog", { class: "login", "aria-labelledby": "again", onclose: () => box.remove() },
    el("h2", { id: "again" }, "Your session has ended"), el("p", {}, "Sign in to continue. The page keeps what you typed."));
  document.body.append(box);
  box.showModal();
  box.append(...form(await session.catch(() => ({})), async () => {
    await begin();
    box.close();
  }).filter(Boolean));
  box.querySelector("#token").focus();
}
