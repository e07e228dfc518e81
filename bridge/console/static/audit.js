// The audit log, for auditors.
import { act, ago, call, el, joined, say, state } from "./dom.js";

const words = {
  decision: "Decision", vote: "Vote", refusal: "Refused attempt", grant: "Grant given", revoke: "Grant revoked", link: "Account linked",
  handover: "Delegated", mode: "Channel mode changed", stop: "Session stopped", resume: "Session resumed",
};

function row(e) {
  const what = (words[e.type] || e.type) + (e.title ? ": " + e.title : "");
  const text = [el("span", { class: "what" }, what, " ", e.state && state(e.state)),
    el("span", { class: "more" }, joined(ago(e.at), e.by && "by " + e.by, e.agent && "agent " + e.agent,
      e.session && "session " + e.session, e.why))];
  return el("li", {}, e.id ? el("a", { class: "row", href: "#/i/" + e.id }, text) : el("div", { class: "row" }, text));
}

function verifyBox() {
  const result = el("div", { role: "status" });
  return el("div", { class: "panel" }, el("div", { class: "buttons" },
    el("button", { type: "button", class: "good", onclick: async () => {
      result.replaceChildren(el("p", {}, "Verifying…"));
      try {
        const r = await act("/console/audit/verify", {});
        const good = "✓ Verified. Entries: " + r.entries + ". Seals: " + r.seals + ". Not sealed yet: " + r.unsealed + ".";
        const bad = [el("p", { class: "problem" }, "✗ The log was tampered with:"), el("ul", {}, r.problems.map((p) => el("li", {}, p)))];
        result.replaceChildren(...(r.problems.length ? bad : [el("p", { class: "heading" }, good)]));
      } catch (e) {
        result.replaceChildren(el("p", { class: "problem" }, e.message));
      }
    } }, "Verify the log"),
    el("a", { class: "button", href: "/v1/audit", download: "audit.jsonl" }, "Download")), result,
    el("p", { class: "soft" }, "The daemon verifies its own log here. ",
      "To verify it independently, run nod audit verify with a copy of the public keys."));
}

export default async function draw({ session }) {
  const head = [el("h1", {}, "Audit log")];
  if (!session.auditor) {
    return [...head, el("p", { class: "soft" }, "Only auditors can read the audit log. ",
      "Ask your nod administrator to set auditor: true for you in the config.")];
  }
  const list = el("ul", { class: "list" });
  const more = el("button", { type: "button" }, "Show older");
  const add = async (cursor) => {
    const page = await call("/console/audit?cursor=" + encodeURIComponent(cursor));
    list.append(...page.items.map(row));
    more.hidden = !page.next;
    more.onclick = () => add(page.next).catch((e) => say(e.message));
    if (!list.children.length) list.append(el("li", { class: "soft" }, "No entries."));
  };
  await add("");
  return [...head, verifyBox(), list, el("div", { class: "buttons" }, more)];
}
