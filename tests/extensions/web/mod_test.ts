import assert from "node:assert/strict";
import web from "../../../extensions/web/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { recordingLog, VIEW } from "../../extension/_sample.ts";

const { signal } = new AbortController();

async function activeWith(section?: object) {
  const config = section ? { "vis.web": section } : {};
  const registry = new ExtensionRegistry({ log: recordingLog().log, home: "/h", config });
  registry.register(web);
  return await registry.activate(VIEW);
}

function user(allowed: boolean) {
  const asked: unknown[] = [];
  const approve = (request: unknown) => {
    asked.push(request);
    return Promise.resolve({ allowed, reason: allowed ? "" : "the user said no: not that one" });
  };
  return { asked, env: { ...VIEW, approve } };
}

Deno.test("web asks the user for a host that is not allowed, and shows everything that would be sent", async () => {
  const active = await activeWith({ hosts: ["example.com"], local: ["localhost:3000"] });
  const no = user(false);
  const call = (name: string, ...args: unknown[]) => active.call(name, args, { env: no.env, signal });
  await assert.rejects(
    call("web.get", "https://new.invalid:8443/a?b=c"),
    /Cannot get .*: new\.invalid:8443 is not allowed \(the user said no: not that one\); the user can add it to web\.hosts in .*config\.jsonc/,
  );
  const fresh = await activeWith({ hosts: [], local: [] });
  await assert.rejects(
    fresh.call("web.get", ["https://new.invalid:8443/"], { env: no.env, signal }),
    /the user said no: not that one\); the user allows it with vis config set web\.hosts new\.invalid:8443$/,
  );
  no.asked.pop();
  await assert.rejects(call("web.post", "https://new.invalid/", "text"), /the user said no/);
  await assert.rejects(call("web.get", "https://new.invalid/", { headers: { "x-sent": "a b" } }), /the user said no/);
  assert.deepEqual(no.asked, [
    {
      what: "send a request",
      exact: "GET https://new.invalid:8443/a?b=c",
      why: "",
      scope: "requests to new.invalid:8443",
      option: "--set web.hosts=example.com --set web.hosts=new.invalid:8443",
    },
    {
      what: "send a request with 4 bytes",
      exact: "POST https://new.invalid/",
      why: "",
      scope: "requests to new.invalid",
      option: "--set web.hosts=example.com --set web.hosts=new.invalid",
    },
    {
      what: 'send a request with the headers ["x-sent: a b"]',
      exact: "GET https://new.invalid/",
      why: "",
      scope: "requests to new.invalid",
      option: "--set web.hosts=example.com --set web.hosts=new.invalid",
    },
  ]);
});

Deno.test("web does not ask about an allowed host, and no answer allows this machine or its network", async () => {
  const active = await activeWith({ hosts: ["allowed.invalid"] });
  const yes = user(true);
  const call = (address: string) => active.call("web.get", [address], { env: yes.env, signal });
  await assert.rejects(call("https://allowed.invalid/"), /Cannot get/);
  for (
    const own of [
      "http://localhost:3000/",
      "http://127.0.0.1/",
      "http://[::1]/",
      "http://169.254.169.254/",
      "http://printer/",
      "http://nas.local./",
    ]
  ) {
    await assert.rejects(call(own), /not in web\.local|is reserved/);
  }
  assert.deepEqual(yes.asked, []);
  // An allowed name still leads to public addresses only.
  await assert.rejects(call("http://localtest.invalid/"), /Cannot get/);
  assert.equal(yes.asked.length, 1);
});

Deno.test("without a user to ask, web explains how to allow a host", async () => {
  const active = await activeWith({ hosts: ["example.com"] });
  assert.deepEqual(active.functions, ["web.get", "web.post", "web.readable", "web.search"]);
  for (const [name, ...more] of [["get"], ["post", { a: 1 }], ["readable"]] as const) {
    await assert.rejects(
      active.call(`web.${name}`, ["https://example.org/", ...more], { env: VIEW, signal }),
      /the host example\.org is not in web\.hosts; the user can add it to web\.hosts in \/h\/config\.jsonc/,
    );
  }
});

Deno.test("web lists the allowed hosts in a short block", async () => {
  const [block = ""] =
    (await activeWith({ hosts: ["api.example", "*.example.org"], local: ["localhost:3000"] })).blocks;
  assert.match(block, /HTTP to api\.example, \*\.example\.org, localhost:3000; the user allows others\./);
  assert.ok(block.length < 600, `${block.length}`);
  assert.match((await activeWith()).blocks[0] ?? "", /^## web\nHTTP; the user allows hosts\.\n/);
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
