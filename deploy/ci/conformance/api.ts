// A program that uses the types that openapi-typescript makes of the API.
import type { components, operations } from "./types.js";

type Schemas = components["schemas"];
declare const record: Schemas["Record"];
const state: "pending" | "answered" | "approved" | "denied" | "expired" | "cancelled" | "superseded" | "undeliverable" = record.state;
const id: string = record.interaction.id;
const revision: number = record.revision;
const person: string | undefined = record.response?.actor?.person;
const account: string | undefined = record.response?.actor?.user;
const body: operations["createInteraction"]["requestBody"]["content"]["application/json"] = { prompt: "Deploy?", approval: { tool: "deploy", input: { version: 2 } } };
const link: operations["listLinks"]["responses"][200]["content"]["application/json"]["items"][number] = { platform: "slack", user: "U1", person: "ana" };
const keys: string[] = ({} as operations["publicKeys"]["responses"][200]["content"]["application/json"]).keys.map((k) => k.kid);
// @ts-expect-error A prompt is required.
const empty: typeof body = {};
export { account, body, empty, id, keys, link, person, revision, state };
