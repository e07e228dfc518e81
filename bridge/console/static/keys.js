// Keyboard shortcuts. Each is a single key, works outside text fields, and
// moves the focus or opens something: Enter decides.
import { el } from "./dom.js";

const go = { i: "inbox", h: "history", g: "grants", a: "audit" };

const help = [
  ["j, k or the arrow keys", "Next and previous request"],
  ["Enter or o", "Open the request"],
  ["e", "Show all of the request in the list"],
  ["x", "Select the request, to decide several together"],
  ["a", "Go to the approving button; Enter approves"],
  ["d", "Go to the denying button; Enter denies"],
  ["/", "Search"],
  ["g, then i h g a", "Inbox, History, Grants, Audit log"],
  ["u", "Back to the list"],
  ["?", "This list"],
];

// Shortcuts of one key can get in the way of dictation, so that they can be
// switched off. The browser remembers it, if it may.
let off = false;
try {
  off = localStorage.getItem("nod-shortcuts") === "off";
} catch {
  // shortcuts are on
}
const isOn = () => !off;
function switchTo(on) {
  off = !on;
  try {
    localStorage.setItem("nod-shortcuts", on ? "on" : "off");
  } catch {
    // until the page is loaded again
  }
}

// overlay shows the shortcuts.
export function overlay() {
  const box = el("dialog", { class: "help", "aria-labelledby": "help-title", onclose: () => box.remove() },
    el("h2", { id: "help-title" }, "Keyboard shortcuts"),
    el("dl", {}, help.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])),
    el("label", { class: "choice" }, el("input", { type: "checkbox", checked: isOn(), onchange: (e) => switchTo(e.target.checked) }),
      "Use shortcuts"),
    el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => box.close() }, "Close")));
  document.body.append(box);
  box.showModal();
}

const pause = 1500; // milliseconds without a key after which a text has ended

// keys installs the shortcuts. They work only while someone is signed in. If a
// text field disappears while someone types into it, the rest of the text is not
// taken for shortcuts.
export function keys(main, signedIn) {
  let prefix = false;
  let typed = -Infinity; // when a key last went into a text
  const current = () => document.activeElement.closest?.("li[data-id]") || main.querySelector("article");
  const press = (selector) => current()?.querySelector(selector)?.focus();
  const move = (step) => {
    const rows = [...main.querySelectorAll("a.row")];
    const at = rows.indexOf(document.activeElement.closest?.("li")?.querySelector("a.row"));
    rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
    return rows.length > 0;
  };
  const actions = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    o: () => current()?.querySelector("a.row")?.click(),
    e: () => current()?.querySelector("button.expand")?.click(),
    x: () => current()?.querySelector("input.pick:enabled")?.click(),
    a: () => press('button[data-decision="once"]'),
    d: () => press('button[data-decision="deny"]'),
    "/": () => main.querySelector("input[type=search]")?.focus(),
    u: () => (location.hash = "#/inbox"),
    "?": overlay,
  };
  addEventListener("pointerdown", () => (typed = -Infinity));
  addEventListener("keydown", (e) => {
    const typing = e.target.closest?.("input:not([type=checkbox]), textarea, select, dialog, summary");
    if (e.target.matches?.("input:not([type=checkbox]), textarea")) {
      typed = e.key === "Enter" && e.target.matches("input") ? -Infinity : e.timeStamp;
    } else if (e.key === "Tab" || e.key === "Escape") typed = -Infinity;
    else if (!typing && e.timeStamp - typed < pause) {
      typed = e.timeStamp;
      e.preventDefault(); // Enter would press what has the focus now
      return;
    }
    if (off || !signedIn() || e.altKey || e.ctrlKey || e.metaKey || typing) return;
    if (prefix && go[e.key]) location.hash = "#/" + go[e.key];
    else if (actions[e.key]) {
      if (actions[e.key]() === false) return;
    } else {
      prefix = e.key === "g";
      return;
    }
    prefix = false;
    e.preventDefault();
  });
}
