// The pages of the console, in the order of the navigation. The function draw
// returns the elements of a page. It receives the rest of the path as id, the
// query as URLSearchParams, the session, and redraw, which draws the page again.
// A page without a label has no link. An open page needs no session.
import audit from "./audit.js";
import enroll from "./enroll.js";
import grants from "./grants.js";
import health from "./health.js";
import history from "./history.js";
import inbox, { update } from "./inbox.js";
import passkeys from "./passkeys.js";
import receipts from "./receipts.js";
import request from "./request.js";
import sessions from "./sessions.js";

export const pages = [
  { name: "inbox", label: "Inbox", draw: inbox, update },
  { name: "sessions", label: "Sessions", draw: sessions },
  { name: "history", label: "History", draw: history },
  { name: "grants", label: "Grants", draw: grants },
  { name: "audit", label: "Audit log", draw: audit },
  { name: "receipts", label: "Receipts", draw: receipts },
  { name: "health", label: "Health", draw: health },
  { name: "passkeys", label: "Passkeys", draw: passkeys },
  { name: "enroll", draw: enroll, open: true },
  { name: "i", draw: request },
];
