// Drafts: text that a person has typed and not sent. This tab keeps it through a
// failure, a new sign-in and a reload.
const name = "nod-drafts";
let kept = { person: "", fields: {} };
try {
  kept = { ...kept, ...JSON.parse(sessionStorage.getItem(name)) };
} catch {
  // none, or the browser keeps nothing
}

function write() {
  try {
    sessionStorage.setItem(name, JSON.stringify(kept));
  } catch {
    // the page itself still has them
  }
}

// belong drops the drafts of another person.
export function belong(person) {
  if (kept.person === person) return;
  kept = { person, fields: {} };
  write();
}

const isChoice = (f) => f.type === "radio" || f.type === "checkbox";

// keep remembers a field with an ID. Choosing a radio button changes its group.
export function keep(f) {
  if (!f.id || f.type === "password") return;
  const group = f.type === "radio" && f.form ? [...f.form.elements].filter((e) => e.name === f.name && e.id) : [f];
  for (const e of group) kept.fields[e.id] = isChoice(e) ? e.checked : e.value;
  write();
}

// restore fills in the fields of an element.
export function restore(root) {
  for (const f of root.querySelectorAll("input[id], textarea[id], select[id]")) {
    if (!(f.id in kept.fields) || f.disabled) continue;
    if (isChoice(f)) f.checked = kept.fields[f.id];
    else f.value = kept.fields[f.id];
  }
}

// typed returns the texts of fields whose IDs have a prefix.
export const typed = (prefix) =>
  Object.entries(kept.fields).filter(([id, v]) => id.startsWith(prefix) && typeof v === "string" && v).map(([, v]) => v);

// forget drops the fields whose IDs have a prefix.
export function forget(prefix) {
  for (const id of Object.keys(kept.fields)) if (id.startsWith(prefix)) delete kept.fields[id];
  write();
}
