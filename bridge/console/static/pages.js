// The pages of the console, in the order of the navigation. A page is a module
// whose default export returns the elements of the page. It receives the rest of
// the path as id, the query as URLSearchParams, the session, and redraw, which
// draws the page again. A page without a label has no link. An open page needs no
// session.
export const pages = [
  { name: "inbox", label: "Inbox", module: "./inbox.js" },
  { name: "sessions", label: "Sessions", module: "./sessions.js" },
  { name: "history", label: "History", module: "./history.js" },
  { name: "grants", label: "Grants", module: "./grants.js" },
  { name: "audit", label: "Audit log", module: "./audit.js" },
  { name: "receipts", label: "Receipts", module: "./receipts.js" },
  { name: "health", label: "Health", module: "./health.js" },
  { name: "passkeys", label: "Passkeys", module: "./passkeys.js" },
  { name: "enroll", module: "./enroll.js", open: true },
  { name: "i", module: "./request.js" },
];
