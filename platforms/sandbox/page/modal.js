// Keyboard use of modals: Escape closes the one on top, and Tab stays in it.
const fields = "button, input, select, textarea, summary, a[href], [tabindex='0']";
let shown = null; // the modal that has the focus
let before = null; // what had the focus before it opened

// top returns the modal on top. Only one that is visible counts.
function top() {
  return [...document.querySelectorAll(".overlay .modal")].findLast((m) => m.offsetParent !== null || m.getClientRects().length > 0) || null;
}

const inside = (modal) => [...modal.querySelectorAll(fields)].filter((e) => !e.disabled && e.getClientRects().length > 0);

// focusModal moves the focus into a modal that has just opened, and back when
// the last one has closed.
export function focusModal() {
  const modal = top();
  if (modal === shown) return;
  if (modal && !shown) before = document.activeElement;
  shown = modal;
  if (modal) {
    modal.setAttribute("aria-modal", "true");
    const all = inside(modal);
    if (!modal.contains(document.activeElement)) (all.find((e) => !e.classList.contains("x")) || all[0])?.focus();
    return;
  }
  if (before && before.isConnected) before.focus();
  before = null;
}

document.addEventListener("keydown", (ev) => {
  const modal = top();
  if (!modal) return;
  if (ev.key === "Escape") {
    ev.preventDefault();
    (modal.querySelector(".x") || modal.querySelector(".foot button")).click();
    return;
  }
  if (ev.key !== "Tab") return;
  const all = inside(modal);
  if (all.length === 0) return;
  const first = all[0];
  const last = all[all.length - 1];
  const away = !modal.contains(document.activeElement);
  if (away || (ev.shiftKey ? document.activeElement === first : document.activeElement === last)) {
    ev.preventDefault();
    (ev.shiftKey ? last : first).focus();
  }
}, true);
