import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";
import { begun, block, image, iterationEnd, newIteration, utf8 } from "../conformance/store/fixtures.ts";
import { withDatabasePath } from "./_temp_database.ts";

const PROMPT = "You are Vis, and these are your rules. ".repeat(200);

async function step(store: Store, queryId: string, position: number): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(4096));
  const list = utf8(Array.from({ length: position }, (_, at) => at).join());
  const codes = [`const file${position} = await fs.readFile("f${position}")`, `sizes.push(${position})`];
  const id = await store.beginIteration(
    newIteration(queryId, position, { systemPrompt: PROMPT, blocks: codes, userPrompt: `journal ${position}` }),
  );
  const blocks = [
    block(codes[0] ?? "", { value: bytes, saved: [image(`file${position}`, { bytes })] }),
    block(codes[1] ?? "", { reads: ["sizes"], saved: [image("sizes", { bytes: list })] }),
  ];
  await store.endIteration(id, iterationEnd(blocks));
}

/** Returns the bytes in use, because the file grows by whole pages. */
function used(path: string): number {
  using db = new DatabaseSync(path, { readOnly: true });
  return Number(db.prepare("SELECT sum(payload) AS bytes FROM dbstat").get()?.bytes);
}

Deno.test("the database grows by the same number of bytes per iteration, prompts and values stored once", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { queryId } = await begun(store);
    const sizes: number[] = [];
    for (let position = 0; position <= 200; position++) {
      if ([10, 20, 190, 200].includes(position)) sizes.push(used(path));
      await step(store, queryId, position);
    }
    const [at10 = 0, at20 = 0, at190 = 0, at200 = 0] = sizes;
    const [early, late] = [(at20 - at10) / 10, (at200 - at190) / 10];
    assert.ok(late / early <= 1.15, `${late} after ${early}`);
    // The 4 KB value is stored once, although a block returned it and a variable holds it.
    assert.ok(early < 4096 + 5000, `${early} bytes per iteration`);
    await store.close();
    using db = new DatabaseSync(path, { readOnly: true });
    const prompts = db.prepare("SELECT count(*) AS n FROM content WHERE length(bytes) = ?").get(PROMPT.length);
    const rows = db.prepare("SELECT count(*) AS n, count(DISTINCT llm_system_prompt) AS d FROM iteration").get();
    assert.deepEqual([prompts?.n, rows?.n, rows?.d], [1, 201, 1]);
  });
});

Deno.test("a large value that is appended to is not stored whole again", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { queryId } = await begun(store);
    const large = crypto.getRandomValues(new Uint8Array(65_536));
    const whole = new Uint8Array(1024 * 1024);
    for (let offset = 0; offset < whole.length; offset += large.length) {
      crypto.getRandomValues(large);
      whole.set(large, offset);
    }
    const save = async (position: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
      const id = await store.beginIteration(newIteration(queryId, position));
      await store.endIteration(id, iterationEnd([block("log.push(1)", { saved: [image("log", { bytes })] })]));
    };
    await save(0, whole);
    const before = used(path);
    for (let position = 1; position <= 10; position++) {
      const longer = new Uint8Array(whole.length + position * 100);
      longer.set(whole);
      longer.fill(position, whole.length);
      await save(position, longer);
    }
    assert.ok((used(path) - before) / 10 < 80_000, `${(used(path) - before) / 10} bytes per version`);
    await store.close();
  });
});

Deno.test("versions that differ in a few places are stored as differences, and every reader sees them whole", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { queryId, branchId } = await begun(store);
    const values = [600, 601, 602, 400, 603, 5000, 5001, 90_000, 90_001].map((length, at) =>
      utf8(JSON.stringify(Array.from({ length }, (_, item) => item === 17 ? `changed ${at}` : item)))
    );
    for (const [position, bytes] of values.entries()) {
      const id = await store.beginIteration(newIteration(queryId, position, {}));
      await store.endIteration(id, iterationEnd([block("next()", { saved: [image("list", { bytes })] })]));
    }
    const versions = await store.variableVersions(branchId, "list");
    assert.deepEqual(versions.map((one) => one.image.bytes), values);
    await store.close();
    using db = new DatabaseSync(path, { readOnly: true });
    const encodings = db.prepare("SELECT encoding, count(*) AS n FROM content GROUP BY encoding").all();
    const counts = new Map(encodings.map(({ encoding, n }) => [encoding, n]));
    assert.ok(Number(counts.get("delta")) >= 4, JSON.stringify([...counts]));
    const rows = db.prepare("SELECT result FROM expression_state_full WHERE version >= 0 AND result IS NOT NULL").all();
    const shown = rows.map(({ result }) => result instanceof Uint8Array ? result.length : -1).filter((n) => n > 1000);
    assert.deepEqual(shown, values.map((bytes) => bytes.length));
    const full = db.prepare("SELECT hash, bytes FROM content_full").all();
    for (const { hash, bytes } of full) {
      assert.ok(bytes instanceof Uint8Array);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
      assert.equal(digest.toHex(), hash);
    }
  });
});
