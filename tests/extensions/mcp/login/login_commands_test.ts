import assert from "node:assert/strict";
import { join } from "node:path";
import { withServers } from "../_place.ts";
import { loginCommand, logoutCommand } from "../../../../extensions/mcp/login/oauth_login.ts";
import { type Guarded, guarded } from "../../../helpers/wires/authorization_server.ts";
import { withFolder } from "../../../helpers/with_folder.ts";

interface Attempt {
  readonly code: number;
  readonly said: string;
}

const addressIn = (text: string): string => /^https?:\S+$/m.exec(text)?.[0] ?? "";

/** Logs in to `server`. `browse` gets the printed address, as a browser does, and with `ask` returns the pasted text. */
async function logIn(
  home: string,
  server: Guarded,
  { browse, paste = false, settings = {} }: {
    readonly browse?: (address: string) => Promise<string>;
    readonly paste?: boolean;
    readonly settings?: object;
  } = {},
): Promise<Attempt> {
  const visit = browse ?? (async (address) => await opened(await server.agree(address)));
  const said: string[] = [];
  const browsing: Promise<string>[] = [];
  const code = await loginCommand({ name: "remote", server: { url: server.url, ...settings }, paste }, {
    home,
    print: (text) => {
      said.push(text);
      const address = addressIn(text);
      if (address !== "") browsing.push(visit(address));
    },
    ask: async () => await browsing[0] ?? "",
  });
  await Promise.all(browsing);
  return { code, said: said.join("") };
}

async function opened(address: URL): Promise<string> {
  return await (await fetch(address)).text();
}

Deno.test("mcp: a login in the browser is stored for its owner only, used, renewed without asking, and deleted", async () => {
  await using server = guarded();
  await withServers({ remote: { url: server.url } }, async ({ call, home, log }) => {
    await assert.rejects(call("mcp.tools", ["remote"]), /requires a login; run vis mcp login remote, or keep a token/);
    const { code, said } = await logIn(home, server);
    assert.equal(code, 0, said);
    const file = join(home, "mcp-logins.json");
    assert.equal((await Deno.stat(file)).mode! & 0o777, 0o600);
    assert.equal(await call("mcp.call", ["remote", "twice", { n: 21 }]), "42"); // A missing login starts no pause.

    server.valid.access = "expired";
    const before = server.valid.refresh;
    assert.deepEqual(
      await Promise.all([1, 2, 3].map((n) => call("mcp.call", ["remote", "twice", { n }]))),
      [2, 4, 6]
        .map(String),
    );
    assert.notEqual(server.valid.refresh, before);
    assert.equal(server.asked.filter((path) => path === "/token").length, 2, "one renewal");
    assert.equal(server.clients.size, 1);

    server.valid.access = server.valid.refresh = "expired";
    await assert.rejects(call("mcp.call", ["remote", "twice", { n: 1 }]), (error: Error) => {
      assert.match(error.message, /the login has ended; run vis mcp login remote/);
      for (const token of server.given) assert.ok(!error.message.includes(token));
      return true;
    });
    for (const token of server.given) assert.ok(!said.includes(token) && !JSON.stringify(log).includes(token));

    const out: string[] = [];
    const person = { home, print: (text: string) => void out.push(text), ask: () => assert.fail("asked") };
    assert.equal(await logoutCommand("remote", person), 0);
    assert.equal(await logoutCommand("remote", person), 0);
    assert.deepEqual(out, ["Deleted the login of remote\n", "Vis has no login of remote\n"]);
    for (const token of server.given) assert.ok(!(await Deno.readTextFile(file)).includes(token));
  });
});

Deno.test("mcp: a login is for one address, and not for a server that has an Authorization header", async () => {
  await using server = guarded();
  await withFolder(async (home) => assert.equal((await logIn(home, server)).code, 0));
  await using other = guarded();
  await withServers({ remote: { url: other.url } }, async ({ call, home }) => {
    assert.equal((await logIn(home, server)).code, 0);
    other.valid.access = server.valid.access;
    await assert.rejects(call("mcp.tools", ["remote"]), /run vis mcp login remote/);
  });
  const headers = { Authorization: "Bearer own" };
  await withServers({ remote: { url: server.url, headers } }, async ({ call, home }) => {
    assert.equal((await logIn(home, server)).code, 0);
    await assert.rejects(
      call("mcp.tools", ["remote"]),
      /refused the request with status 40[13], so check the token of the Authorization header/,
    );
    assert.match((await logIn(home, server, { settings: { headers } })).said, /have an Authorization header/);
  });
});

Deno.test("mcp: an answer of another login does not count, and the right one still does", () =>
  withFolder(async (home) => {
    await using server = guarded();
    const { code } = await logIn(home, server, {
      browse: async (address) => {
        const right = await server.agree(address), wrong = new URL(right);
        for (const state of ["", "guessed"]) {
          wrong.searchParams.set("state", state);
          assert.match(await opened(wrong), /not the login that was started/);
        }
        assert.equal((await fetch(new URL("/other", right))).status, 404);
        return await opened(right);
      },
    });
    assert.equal(code, 0);
  }));

Deno.test("mcp: without a browser, the user pastes the address or the code", () =>
  withFolder(async (home) => {
    await using server = guarded();
    const browse = async (address: string) => (await server.agree(address)).href;
    assert.equal((await logIn(home, server, { browse, paste: true })).code, 0);
    const other = async (address: string) => {
      const target = await server.agree(address);
      target.searchParams.set("state", "guessed");
      return target.href;
    };
    assert.match((await logIn(home, server, { browse: other, paste: true })).said, /lacks the state of this login/);
    const nothing = () => Promise.resolve(" \n");
    assert.match((await logIn(home, server, { browse: nothing, paste: true })).said, /the pasted text is empty/);
    server.metadata.authorization_response_iss_parameter_supported = false;
    const code = async (address: string) => ` ${(await server.agree(address)).searchParams.get("code")}\n`;
    assert.equal((await logIn(home, server, { browse: code, paste: true })).code, 0);
  }));

Deno.test("mcp: a login that fails gives the reason, shows no code or token, and stores nothing", async () => {
  const cases: readonly (readonly [(server: Guarded) => void, RegExp, ((address: URL) => URL)?])[] = [
    [(server) => void (server.denies = true), /gave no code \(access_denied\)/],
    [() => {}, /refused \(invalid_grant\)/, (address) => {
      address.searchParams.set("code", "stolen");
      return address;
    }],
    [() => {}, /differs from the server that the metadata names \(IssuerMismatchError\)/, (address) => {
      address.searchParams.set("iss", "https://other.example");
      return address;
    }],
    [
      ({ metadata }) => void (metadata.issuer = "https://other.example"),
      /differs from the server that the metadata names/,
    ],
    [({ metadata }) => void (metadata.registration_endpoint = undefined), /does not support dynamic registration/],
    [
      ({ metadata }) => void (metadata.registration_endpoint = "http://192.0.2.1/r"),
      /192\.0\.2\.1 does not begin with https/,
    ],
    [
      ({ metadata }) => void (metadata.authorization_endpoint = "http://192.0.2.1/a"),
      /192\.0\.2\.1 does not begin with https/,
    ],
    [
      ({ metadata }) => void (metadata.token_endpoint = "http://192.0.2.1/t"),
      /gave no usable response|does not begin with https|names/,
    ],
    [({ metadata }) => void (metadata.code_challenge_methods_supported = ["plain"]), /gave no usable response/],
  ];
  for (const [change, says, change2] of cases) {
    await using server = guarded();
    change(server);
    await withFolder(async (home) => {
      const { code, said } = await logIn(home, server, {
        browse: async (address) => {
          const target = await server.agree(address);
          return target.protocol === "http:" ? await opened(change2?.(target) ?? target) : "";
        },
      });
      assert.equal(code, 1);
      assert.match(said, says);
      for (const token of server.given) assert.ok(!said.includes(token), said);
      await assert.rejects(Deno.stat(join(home, "mcp-logins.json")), Deno.errors.NotFound);
    });
  }
});

Deno.test("mcp: a server without a login is reported", () =>
  withFolder(async (home) => {
    const cases = [
      [undefined, /no server has this name; vis mcp list/, 2],
      [{ command: "x" }, /it is a program/, 2],
      [{ url: "http://192.0.2.1/mcp" }, /does not begin with https/, 1],
    ] as const;
    for (const [server, says, code] of cases) {
      const said: string[] = [];
      const person = { home, print: (text: string) => void said.push(text), ask: () => assert.fail("asked") };
      assert.equal(await loginCommand({ name: "remote", server, paste: false }, person), code);
      assert.match(said.join(""), says);
    }
  }));
