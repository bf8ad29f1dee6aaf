import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { TokenList } from "../../../src/app/services/token_list.ts";
import type { Quota } from "../../../src/channels/http/tokens.ts";

const NO_QUOTA = { queriesPerDay: null, costUsdPerDay: null, concurrent: null };
const SECRET = "plain-secret-0123456789";
const HASH = createHash("sha256").update("other-secret-0123456789").digest("hex");

interface Bench extends AsyncDisposable {
  readonly path: string;
  readonly clock: { now: number };
  readonly logged: string[];
  write(value: unknown): Promise<void>;
  open(quota?: Quota): Promise<TokenList>;
}

async function bench(value?: unknown): Promise<Bench> {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "tokens.jsonc");
  const clock = { now: 1_000_000 };
  const logged: string[] = [];
  const at = (event: string, data?: unknown) => void logged.push(`${event} ${JSON.stringify(data)}`);
  const log = { debug: at, info: at, warn: at, error: at };
  const write = (value: unknown) =>
    Deno.writeTextFile(path, typeof value === "string" ? value : JSON.stringify(value), { mode: 0o600 });
  if (value !== undefined) await write(value);
  return {
    ...{ path, clock, logged, write },
    open: (quota: Quota = NO_QUOTA) => TokenList.open(path, { quota, now: () => clock.now, log }),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

const names = async (list: TokenList): Promise<readonly string[]> => (await list.grants()).map(({ name }) => name);

Deno.test("TokenList reads plain and hashed tokens, scopes, expiry and quotas, with comments", async () => {
  await using at = await bench(`{
    // Who may come in
    "tokens": [
      { "name": "ci", "token": "${SECRET}", "scope": "read", "tenant": "lab", "expires": "2030-01-01T00:00:00Z" },
      { "name": "ana@work", "token": "sha256:${HASH}", "queriesPerDay": 5, "concurrent": null },
    ],
  }`);
  const quota = { queriesPerDay: 100, costUsdPerDay: 3, concurrent: 2 };
  const [ci, ana] = await (await at.open(quota)).grants();
  assert.deepEqual([ci?.name, ci?.scope, ci?.expiresAt], ["ci", "read", Date.UTC(2030, 0, 1)]);
  assert.equal(Buffer.from(ci?.digest ?? []).toString("hex"), createHash("sha256").update(SECRET).digest("hex"));
  assert.deepEqual(ci?.quota, quota, "what it does not say is what the server says");
  assert.equal(Buffer.from(ana?.digest ?? []).toString("hex"), HASH);
  assert.deepEqual([ci?.tenant, ci?.all, ana?.tenant, ana?.all], ["lab", false, "default", false]);
  await at.write(`{ "tokens": [
    { "name": "prometheus", "token": "${SECRET}", "scope": "read", "tenant": "*" },
    { "name": "root", "token": "${SECRET}2", "scope": "admin", "tenant": "lab" },
  ] }`);
  const seen = (await (await at.open()).grants()).map(({ tenant, all }) => [tenant, all]);
  assert.deepEqual(seen, [["default", true], ["lab", true]]);
  assert.deepEqual([ana?.scope, ana?.expiresAt], ["write", null]);
  assert.deepEqual(ana?.quota, { queriesPerDay: 5, costUsdPerDay: 3, concurrent: null });
});

Deno.test("TokenList open() reports a faulty file with the place, and shows no token", async () => {
  const entry = { name: "a", token: SECRET };
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [`{"tokens": [{"name": "a", "token": "${SECRET}" "x"}]}`, /the file is not JSON; correct the file$/],
    [{ tokens: [] }, /tokens must not be empty; correct the file$/],
    [[], /the file must be an object; correct the file$/],
    [{ tokens: [{ ...entry, token: "short-secret" }] }, /tokens\.0\.token must have 16 to 512/],
    [{ tokens: [{ ...entry, token: `sha256:${SECRET}` }] }, /tokens\.0\.token must /],
    [{ tokens: [{ ...entry, tenant: "a*" }] }, /tokens\.0\.tenant must have 1 to 64/],
    [{ tokens: [{ ...entry, scope: "root" }] }, /tokens\.0\.scope must /],
    [{ tokens: [{ ...entry, expires: "tomorrow" }] }, /tokens\.0\.expires must /],
    [{ tokens: [{ ...entry, queriesPerDay: 0 }] }, /tokens\.0\.queriesPerDay must /],
    [{ tokens: [{ ...entry, [SECRET]: 1 }] }, /tokens\.0 has the unknown key /],
    [{ tokens: [{ ...entry, name: "a b" }] }, /tokens\.0\.name must /],
    [
      { tokens: [entry, { ...entry, token: `${SECRET}2` }] },
      /tokens\.1\.name is a, which another token has; correct the file$/,
    ],
    [
      { tokens: [entry, { name: "b", token: `${SECRET}2` }, { ...entry, name: "c" }] },
      /tokens\.2 \(c\) has the same token as a; correct the file$/,
    ],
    [
      { tokens: [entry, { name: "hashed", token: `sha256:${createHash("sha256").update(SECRET).digest("hex")}` }] },
      /tokens\.1 \(hashed\) has the same token as a; correct the file$/,
    ],
  ];
  for (const [value, message] of wrong) {
    await using at = await bench(value);
    await assert.rejects(at.open(), (error) => {
      assert.ok(error instanceof Error && error.name === "ConfigError");
      assert.match(error.message, message);
      assert.ok(error.message.startsWith(`Cannot use the tokens of ${at.path}: `), error.message);
      if (!JSON.stringify(value).includes(`"${SECRET}":`)) assert.ok(!error.message.includes("secret"), error.message);
      return true;
    });
  }
  await using at = await bench();
  await assert.rejects(at.open(), { name: "ConfigError" });
});

Deno.test("TokenList grants() notices a changed file within a second, and keeps the tokens of a broken one", async () => {
  await using at = await bench({ tokens: [{ name: "first", token: SECRET }] });
  const list = await at.open();
  await at.write({ tokens: [{ name: "first", token: SECRET }, { name: "second", token: `${SECRET}2` }] });
  assert.deepEqual(await names(list), ["first"]);
  at.clock.now += 1_000;
  const together = await Promise.all([names(list), names(list)]);
  assert.deepEqual(together, [["first", "second"], ["first", "second"]]);
  assert.equal(at.logged.length, 1, "read once for both");
  await at.write("{ tokens");
  at.clock.now += 1_000;
  assert.deepEqual(await names(list), ["first", "second"]);
  assert.match(
    at.logged.at(-1) ?? "",
    /tokens_not_loaded \{"error":"Cannot use the tokens of .*: the file is not JSON; correct the file"\}/,
  );
  await Deno.remove(at.path);
  at.clock.now += 1_000;
  assert.deepEqual(await names(list), ["first", "second"]);
  await at.write({ tokens: [{ name: "third", token: SECRET }] });
  at.clock.now += 1_000;
  assert.deepEqual(await names(list), ["third"]);
  assert.ok(!at.logged.join().includes("secret"));
});

Deno.test("TokenList notices who may read the file, and logs a fault once with the time until which it lasts", async () => {
  await using at = await bench({ tokens: [{ name: "first", token: SECRET }] });
  await Deno.chmod(at.path, 0o600);
  const list = await at.open();
  const later = (): Promise<string> => {
    at.clock.now += 1_000;
    return list.fault();
  };
  assert.equal(await later(), "");
  await Deno.chmod(at.path, 0o640);
  assert.equal(await later(), "other users have access to the token file");
  assert.equal(await later(), "other users have access to the token file");
  assert.deepEqual(at.logged.filter((line) => !line.startsWith("tokens_loaded")), [
    `tokens_shared ${JSON.stringify({ error: `other users have access to ${at.path}; run chmod 600 on it` })}`,
  ]);
  await Deno.chmod(at.path, 0o600);
  assert.equal(await later(), "");
  const kept = `${at.path}.kept`;
  await Deno.rename(at.path, kept);
  for (let time = 0; time < 3; time++) {
    assert.match(await later(), /cannot use the token file; the previous tokens stay valid$/);
  }
  assert.deepEqual(await names(list), ["first"]);
  assert.equal(at.logged.filter((line) => line.startsWith("tokens_not_loaded")).length, 1);
  await Deno.rename(kept, at.path);
  assert.equal(await later(), "");
  assert.match(at.logged.at(-1) ?? "", /^tokens_loaded/);
  assert.ok(!at.logged.join().includes("secret"));
});
