import assert from "node:assert/strict";
import { type HttpConfig, Stdio } from "../../../extensions/mcp/settings.ts";
import { LineSplitter } from "../../../extensions/mcp/stdio_transport.ts";
import { ToolCache } from "../../../extensions/mcp/tools.ts";
import { memoryOwnStore } from "./_memory_own_store.ts";

const config: HttpConfig = {
  url: "https://a.example/mcp",
  headers: { k: "very-secret" },
  destructive: false,
  disabled: false,
  timeoutMs: 1,
  startMs: 1,
};
const tools = [{ name: "a-b", symbol: "a_b", description: "Does.", inputSchema: { type: "object" } }];

Deno.test("ToolCache keeps the tools of a server by its configuration, for all conversations, without its secrets", async () => {
  const kept = new Map<string, unknown>();
  const store = memoryOwnStore(kept);
  const cache = new ToolCache({ store, workspace: "/w" });
  assert.equal(await cache.read("s", config), null);
  await cache.write("s", { config, tools });
  assert.deepEqual(
    await new ToolCache({ store, workspace: "/w" }).read("s", { ...config, headers: { k: "other" } }),
    tools,
  );
  assert.equal(await cache.read("s", { ...config, url: "https://b.example/mcp" }), null);
  assert.equal(await cache.read("t", config), null);
  const program = Stdio.parse({ command: "./server", cwd: "." });
  await cache.write("own", { config: program, tools });
  assert.deepEqual(await cache.read("own", program), tools);
  const other = new ToolCache({ store, workspace: "/other" });
  assert.equal(await other.read("own", program), null, "another workspace has another program of this name");
  const [[key = "", value] = []] = [...kept];
  assert.match(key, /^global tools\/[0-9a-f]{32}$/);
  assert.doesNotMatch(JSON.stringify(value), /very-secret/);
  for (const broken of ["text", {}, [{ name: 5 }], [{ name: "a", description: 5 }], [null]]) {
    kept.set(key, broken);
    assert.equal(await cache.read("s", config), null, JSON.stringify(broken));
  }
  const failing = { ...store, get: () => Promise.reject(new Error("no")), put: () => Promise.reject(new Error("no")) };
  await new ToolCache({ store: failing, workspace: "/w" }).write("s", { config, tools });
  assert.equal(await new ToolCache({ store: failing, workspace: "/w" }).read("s", config), null);
  await new ToolCache({ workspace: "/w" }).write("s", { config, tools });
  assert.equal(await new ToolCache({ workspace: "/w" }).read("s", config), null);
});

Deno.test("LineSplitter cuts lines wherever the bytes are cut, and bounds them", () => {
  const all = new TextEncoder().encode('{"a":"ü😀"}\r\n\nsecond\nrest');
  for (let size = 1; size < all.length; size++) {
    const splitter = new LineSplitter({ maxLine: 100, maxUnasked: 1_000 });
    const lines: string[] = [];
    for (let at = 0; at < all.length; at += size) lines.push(...splitter.push(all.slice(at, at + size)));
    assert.deepEqual(lines, ['{"a":"ü😀"}', "", "second"]);
  }
  const splitter = new LineSplitter({ maxLine: 10, maxUnasked: 30 });
  assert.throws(() => splitter.push(new Uint8Array(11)), /It wrote a message of more than 10 bytes, the limit/);
  const asked = new LineSplitter({ maxLine: 10, maxUnasked: 30 });
  const line = new TextEncoder().encode("123456789\n");
  for (let at = 0; at < 3; at++) asked.push(line);
  asked.asked();
  for (let at = 0; at < 3; at++) asked.push(line);
  assert.throws(() => asked.push(line), /40 unsolicited bytes/);
});
