import assert from "node:assert/strict";
import { described } from "../../../extensions/index.ts";
import web from "../../../extensions/web/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry/registry.ts";
import { recordingLog, VIEW } from "../../extension/_sample.ts";

const { signal } = new AbortController();

async function activeWith(section?: object) {
  const config = section ? { "vis.web": section } : {};
  const registry = new ExtensionRegistry({ log: recordingLog().log, home: "/h", config });
  registry.register(web);
  return await registry.activate(VIEW);
}

Deno.test("web is left out while no host is allowed, and errors say how the user allows one that is not", async () => {
  assert.deepEqual((await activeWith()).functions, []);
  assert.equal(described.web.howToEnable, "vis config set web.hosts example.org");
  const active = await activeWith({ hosts: ["example.com"] });
  assert.deepEqual(active.functions, ["web.get", "web.post", "web.readable"]);
  for (const [name, ...more] of [["get"], ["post", { a: 1 }], ["readable"]] as const) {
    await assert.rejects(
      active.call(`web.${name}`, ["https://example.org/", ...more], { env: VIEW, signal }),
      /the host example\.org is not in web\.hosts; only the user can allow it, in \/h\/config\.jsonc: "web": \{ "hosts": \["example\.org"\] \}/,
    );
  }
});

Deno.test("web names what is allowed in a short block", async () => {
  const [block = ""] =
    (await activeWith({ hosts: ["api.example", "*.example.org"], local: ["localhost:3000"] })).blocks;
  assert.match(block, /HTTP to api\.example, \*\.example\.org, localhost:3000 only\./);
  assert.ok(block.length < 600, `${block.length}`);
  const [all = ""] = (await activeWith({ hosts: ["*"] })).blocks;
  assert.match(all, /any public host/);
  const many = Array.from({ length: 500 }, (_, at) => `host${at}.example`);
  const [long = ""] = (await activeWith({ hosts: many })).blocks;
  assert.ok(long.length < 1_200, `${long.length}`);
});

Deno.test("web refuses a wrong argument list with the signature", async () => {
  const active = await activeWith({ hosts: ["*"] });
  const call = (name: string, ...args: unknown[]) => active.call(name, args, { env: VIEW, signal });
  await assert.rejects(call("web.get", "https://a.example/", { as: "html" }), /usage: web\.get\(url: string/);
  await assert.rejects(call("web.get", "https://a.example/", { maxBytes: 1e9 }), /maxBytes/);
  await assert.rejects(call("web.post", "https://a.example/", 5), /usage: web\.post\(url: string, body: /);
});
