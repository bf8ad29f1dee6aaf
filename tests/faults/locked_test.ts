import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { inPlace } from "./_place.ts";

const HELD_MS = 3_000;

Deno.test("a turn waits for a database that another writer has locked for three seconds, and succeeds", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    await using engine = await startEngine([
      replyJson("const a = 1"),
      replyJson("const b = a + 1", { final: "{{b}}" }),
    ], { path, workspace });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const begun = performance.now();
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 20);
    const asked = engine.ask("count");
    await new Promise((resolve) => setTimeout(resolve, HELD_MS));
    other.exec("ROLLBACK");
    other.close();
    const { status, answer } = await asked;
    clearInterval(ticking);
    assert.deepEqual([status, answer], ["done", "2"]);
    assert.ok(performance.now() - begun >= HELD_MS);
    assert.ok(ticks > 30, `the process goes on meanwhile: ${ticks}`);
  });
});

Deno.test("a lock in the middle of a turn costs no reply; a lasting lock ends the turn with StoreError busy", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    const store = await openStore({ path, busyMs: 60 });
    const other = new DatabaseSync(path);
    await using engine = await startEngine([
      replyJson("const a = 1"),
      replyJson("const b = 2"),
      replyJson("const c = a", { final: "{{c}}" }),
    ], { store, workspace });
    const asked = engine.conversations.ask(engine.branch, "count", {
      signal: new AbortController().signal,
      emit: ({ type }) => type === "iteration_finished" && other.exec("BEGIN IMMEDIATE"),
    });
    await assert.rejects(asked, (error) => error instanceof StoreError && error.code === "busy");
    other.exec("ROLLBACK");
    other.close();
    assert.equal((await engine.ask("again")).answer, "1");
    const queries = await store.queries(engine.branch.branchId);
    assert.deepEqual(queries.map(({ running, usage }) => [running, usage.calls]), [[false, 2], [false, 1]]);
  });
});
