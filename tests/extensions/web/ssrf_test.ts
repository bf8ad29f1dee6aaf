import assert from "node:assert/strict";
import { callWeb } from "../../../extensions/web/web_call.ts";
import { OTHER, PUBLIC, reply, site, view, world } from "./_site.ts";

const GET = { method: "GET" } as const;

Deno.test("web.get() connects to the address that it checked: a name that moves meanwhile gains nothing", async () => {
  const open = site({ "/": reply("public"), "/go": reply("", { location: "/" }, 302) });
  const secret = site({ "/": reply("secret") });
  try {
    const outside = world(
      { "moving.example": [[PUBLIC], ["127.0.0.1"], ["::1"]] },
      { [`${PUBLIC}:80`]: open.port, "127.0.0.1:80": secret.port, "::1:80": secret.port },
    );
    const get = (path: string) => callWeb(view({ hosts: ["*"] }), `http://moving.example${path}`, { ...GET, outside });
    assert.equal((await get("/")).status, 200);
    await assert.rejects(get("/"), /moving.example has the address 127.0.0.1, which is not on the internet/);
    await assert.rejects(get("/"), /has the address ::1,/);
    assert.deepEqual(outside.dialled, [`${PUBLIC}:80`]);
    // The redirect is resolved again, and only the new address counts.
    const turning = world(
      { "moving.example": [[PUBLIC], ["127.0.0.1"]] },
      { [`${PUBLIC}:80`]: open.port, "127.0.0.1:80": secret.port },
    );
    await assert.rejects(
      callWeb(view({ hosts: ["*"] }), "http://moving.example/go", { ...GET, outside: turning }),
      /has the address 127.0.0.1/,
    );
    assert.deepEqual(turning.dialled, [`${PUBLIC}:80`]);
    assert.equal(secret.seen.length, 0);
  } finally {
    await Promise.all([open.close(), secret.close()]);
  }
});

Deno.test("web.get() reaches nothing private, however it is written", async () => {
  const secret = site({ "/": reply("secret") });
  try {
    const outside = world({
      "mixed.example": [[PUBLIC, "10.0.0.1"]],
      "mapped.example": [["::ffff:127.0.0.1"]],
      "nat.example": [["64:ff9b::7f00:1"]],
      "meta.example": [["169.254.169.254"]],
      "zero.example": [["0.0.0.0"]],
      "many.example": [Array.from({ length: 40 }, () => PUBLIC)],
      "localhost": [["127.0.0.1"]],
    }, new Proxy({}, { get: () => secret.port }));
    for (
      const host of [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::ffff:7f00:1]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "169.254.169.254",
        "10.0.0.1",
        "100.100.100.200",
        "192.168.0.1.",
        "localhost",
        "mixed.example",
        "mapped.example",
        "nat.example",
        "meta.example",
        "zero.example",
        "many.example",
        "nowhere.example",
        "①②⑦.⓪.⓪.①",
      ]
    ) {
      await assert.rejects(callWeb(view({ hosts: ["*"] }), `http://${host}/`, { ...GET, outside }), /Cannot get/, host);
    }
    assert.deepEqual(outside.dialled, []);
    assert.equal(secret.seen.length, 0);
  } finally {
    await secret.close();
  }
});

Deno.test("web.get() refuses a host without a rule, and explains how the user allows it", async () => {
  const outside = world({ "api.example": [[PUBLIC]] }, {});
  const get = (url: string, rules = {}) => callWeb(view(rules), url, { ...GET, outside });
  await assert.rejects(get("https://api.example/x?key=1"), {
    message: "Cannot get https://api.example/x?key=1: the host api.example is not in web.hosts; the user can add it " +
      "to web.hosts in /h/config.jsonc",
  });
  await assert.rejects(
    get("https://api.example:8443/", { hosts: ["api.example"] }),
    /the host api\.example:8443 is not in web\.hosts/,
  );
  const local = (shell: boolean) => {
    const extensions = [{ namespace: "vis.shell", version: "1.0.0", active: shell }];
    return callWeb({ ...view({}), extensions }, "http://localhost/a", { ...GET, outside });
  };
  await assert.rejects(local(false), /the user can add it to web\.local in \S+\.jsonc$/);
  await assert.rejects(
    local(true),
    /the host localhost:80 is not in web\.local \(the user can add it to web\.local in \S+\); call a server of shell\.start by await shell\.run\("curl -sS http:\/\/localhost\/a"\)$/,
  );
  await assert.rejects(get("http://169.254.169.254/latest"), /: the address 169\.254\.169\.254 is reserved$/);
  await assert.rejects(get("http://[::1]:3000/"), /the host \[::1\]:3000 is not in web\.local/);
  await assert.rejects(get("ftp://api.example/", { hosts: ["*"] }), /the protocol is ftp,/);
  await assert.rejects(get("/etc/passwd", { hosts: ["*"] }), /the address is not a URL such as/);
  await assert.rejects(get("https://a:secret@api.example/", { hosts: ["*"] }), (error: Error) => {
    assert.match(error.message, /the address contains a name or password/);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  assert.deepEqual([outside.asked, outside.dialled], [[], []]);
});

Deno.test("web.get() reaches a private address where host and port are named as local", async () => {
  const one = site({
    "/": reply("local", { "content-type": "text/plain" }),
    "/on": reply("", { location: "http://127.0.0.1:81/" }, 302),
  });
  try {
    const outside = world({ "dev.example": [["127.0.0.1"]], "meta.example": [["169.254.169.254"]] }, {
      "127.0.0.1:80": one.port,
      "127.0.0.1:81": one.port,
      "169.254.169.254:80": one.port,
    });
    const rules = { local: ["dev.example:80", "meta.example:80"] };
    const get = (url: string) => callWeb(view(rules), url, { ...GET, outside });
    assert.equal((await get("http://dev.example/") as { text?: string }).text, "local");
    await assert.rejects(get("http://dev.example/on"), /the host 127.0.0.1:81 is not in web.local/);
    await assert.rejects(get("http://meta.example/"), /meta\.example has the reserved address/);
    await assert.rejects(
      callWeb(view({ hosts: ["*"] }), "http://meta.example/", { ...GET, outside }),
      /meta\.example has the reserved address 169\.254\.169\.254$/,
    );
    assert.deepEqual(outside.dialled, ["127.0.0.1:80", "127.0.0.1:80"]);
  } finally {
    await one.close();
  }
});

Deno.test("web.get() has TLS for the name, and tries the next address where one is refused", async () => {
  const one = site({ "/": reply("safe", { "content-type": "text/plain" }) }, { secure: true });
  try {
    const outside = world({ "site.example": [[OTHER, PUBLIC]], "wrong.example": [[PUBLIC]] }, {
      [`${PUBLIC}:443`]: one.port,
    });
    const env = view({ hosts: ["*"] });
    assert.equal((await callWeb(env, "https://site.example/", { ...GET, outside }) as { text?: string }).text, "safe");
    assert.deepEqual(outside.dialled, [`${OTHER}:443`, `${PUBLIC}:443`]);
    await assert.rejects(callWeb(env, "https://wrong.example/", { ...GET, outside }), /certificate/);
    const stranger = { ...outside, caCerts: [] };
    await assert.rejects(callWeb(env, "https://site.example/", { ...GET, outside: stranger }), /certificate/);
    assert.equal(one.seen.length, 1);
  } finally {
    await one.close();
  }
});
