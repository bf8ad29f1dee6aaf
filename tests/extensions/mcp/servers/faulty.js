// A server that is wrong in the way its argument says; nothing but what every runtime has.
const [mode = "good"] = Deno.args;
const encoder = new TextEncoder();
const write = (text) => {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
};
const send = ({ result, ...message }) => {
  if (result && mode === "null meta") result._meta = null;
  write(`${JSON.stringify({ jsonrpc: "2.0", ...message, result })}\n`);
};
const object = { type: "object", properties: {} };
const TOOLS = {
  names: ["a-b", "a_b", "a.b", "then", "1x", "größe", "ok"].map((name) => ({ name, inputSchema: object })),
  schemas: [{
    name: "tree",
    description: "Says */ things\n  over lines.",
    inputSchema: {
      type: "object",
      required: ["root"],
      properties: { root: { $ref: "#/$defs/Node" }, "odd key": { enum: ["a", 1, null] } },
      $defs: {
        Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" }, n: { type: ["integer", "null"] } } },
      },
    },
    outputSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
  }],
};
TOOLS["bad tools"] = [
  { name: "run", inputSchema: object },
  { name: "text", inputSchema: { type: "string" } },
  { name: 7, inputSchema: object },
  {
    name: "nulls",
    title: null,
    description: null,
    inputSchema: {},
    outputSchema: null,
    annotations: null,
    _meta: null,
  },
  { name: "single", inputSchema: { type: ["object"] } },
  { name: "list", inputSchema: object, outputSchema: { type: "array" }, annotations: { destructiveHint: true } },
  { name: "hint", inputSchema: object, annotations: { destructiveHint: "yes" } },
];
const CAPABILITIES = { "no templates": { resources: {} }, "no tools": { tools: undefined } };
let tools = TOOLS[mode] ?? [{ name: "run", description: "Runs.", inputSchema: object }];
const cancelled = [];
const text = (said) => ({ content: [{ type: "text", text: said }] });

function callTool(id, { name, arguments: given, _meta }, line) {
  if (mode === "echo") {
    const [, own] = /"arguments":(.*?)(?:,"_meta"|\}?,"jsonrpc"|\}\}$)/s.exec(line);
    const answer = given.how === "text"
      ? `"content":[{"type":"text","text":${JSON.stringify(own)}}]`
      : `"content":[],"isError":${given.how === "error"},"structuredContent":${own}`;
    return write(`{"jsonrpc":"2.0","id":${id},"result":{${answer}}}\n`);
  }
  if (mode === "progress") {
    const { steps } = given ?? {};
    const { progressToken } = _meta;
    let progress = 0;
    const timer = setInterval(() => {
      send({ method: "notifications/progress", params: { progressToken, progress: ++progress } });
      if (!(progress >= steps)) return;
      clearInterval(timer);
      send({ id, result: text(`${progress} steps`) });
    }, 20);
    return;
  }
  if (mode === "given") {
    const { id: how, ...message } = given.answer;
    const own = how === "same" ? { id } : how === "text" ? { id: String(id) } : how === null ? { id: null } : {};
    return write(`${JSON.stringify({ ...message, ...own })}\n`);
  }
  if (mode === "dies on call") return Deno.exit(7);
  if (mode === "hangs on call" && name === "run") return;
  if (mode === "large") return send({ id, result: text("x".repeat(17 << 20)) });
  if (mode === "connects") {
    return void Deno.connect({ hostname: "127.0.0.1", port: Number(Deno.args[1]) }).then(
      () => send({ id, result: text("connected") }),
      (error) => send({ id, result: { ...text(error.message), isError: true } }),
    );
  }
  if (mode === "leaks") {
    return send({
      id,
      error: { code: -32000, message: `Cannot use MCP server s: no access with ${Deno.env.get("TOKEN")}` },
    });
  }
  if (mode === "strange") return send({ id, result: { content: "none", structuredContent: undefined } });
  if (name === "grow") {
    tools = [...tools, { name: "new", inputSchema: object }];
    send({ method: "notifications/tools/list_changed" });
  }
  send({ id, result: text(name === "cancelled" ? JSON.stringify(cancelled) : `${name} of ${Deno.pid}`) });
}

function answer({ id, method, params }, line) {
  if (method === "notifications/cancelled") cancelled.push(params.reason ?? "");
  if (id === undefined) return;
  if (method === "initialize") {
    if (mode === "refuses") return send({ id, error: { code: -32000, message: "no key" } });
    const version = { old: "2024-11-05", future: "2099-01-01" }[mode] ?? params.protocolVersion;
    const result = { protocolVersion: version, capabilities: { tools: { listChanged: true }, ...CAPABILITIES[mode] } };
    return send({ id, result: { ...result, serverInfo: { name: mode, version: "1" } } });
  }
  if (mode === "errors" && method.startsWith("tools/")) {
    for (const own of [null, undefined, "unknown"]) {
      send({ id: own, error: { code: -32601, message: "notifications/initialized: no such method" } });
    }
  }
  if (method === "tools/list") {
    if (mode === "empty cursor" && params?.cursor !== undefined) {
      return send({ id, error: { code: -32602, message: "no" } });
    }
    const more = mode === "endless pages"
      ? { nextCursor: crypto.randomUUID() }
      : mode === "empty cursor"
      ? { nextCursor: "" }
      : {};
    return send({ id, result: { tools, ...more } });
  }
  if (method === "tools/call") return callTool(id, params, line);
  if (method === "resources/list" && mode === "no templates") {
    return send({ id, result: { resources: [{ uri: "note://a", name: "a" }] } });
  }
  if (mode !== "old") send({ id, error: { code: -32601, message: "Method not found" } });
}

if (mode === "many") {
  tools = Array.from({ length: 10_003 }, (_, at) => ({ name: `t${at}`, inputSchema: object }));
}
if (mode === "growing") tools = [{ name: "grow", inputSchema: object }];
if (mode === "hangs on call") tools = [...tools, { name: "cancelled", inputSchema: object }];
if (mode === "dies") {
  console.error("cannot find my settings");
  Deno.exit(3);
}
if (mode === "dies once") {
  const mark = `${Deno.args[1]}/started`;
  try {
    Deno.writeTextFileSync(mark, "", { createNew: true });
    Deno.exit(4);
  } catch { /* the second time */ }
}
if (mode === "garbage") { for (;;) write("Welcome to my server!\n"); }
if (mode === "flood") { for (;;) write("x".repeat(65536)); }
if (mode === "notifications") {
  for (;;) send({ method: "notifications/message", params: { level: "info", data: "x".repeat(9e4) } });
}
if (mode === "small notifications") {
  const line = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n';
  for (;;) write(line.repeat(500));
}
if (mode === "stderr flood") { for (let at = 0; at < 200; at++) console.error("e".repeat(50_000)); }
if (mode === "chatty") write("starting up\n\n");
if (mode !== "silent") {
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) answer(JSON.parse(line), line);
  }
} else {
  for await (const _ of Deno.stdin.readable);
}
