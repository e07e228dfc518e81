// An MCP server on stdin and stdout with what the official conformance suite asks a
// server for. It knows no library, so that every message is as written here.
import { createInterface } from "node:readline";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const text = (t) => ({ type: "text", text: t });
const image = { type: "image", data: png, mimeType: "image/png" };
const resource = (uri, mimeType, t) => ({ type: "resource", resource: { uri, mimeType, text: t } });
const pause = () => new Promise((done) => setTimeout(done, 50));
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\n");
const asked = new Map();
const ask = (method, params) => new Promise((done) => {
  const id = "ask-" + asked.size;
  asked.set(id, done);
  send({ id, method, params });
});

async function notify(method, all) {
  for (const params of all) {
    send({ method, params });
    await pause();
  }
}

// content returns everything that a tool answers.
const tools = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: wav, mimeType: "audio/wav" }],
  test_embedded_resource: () => [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  test_multiple_content_types: () => [text("Multiple content types test:"), image, resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')],
  async test_tool_with_logging() {
    await notify("notifications/message", ["started", "processing", "completed"].map((data) => ({ level: "info", data: "Tool " + data })));
    return [text("Tool with logging executed successfully")];
  },
  async test_tool_with_progress({ _meta }) {
    const { progressToken = 0 } = _meta ?? {};
    await notify("notifications/progress", [0, 50, 100].map((progress) => ({ progressToken, progress, total: 100 })));
    return [text(String(progressToken))];
  },
  test_error_handling() {
    throw new Error("This tool intentionally returns an error for testing");
  },
  async test_sampling({ arguments: { prompt } }) {
    const { result } = await ask("sampling/createMessage", { messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 });
    return [text("LLM response: " + result?.content?.text)];
  },
  json_schema_2020_12_tool: () => [text("ok")],
};
const schemas = {
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema", type: "object",
    $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } }, additionalProperties: false,
  },
};
const resources = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: png },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched resource content" },
};
const user = (content) => ({ role: "user", content });
const prompts = {
  test_simple_prompt: () => [user(text("This is a simple prompt for testing."))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")), user(text("Please process the embedded resource above."))],
  test_prompt_with_image: () => [user(image), user(text("Please analyze the image above."))],
};
const names = { test_prompt_with_arguments: ["arg1", "arg2"], test_prompt_with_embedded_resource: ["resourceUri"] };

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, serverInfo: { name: "conformance", version: "1.0.0" },
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
  }),
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "completion/complete": () => ({ completion: { values: [], total: 0, hasMore: false } }),
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => ({ name, description: "Tests " + name, inputSchema: schemas[name] ?? { type: "object", properties: {} } })) }),
  async "tools/call"(params) {
    try {
      return { content: await tools[params.name](params) };
    } catch (error) {
      return { content: [text(error.message)], isError: true };
    }
  },
  "resources/list": () => ({ resources: Object.entries(resources).map(([uri, r]) => ({ uri, name: uri.slice(7), mimeType: r.mimeType })) }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }] }),
  "resources/read"({ uri }) {
    const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1];
    return { contents: [{ uri, ...(id ? { mimeType: "application/json", text: JSON.stringify({ id, templateTest: true, data: "Data for ID: " + id }) } : resources[uri]) }] };
  },
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "prompts/list": () => ({ prompts: Object.keys(prompts).map((name) => ({ name, description: name, arguments: (names[name] ?? []).map((n) => ({ name: n, required: true })) })) }),
  "prompts/get": ({ name, arguments: of = {} }) => ({ messages: prompts[name](of) }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {}, ...rest } = JSON.parse(line);
  if (!method) {
    asked.get(id)?.(rest);
  } else if (id !== undefined) {
    Promise.resolve(methods[method]?.(params)).then((result) => send(result ? { id, result } : { id, error: { code: -32601, message: "Method not found" } }));
  }
}
