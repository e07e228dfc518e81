// Checks every exchange with the services' type definitions: the TypeScript
// compiler assigns each payload to the type that a client would use for it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const folder = fileURLToPath(new URL("./types/", import.meta.url));

// The type of each call, and of the service's answer to it, per service.
const types = {
  slack: {
    call: {
      "chat.postMessage": ["Strict<web.ChatPostMessageArguments>", "Posted<web.ChatPostMessageResponse>"],
      "chat.update": ["Strict<web.ChatUpdateArguments>", "Posted<web.ChatUpdateResponse>"],
      "chat.postEphemeral": ["Strict<web.ChatPostEphemeralArguments>", "web.ChatPostEphemeralResponse"],
      "views.open": ["StrictView<web.ViewsOpenArguments>", "Viewed<web.ViewsOpenResponse>"],
      "views.push": ["StrictView<web.ViewsPushArguments>", "Viewed<web.ViewsPushResponse>"],
      "views.update": ["StrictView<web.ViewsUpdateArguments>", "Viewed<web.ViewsUpdateResponse>"],
      "views.publish": ["StrictView<web.ViewsPublishArguments>", "Viewed<web.ViewsPublishResponse>"],
      "api.test": ["web.APITestArguments", "web.ApiTestResponse"],
      response_url: ["RespondArguments", ""],
    },
    event: {
      block_actions: "BlockAction",
      view_submission: "ViewSubmitAction",
      "/nod": "SlashCommand",
      event_callback: "EventCallback",
    },
    answer: { view_submission: "ViewResponseAction", "/nod": "RespondArguments" },
  },
  discord: {
    call: {
      "GET /gateway": ["", "api.RESTGetAPIGatewayResult"],
      "GET /gateway/bot": ["", "api.RESTGetAPIGatewayBotResult"],
      "GET /users/@me": ["", "api.RESTGetAPIUserResult"],
      "GET /oauth2/applications/@me": ["", "api.RESTGetAPIOAuth2CurrentApplicationResult"],
      "GET /applications/@me": ["", "api.RESTGetCurrentApplicationResult"],
      "POST /applications/{app}/commands": ["api.RESTPostAPIApplicationCommandsJSONBody", "api.RESTPostAPIApplicationCommandsResult"],
      "PUT /applications/{app}/commands": [
        "Listed<api.RESTPutAPIApplicationCommandsJSONBody>",
        "api.RESTPutAPIApplicationCommandsResult",
      ],
      "POST /users/@me/channels": [
        "api.RESTPostAPICurrentUserCreateDMChannelJSONBody",
        "api.RESTPostAPICurrentUserCreateDMChannelResult",
      ],
      "GET /guilds/{guild}/members/{user}": ["", "api.RESTGetAPIGuildMemberResult"],
      "GET /guilds/{guild}": ["", "api.RESTGetAPIGuildResult"],
      "GET /guilds/{guild}/roles": ["", "api.RESTGetAPIGuildRolesResult"],
      "GET /channels/{channel}": ["", "api.RESTGetAPIChannelResult"],
      "PATCH /channels/{channel}": ["api.RESTPatchAPIChannelJSONBody", "api.RESTPatchAPIChannelResult"],
      "GET /channels/{channel}/messages": ["", "api.RESTGetAPIChannelMessagesResult"],
      "POST /channels/{channel}/messages": ["api.RESTPostAPIChannelMessageJSONBody", "api.RESTPostAPIChannelMessageResult"],
      "GET /channels/{channel}/messages/{message}": ["", "api.RESTGetAPIChannelMessageResult"],
      "PATCH /channels/{channel}/messages/{message}": ["api.RESTPatchAPIChannelMessageJSONBody", "api.RESTPatchAPIChannelMessageResult"],
      "DELETE /channels/{channel}/messages/{message}": ["", ""],
      "POST /channels/{channel}/messages/{message}/threads": [
        "api.RESTPostAPIChannelMessagesThreadsJSONBody",
        "api.RESTPostAPIChannelMessagesThreadsResult",
      ],
      "POST /interactions/{id}/{token}/callback": ["api.RESTPostAPIInteractionCallbackJSONBody", ""],
      "POST /webhooks/{app}/{token}": ["api.RESTPostAPIInteractionFollowupJSONBody", "api.APIMessage"],
      "GET /webhooks/{app}/{token}/messages/{message}": ["", "api.APIMessage"],
      "PATCH /webhooks/{app}/{token}/messages/{message}": ["api.RESTPatchAPIInteractionOriginalResponseJSONBody", "api.APIMessage"],
      "DELETE /webhooks/{app}/{token}/messages/{message}": ["", ""],
    },
    event: { INTERACTION_CREATE: "api.APIInteraction" },
    answer: {},
  },
  telegram: { call: {}, event: { update: "Update" }, answer: {} },
};
for (const name of [
  "setWebhook",
  "deleteWebhook",
  "getWebhookInfo",
  "sendMessage",
  "sendDocument",
  "deleteMessage",
  "deleteEphemeralMessage",
  "editMessageText",
  "editMessageMedia",
  "editMessageReplyMarkup",
  "answerCallbackQuery",
  "getMe",
  "setMyCommands",
  "getChat",
  "getChatMember",
  "sendChatAction",
]) {
  types.telegram.call[name.toLowerCase()] = [
    /^(getMe|getWebhookInfo)$/.test(name) ? "" : `Arguments<"${name}">`,
    `Result<"${name}">`,
  ];
}

// typesOf returns the type of an event or an answer, or those of a call and of
// the answer to it.
function typesOf({ service, kind, method }) {
  const known = types[service][kind][method];
  if (known !== undefined || service !== "slack" || kind !== "call") return known;
  const name = method.replace(/(^|\.)(\w)/g, (_, dot, letter) => letter.toUpperCase());
  return [`web.${name}Arguments`, `web.${name}Response`];
}

// parts takes the lists out of a payload whose elements are checked one by one,
// each against its own type. An array stays in the payload, without elements.
function parts(x, v, out, modal) {
  if (Array.isArray(v)) return v.map((e) => parts(x, e, out, modal));
  if (!v || typeof v !== "object") return v;
  return Object.fromEntries(
    Object.entries(v).map(([key, e]) => {
      const type = Array.isArray(e) && partType(x.service, key, v, modal || (x.service === "discord" && x.payload.type === 9));
      if (!type) return [key, parts(x, e, out, modal)];
      for (const element of e) out.push([type, x.service === "discord" ? parts(x, element, out, modal) : element]);
      return [key, []];
    }),
  );
}

function partType(service, key, parent, modal) {
  if (service === "slack" && key === "blocks") return "KnownBlock";
  if (service === "telegram" && /entities$/.test(key)) return "MessageEntity";
  if (service !== "discord" || key !== "components") return "";
  if (parent.type === 17) return "api.APIComponentInContainer";
  return parent.custom_id !== undefined || modal
    ? ""
    : parent.type === 1 || parent.type === 9
      ? ""
      : "api.APIMessageTopLevelComponent";
}

// statements returns the checks of an exchange: the side that is checked, the
// type and the value. Only what a bot sends may have no unknown fields, because
// type definitions of answers are often incomplete.
function statements(x) {
  const known = typesOf(x);
  if (known === undefined) return [["bot", '"a method that has a type"', x.method]];
  const [sent, answered] = x.kind === "call" ? known : [x.kind === "answer" ? known : "", x.kind === "event" ? known : ""];
  const out = [];
  for (const [side, type, value] of [
    ["bot", sent, x.payload],
    ["service", answered, x.kind === "event" ? x.payload : x.answer],
  ]) {
    if (!type || value === undefined || value === null) continue;
    const inside = [];
    out.push([side, type, parts(x, value, inside, false)], ...inside.map(([t, v]) => [side, t, v]));
  }
  return out;
}

// source returns the line that checks a statement.
function source(n, [side, type, value]) {
  // A sum of flags is not a member of their enum, and a string is not a member of
  // an enum of strings. The builders check both.
  const literal = JSON.stringify(value).replace(/"(flags|parse)":(\d+|\[[^\]]*\])/g, '"$1":($2 as never)');
  if (side === "bot") return `const value${n}: ${type} = ${literal};`;
  return `const from${n} = ${literal} as const; const value${n}: Frozen<${type}> = from${n};`;
}

// rows names every type of a service's table, so that a row with an unknown type
// fails also when no exchange needs it.
function rows(service) {
  const names = Object.values(types[service]).flatMap((table) => Object.values(table).flat());
  return `type Rows = [${[...new Set(names)].filter(Boolean).join(", ")}];`;
}

// skeleton returns everything that types can tell apart: fields, kinds of values, and the
// values of fields that select a type.
function skeleton(v, key) {
  if (Array.isArray(v)) return [...new Set(v.map((e) => JSON.stringify(skeleton(e, ""))))].sort();
  if (v && typeof v === "object")
    return Object.entries(v)
      .sort()
      .map(([k, e]) => [k, skeleton(e, k)]);
  return /^(type|style|status|border|accept|format|action_type|response_)|type$/.test(key) || v === null || typeof v === "boolean"
    ? v
    : typeof v;
}

// check returns the numbers of exchanges and the complaints.
export function check(exchanges) {
  const checked = {},
    complaints = [],
    seen = new Set();
  const sources = new Map(),
    origins = new Map();
  for (const service of Object.keys(types)) {
    const path = `${folder}${service}.checked.ts`,
      lines = [`${readFileSync(`${folder}${service}.ts`, "utf8").trimEnd()}\n${rows(service)}`],
      from = [];
    const offset = lines[0].split("\n").length;
    for (const x of exchanges.filter((e) => e.service === service)) {
      const all = statements(x);
      if (all.length > 0) checked[service] = (checked[service] ?? 0) + 1;
      for (const s of all) {
        const alike = JSON.stringify([s[0], s[1], skeleton(s[2], "")]);
        if (seen.has(alike)) continue;
        seen.add(alike);
        lines.push(source(from.length, s));
        from.push({ exchange: x, side: s[0], value: s[2] });
      }
    }
    sources.set(path, lines.join("\n"));
    origins.set(path, { offset, from });
  }
  for (const d of diagnose(sources)) {
    const origin = d.file && origins.get(d.file.fileName);
    const line = origin ? d.file.getLineAndCharacterOfPosition(d.start).line - origin.offset : -1;
    const rule = ts.flattenDiagnosticMessageText(d.messageText, "\n");
    if (line < 0) throw new Error(`${d.file?.fileName ?? "tsc"}: ${rule}`);
    complaints.push({ ...origin.from[line], rule });
  }
  return { checked, complaints };
}

function diagnose(sources) {
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    noErrorTruncation: false,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (f) => sources.has(f) || fileExists(f);
  host.readFile = (f) => sources.get(f) ?? readFile(f);
  host.getSourceFile = (f, ...rest) =>
    sources.has(f) ? ts.createSourceFile(f, sources.get(f), options.target, true) : getSourceFile(f, ...rest);
  const program = ts.createProgram([...sources.keys()], options, host);
  return [...sources.keys()].flatMap((f) => {
    const file = program.getSourceFile(f);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
}
