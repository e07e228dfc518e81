// Signed receipts, verified by the daemon.
import { el, act, link } from "./dom.js";

async function verify(body, result) {
  result.replaceChildren(el("p", {}, "Verifying…"));
  try {
    const { words, receipt } = await act("/console/receipts", body);
    result.replaceChildren(el("p", { class: "heading" }, "✓ Valid: " + words),
      el("p", {}, el("a", { href: "#/i/" + receipt.id }, "Open the request")));
  } catch (e) {
    result.replaceChildren(el("p", { class: "problem" }, "✗ " + e.message));
  }
}

// receiptOf returns the receipt of a request, with a button that verifies it.
export function receiptOf(c) {
  const result = el("div", { role: "status" });
  return el("details", { class: "receipt" }, el("summary", {}, "Receipt"),
    el("pre", { tabindex: 0 }, el("code", {}, c.receipt)),
    el("div", { class: "buttons" },
      el("button", { type: "button", onclick: () => verify({ id: c.id }, result) }, "Verify the receipt")), result);
}

export default async function draw() {
  const result = el("div", { role: "status" });
  const text = el("textarea", { id: "receipt", name: "receipt", class: "input", required: true, spellcheck: "false" });
  return [el("h1", {}, "Receipts"),
    el("p", { class: "soft" }, "Each decision has a signed receipt. ",
      "Enter one, or a record as nod show --json prints it, to see what it proves."),
    el("form", { class: "panel", onsubmit: (e) => {
      e.preventDefault();
      verify({ receipt: text.value }, result);
    } }, el("label", { for: "receipt" }, "Receipt or record"), text,
    el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Verify")), result),
    el("p", { class: "soft" }, "The daemon verifies with its own keys here. ",
      "To verify independently, run nod receipt verify with a copy of the public keys. ",
      "Receipts of closed requests are on their pages: see ",
      el("a", { href: link("history", {}) }, "the history"), ".")];
}
