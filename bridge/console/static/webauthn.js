// Calls of the browser's WebAuthn interface with the JSON of the daemon.
import { act } from "./dom.js";

// unusable says why no passkey can be used here, or nothing.
export function unusable() {
  if (!window.isSecureContext) return "Passkeys need https. Ask your administrator for the address of this page with https.";
  if (window.PublicKeyCredential && navigator.credentials) return "";
  return "This app or browser has no passkeys. Open this page in your usual browser: use the menu of the app, or copy the address.";
}

const encode = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const decode = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const ids = (list) => (list || []).map((c) => ({ ...c, id: decode(c.id) }));

// json returns a credential as PublicKeyCredential.toJSON does, which older
// browsers lack.
function json(credential, fields) {
  const response = Object.fromEntries(fields.filter((f) => credential.response[f]).map((f) => [f, encode(credential.response[f])]));
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return { id: credential.id, rawId: encode(credential.rawId), type: credential.type, clientExtensionResults: {}, response };
}

// worded returns a text for an error of the browser. Unused is the text for a
// passkey that the person did not use.
function worded(e, unused) {
  const words = {
    NotAllowedError: unused, AbortError: unused,
    InvalidStateError: "This device has a passkey for you already. Use another device or a security key.",
    NotSupportedError: "This device cannot use the passkey. Try another device.",
    SecurityError: "The browser refuses passkeys at " + location.hostname + ". Use the link from the card, or ask your administrator for the address in console.url.",
  };
  return new Error(words[e.name] || "The browser cannot use a passkey here (" + e.name + "). Try another browser or device.");
}

let open = null; // the dialog of the browser

// dialog opens a dialog of the browser, and ends one that is still open: some never
// end, and a page can have only one. Its own time limit holds even if the browser,
// or what a password manager puts in its place, does not keep it.
function dialog(method, options) {
  if (open) open.abort();
  const own = (open = new AbortController());
  return new Promise((done, fail) => {
    const late = setTimeout(() => {
      fail(new DOMException("", "AbortError"));
      own.abort();
    }, (options.timeout || 120000) + 1000);
    navigator.credentials[method]({ publicKey: options, signal: own.signal }).then(done, (e) => open === own && fail(e)).finally(() => clearTimeout(late));
  });
}

// create creates a key with the options of the daemon.
async function create(options) {
  try {
    const made = await dialog("create", {
      ...options, challenge: decode(options.challenge), user: { ...options.user, id: decode(options.user.id) },
      excludeCredentials: ids(options.excludeCredentials),
    });
    return json(made, ["clientDataJSON", "attestationObject"]);
  } catch (e) {
    throw worded(e, "The browser did not create a passkey: you cancelled it, it took too long, or the device cannot verify you. Try again.");
  }
}

// get signs with a key that the person has.
export async function get(options, unused) {
  try {
    const got = await dialog("get", {
      ...options, challenge: decode(options.challenge), allowCredentials: ids(options.allowCredentials),
    });
    return json(got, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]);
  } catch (e) {
    throw worded(e, unused);
  }
}

// add creates a key and sends it to the daemon. A person who has a key confirms
// the new one with it.
export async function add(label, invitation) {
  const options = await act("/console/passkeys/options", { invitation });
  const proof = options.confirm ? await get(options.confirm,
    "Nothing was added: confirm with a passkey that you have first. If you lost it, ask an administrator for an invitation.") : undefined;
  const response = await create(options.create);
  return act("/console/passkeys", { invitation, label, challenge: options.create.challenge, response, proof });
}
