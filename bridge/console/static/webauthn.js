// Calls of the browser's WebAuthn interface with the JSON of the daemon.
import { post } from "./dom.js";

export const supported = () => Boolean(window.PublicKeyCredential && navigator.credentials);

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

// worded returns a text for an error of the browser.
function worded(e) {
  if (e.name === "InvalidStateError") return new Error("This device has a passkey for you already. Use another device or a security key.");
  if (e.name === "NotAllowedError") return new Error("The browser did not create a passkey: it was canceled, took too long, or the device cannot verify you. Try again.");
  if (e.name === "SecurityError") return new Error("The browser refuses passkeys on this page, because its address is not the one in console.url.");
  return e;
}

// create creates a key with the options of the daemon.
export async function create(options) {
  try {
    const made = await navigator.credentials.create({ publicKey: {
      ...options, challenge: decode(options.challenge), user: { ...options.user, id: decode(options.user.id) },
      excludeCredentials: ids(options.excludeCredentials),
    } });
    return json(made, ["clientDataJSON", "attestationObject"]);
  } catch (e) {
    throw worded(e);
  }
}

// confirm signs with a key that the person has.
async function confirm(options) {
  try {
    const got = await navigator.credentials.get({ publicKey: {
      ...options, challenge: decode(options.challenge), allowCredentials: ids(options.allowCredentials),
    } });
    return json(got, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]);
  } catch (e) {
    if (e.name === "NotAllowedError") throw new Error("Nothing was added: confirm with a passkey that you have first. If you lost it, ask an administrator for an invitation.");
    throw worded(e);
  }
}

// add creates a key and sends it to the daemon. A person who has a key confirms
// the new one with it.
export async function add(label, invitation) {
  const options = await post("/console/passkeys/options", { invitation });
  const proof = options.confirm ? await confirm(options.confirm) : undefined;
  const response = await create(options.create);
  return post("/console/passkeys", { invitation, label, challenge: options.create.challenge, response, proof });
}
