import assert from "node:assert/strict";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { HOSTILE_BLOCKS } from "../extensions/hostile/_blocks.ts";
import { compiledLauncher } from "./_launcher.ts";
import { client, urlOf } from "./helpers/server.ts";
import { launched } from "./helpers/together.ts";
import { User } from "./helpers/user.ts";

const TOKEN = "a-token-of-this-test";
const BIG = "0123456789abcde\n".repeat(65_000);

type Block = readonly [name: string, code: string];

/** Blocks of the sizes of the limits, and larger. They call functions of files, which are the same in both profiles. */
const FILES: readonly Block[] = [
  ...HOSTILE_BLOCKS.filter(([name]) => name !== "many large reads at once" && name !== "outputs of programs at once"),
  [
    "64 reads of 60 large files at once",
    'String((await Promise.all(Array.from({length: 64}, () => fs.readFiles(Array.from({length: 60}, (_, i) => "./".repeat(i) + "big.txt")).then(r => r.length, e => e.message)))).length)',
  ],
];
const OTHERS: readonly Block[] = [
  [
    "24 commands with large outputs at once",
    `typeof shell === "undefined" ? "" : String((await Promise.all(Array.from({length: 24}, () => shell.run("head -c 33000000 /dev/zero | tr '\\\\0' x", {maxBytes: 32 << 20}).then(r => r.stdout.length, e => e.message)))).length)`,
  ],
  [
    "a page of lists",
    'typeof web === "undefined" ? "" : String(await web.get(PAGE, {maxBytes: 16 << 20}).then(r => r.status, e => e.message))',
  ],
  [
    "a page of boxes",
    'typeof web === "undefined" ? "" : String(await web.readable(PAGE + "boxes", {maxBytes: 16 << 20}).then(r => r.text.length, e => e.message))',
  ],
  [
    "a tool that answers with lists",
    'typeof mcp === "undefined" ? "" : String(await mcp.call("lists", "give").then(r => typeof r, e => e.message))',
  ],
  ["very many declarations", Array.from({ length: 20_000 }, (_, i) => `let v${i} = ${i}`).join("\n")],
];

const BLOCKS = { open: [...FILES, ...OTHERS], locked: OTHERS };

/** Returns hostile data of other programs: 16 MB of lists, very many boxes, and a tool's answer of the same kind. */
function others() {
  const lists = `[${"[],".repeat(5_500_000)}[]]`;
  const boxes = `<html><body>${"<div>".repeat(700_000)}</body></html>`;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/mcp") {
      const { id, method } = await request.json();
      if (id === undefined) return new Response(null, { status: 202 });
      const results: Readonly<Record<string, string>> = {
        "initialize":
          '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"lists","version":"1"}}',
        "tools/list": '{"tools":[{"name":"give","inputSchema":{"type":"object"}}]}',
        "tools/call": `{"content":[],"structuredContent":{"all":${lists}}}`,
      };
      const answer = results[method] === undefined
        ? '"error":{"code":-32601,"message":"Method not found"}'
        : `"result":${results[method]}`;
      return new Response(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${answer}}`, {
        headers: { "content-type": "application/json" },
      });
    }
    if (pathname === "/boxes") return new Response(boxes, { headers: { "content-type": "text/html" } });
    return new Response(lists, { headers: { "content-type": "application/json" } });
  });
  return { server, host: `127.0.0.1:${server.addr.port}` };
}

const launcher = await compiledLauncher();
for (const profile of ["open", "locked"] as const) {
  const blocks = BLOCKS[profile];
  launched(launcher, `vis serve outlives hostile blocks, pages, servers and clients, ${profile}`, async (t) => {
    const { server, host } = others();
    await using user = await User.make(launcher, {
      handler: ({ texts, context }) => {
        const [, name = ""] = /^play (.*)$/m.exec(texts.join("\n")) ?? [];
        const [, code] = blocks.find((one) => one[0] === name) ?? [];
        if (code === undefined) return final("At last");
        if (context.includes("1040000")) return final("It has 1040000");
        const isPlayed = /^\[iter [2-9]/.test(context) || context.includes("<journal>");
        return isPlayed
          ? replyJson('String((await fs.stat("big.txt")).size)')
          : JSON.stringify({ code: [{ expr: code.replace("PAGE", `"http://${host}/"`), timeMs: 120_000 }] });
      },
    });
    await user.write("big.txt", BIG);
    await Deno.mkdir(user.path("vis"));
    const models = [{ name: "mock-1", price: { input: 0, output: 0 } }]; // The locked profile limits the cost.
    const config = {
      providers: [{ name: "mock", baseUrl: user.mock.baseUrl, models }],
      server: { port: 0 },
      web: { local: [host] },
      extensions: {
        ...(profile === "locked" ? { allow: ["vis.fs", "vis.web", "vis.mcp"] } : {}),
        config: { "vis.mcp": { servers: { lists: { url: `http://${host}/mcp` } } } },
      },
    };
    await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify(config));
    const flags = profile === "locked" ? ["--profile", "locked", "--writable"] : [];
    const running = user.start(["serve", ...flags], { env: { VIS_TOKEN: TOKEN } });
    const ask = client(await urlOf(running), TOKEN);
    for (const [name] of blocks) {
      await t.step(name, async () => {
        const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
        const response = await ask(`/api/v1/conversations/${conversationId}/messages`, { request: `play ${name}` });
        assert.equal((await response.json()).answer, "It has 1040000", running.stderr);
      });
    }
    await t.step("large schemas of 12 clients at once", async () => {
      const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
      const schema = { enum: Array.from({ length: 900_000 }, (_, at) => at) };
      const body = { request: "x", responseSchema: schema };
      const path = `/api/v1/conversations/${conversationId}/messages`;
      const states = await Promise.all(Array.from({ length: 12 }, async () => {
        const response = await ask(path, body);
        await response.body?.cancel();
        return response.status;
      }));
      for (const status of states) assert.ok(status >= 400 && status < 500, `${states}`);
    });
    await t.step("it still answers", async () => {
      assert.equal((await ask("/api/v1/conversations")).status, 200);
    });
    running.kill("SIGTERM");
    await running.ended;
    await server.shutdown();
  });
}
