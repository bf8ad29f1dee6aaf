import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteConnection } from "../../src/persistence/sqlite/connection.ts";
import type { Store } from "../../src/persistence/store.ts";
import { begun, block, image, iterationEnd, newIteration, queryEnd } from "../conformance/store/fixtures.ts";
import { withDatabasePath } from "./_temp_database.ts";

const WRITER = fileURLToPath(new URL("_writer.ts", import.meta.url));

function writer(path: string, count: number): Deno.ChildProcess {
  const args = ["run", "--allow-all", "--quiet", WRITER, path, String(count)];
  return new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "inherit" }).spawn();
}

async function lines(child: Deno.ChildProcess, enough: (lines: readonly string[]) => boolean): Promise<string[]> {
  let text = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (enough(text.split("\n").slice(0, -1))) break;
  }
  return text.split("\n").slice(0, -1);
}

/** Asserts that every iteration is stored as a whole, or is still running without a trace of its end. */
async function assertWhole(store: Store, queryId: string): Promise<number> {
  const iterations = await store.iterations(queryId);
  for (const [position, { status, blocks, metadata }] of iterations.entries()) {
    if (position < iterations.length - 1) assert.equal(status, "done");
    if (status === "done") {
      assert.deepEqual(blocks.map(({ saved }) => saved.length), [1, 1, 1]);
      assert.equal(metadata.pendingBlocks, undefined);
    } else {
      assert.deepEqual([blocks, Array.isArray(metadata.pendingBlocks)], [[], true]);
    }
  }
  return iterations.filter(({ status }) => status === "done").length;
}

Deno.test("a process killed while it writes leaves whole iterations, all that it had reported, and no damage", async () => {
  await withDatabasePath(async (path) => {
    for (const wanted of [1, 7, 20]) {
      const child = writer(path, 10_000);
      const seen = await lines(child, (some) => some.length > wanted);
      child.kill("SIGKILL");
      await child.status;
      const store = await openStore({ path });
      const [queryId = ""] = seen;
      const done = await assertWhole(store, queryId);
      assert.ok(done >= seen.length - 1, `${done} of ${seen.length - 1}`);
      const branch = await store.latestConversation("/work");
      const versions = (await store.variables(branch?.branchId ?? "")).map((head) => [head.name, head.versions]);
      assert.deepEqual(versions.sort(), [["$reasoning", done], ["v0", done], ["v1", done], ["v2", done]]);
      assert.deepEqual(await store.check(), []);
      assert.equal(await store.sweepLost(() => false), 1);
      assert.match(
        (await store.query(queryId))?.answer ?? "",
        new RegExp(done === 0 ? "No step had finished" : `${done} finished steps? (is|are) kept`),
      );
      await store.close();
    }
  });
});

Deno.test("three processes write to one database and none of them fails", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const children = [writer(path, 40), writer(path, 40)];
    const { branchId, queryId } = await begun(store);
    for (let position = 0; position < 40; position++) {
      const id = await store.beginIteration(newIteration(queryId, position));
      await store.endIteration(id, iterationEnd([block("x", { saved: [image("x")] })]));
    }
    const outputs = await Promise.all(children.map((child) => lines(child, () => false)));
    const codes = await Promise.all(children.map(async (child) => (await child.status).code));
    assert.deepEqual(codes, [0, 0]);
    for (const [other = ""] of outputs) assert.equal(await assertWhole(store, other), 40);
    assert.equal((await store.variables(branchId))[0]?.versions, 40);
    assert.deepEqual(await store.check(), []);
    await store.close();
  });
});

async function view(store: Store, branchId: string, queryId: string): Promise<unknown> {
  return {
    query: await store.query(queryId),
    iterations: await store.iterations(queryId),
    variables: await store.variables(branchId),
    hits: (await store.search("apple", { limit: 9 })).length,
  };
}

Deno.test("whichever statement of endIteration() or endQuery() fails, nothing of it is left, and it can be repeated", async () => {
  const store = await openStore({ path: ":memory:" });
  const { branchId, queryId } = await begun(store);
  const id = await store.beginIteration(newIteration(queryId, 0, { blocks: ["apple()"] }));
  const blocks = [
    block("apple()", { saved: [image("a"), image("b")], result: { stdout: "o".repeat(2000) } }),
    block("apple(a)", { reads: ["a"], saved: [image("b"), image("big", { bytes: new Uint8Array(200_000) })] }),
  ];
  const iteration = iterationEnd(blocks, { system: [{ name: "$answer", text: "t" }] });
  const both = await begun(store);
  const last = await store.beginIteration(newIteration(both.queryId, 0, { blocks: ["apple()"] }));
  const ended = queryEnd({ answer: "apple" });
  const steps = [
    { branchId, queryId, least: 4, run: () => store.endIteration(id, iteration) },
    { branchId, queryId, least: 3, run: () => store.endQuery(queryId, ended) },
    { ...both, least: 7, run: () => store.endQuery(both.queryId, ended, { iterationId: last, iteration }) },
  ];
  const original = SqliteConnection.prototype.query;
  for (const { branchId, queryId, least, run } of steps) {
    const before = await view(store, branchId, queryId);
    let failures = 0;
    for (let failing = 1, failed = true; failed; failing++) {
      let count = 0;
      SqliteConnection.prototype.query = new Proxy(original, {
        apply: (target, self, args) => {
          if (++count === failing) throw new Error("Injected");
          return Reflect.apply(target, self, args);
        },
      });
      try {
        failed = await run().then(() => false, (error: Error) => error.message === "Injected");
      } finally {
        SqliteConnection.prototype.query = original;
      }
      if (failed) {
        failures++;
        assert.deepEqual(await view(store, branchId, queryId), before, `statement ${failing}`);
      }
    }
    assert.ok(failures >= least, `${failures} failures`);
    assert.notDeepEqual(await view(store, branchId, queryId), before);
  }
  await store.close();
});
