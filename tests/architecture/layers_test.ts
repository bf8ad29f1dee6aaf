import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { brokenRule, folderOf, type Import, packageOf } from "./broken_rule.ts";
import { DOORS, RANK } from "./layers.ts";
import { importProblems } from "./problems.ts";
import { sourcesOf } from "./import_graph.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function check(from: string, to: string, options: Partial<Import> = {}): string | undefined {
  return brokenRule({ from, to, type: false, ...options });
}

Deno.test("importProblems() every import points to a lower rank and through a door", async () => {
  assert.deepEqual(await importProblems(ROOT), []);
});

Deno.test("RANK ranks every folder of src/, and no others", async () => {
  const folders = new Set((await sourcesOf(ROOT, "src/")).map(folderOf));
  assert.deepEqual(Object.keys(RANK).sort(), [...folders].sort());
});

Deno.test("DOORS and folders contain no rule for a missing folder", async () => {
  const files = await sourcesOf(ROOT, "src/");
  for (const folder of Object.keys(DOORS)) assert.ok(files.some((file) => file.startsWith(folder)), folder);
});

Deno.test("brokenRule() ranks hold for values and types alike", () => {
  assert.match(check("src/iteration/x.ts", "src/query/run_query.ts")!, /rank 5.*rank 6/);
  assert.match(check("src/processes/x.ts", "src/environment/y.ts", { type: true })!, /rank 3.*rank 3/);
  assert.match(check("src/domain/x.ts", "src/logging/log.ts")!, /rank 0.*rank 1/);
  assert.match(check("src/query/x.ts", "src/novel/y.ts")!, /no rank for "novel" in src\//);
  assert.match(check("src/conversation/x.ts", "src/app.ts")!, /rank 7.*rank 9/);
  assert.equal(check("src/query/x.ts", "src/iteration/iteration.ts"), undefined);
  assert.equal(check("src/query/x.ts", "src/query/y.ts"), undefined);
});

Deno.test("brokenRule() the child imports its own folder, the wire and types of the domain", () => {
  const child = "src/sandbox/child/main.ts";
  for (const to of ["protocol.ts", "codec/codec.ts", "confine/landlock.ts", "child/realm/realm.ts"]) {
    assert.equal(check(child, `src/sandbox/${to}`), undefined);
  }
  assert.equal(check(child, "src/domain/query/query_schemas.ts", { type: true }), undefined);
  assert.match(check(child, "src/domain/query/query_schemas.ts")!, /import type/);
  assert.match(check(child, "src/sandbox/host/open_sandbox.ts")!, /may only import/);
  assert.match(check(child, "src/logging/log.ts", { type: true })!, /may only import/);
  assert.equal(check("src/sandbox/protocol.ts", "src/domain/query/variable.ts", { type: true }), undefined);
  assert.match(check("src/sandbox/protocol.ts", "src/domain/query/variable.ts")!, /import type/);
  assert.match(check("src/sandbox/protocol.ts", "src/logging/log.ts", { type: true })!, /may only import/);
  assert.match(check("src/sandbox/protocol.ts", "node:buffer")!, /imports nothing/);
});

Deno.test("brokenRule() a channel knows the conversation layer and no other channel", () => {
  const channel = "src/channels/http/routes.ts";
  assert.equal(check(channel, "src/conversation/conversations.ts"), undefined);
  assert.equal(check(channel, "src/channels/channel.ts"), undefined);
  assert.equal(check(channel, "src/channels/search_hit_schema.ts"), undefined);
  assert.equal(check(channel, "src/config/schema.ts", { type: true }), undefined);
  assert.match(check(channel, "src/config/schema.ts")!, /import type/);
  assert.match(check(channel, "src/query/run_query.ts", { type: true })!, /may only import/);
  assert.match(check(channel, "src/channels/cli/cli.ts")!, /may only import/);
});

Deno.test("brokenRule() extensions and the program meet in the spec alone", () => {
  assert.equal(check("extensions/fs/mod.ts", "src/extension/mod.ts"), undefined);
  assert.equal(check("extensions/fs/mod.ts", "extensions/fs/search/grep.ts"), undefined);
  assert.equal(check("extensions/index.ts", "extensions/fs/mod.ts"), undefined);
  assert.match(check("extensions/index.ts", "extensions/skills/find_skills.ts")!, /may only import/);
  assert.match(check("extensions/index.ts", "extensions/fs/search/grep.ts")!, /may only import/);
  assert.match(check("extensions/index.ts", "src/extension/mod.ts")!, /may only import/);
  assert.match(check("extensions/fs/mod.ts", "extensions/git/mod.ts")!, /may only import/);
  assert.match(check("extensions/fs/mod.ts", "src/persistence/store.ts")!, /src\/extension\/mod/);
  assert.match(check("extensions/fs/mod.ts", "src/domain/errors.ts", { type: true })!, /may only import/);
  assert.match(check("src/environment/x.ts", "extensions/fs/mod.ts")!, /never imports extensions/);
});

Deno.test("brokenRule() persistence has two doors and private files stay in their folder", () => {
  assert.equal(check("src/query/x.ts", "src/persistence/store.ts"), undefined);
  assert.equal(check("src/app.ts", "src/persistence/open_store.ts"), undefined);
  assert.match(check("src/app.ts", "src/persistence/database_store.ts")!, /only src\/persistence\/store\.ts and/);
  assert.match(check("src/query/x.ts", "src/prompt/_parts.ts")!, /private to src\/prompt\//);
  assert.match(
    check("src/sandbox/host/open_sandbox.ts", "src/sandbox/child/_scope.ts")!,
    /private to src\/sandbox\/child\//,
  );
  assert.equal(check("src/prompt/assemble.ts", "src/prompt/_parts.ts"), undefined);
});

Deno.test("brokenRule() a package has one owner, however it is written", () => {
  assert.match(check("src/query/x.ts", "node:sqlite")!, /only src\/persistence/);
  assert.match(check("src/query/x.ts", "npm:/kysely@0.29.9/helpers")!, /only src\/persistence/);
  assert.match(check("src/app.ts", "npm:commander@15.1.0")!, /only src\/channels\/cli/);
  assert.match(check("src/iteration/x.ts", "npm:@hono/zod-openapi@1.0.0")!, /only src\/channels\/http/);
  assert.match(check("src/prompt/x.ts", "npm:acorn@8.19.0")!, /only src\/sandbox\//);
  assert.equal(check("src/sandbox/child/parse.ts", "npm:acorn@8.19.0"), undefined);
  assert.equal(check("src/query/x.ts", "npm:acorn-walk@8.0.0"), undefined);
  assert.match(check("src/query/x.ts", "tests/helpers/scripted_provider.ts")!, /imports tests/);
});

Deno.test("packageOf() reads names with scope, version and path", () => {
  assert.equal(packageOf("npm:@a/b@1.2.3/c/d"), "@a/b");
  assert.equal(packageOf("npm:/zod@4.6.7"), "zod");
  assert.equal(packageOf("node:fs/promises"), "node:fs");
  assert.equal(packageOf("src/app.ts"), undefined);
});
