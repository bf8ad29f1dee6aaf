import assert from "node:assert/strict";
import fc from "fast-check";
import { blockResult } from "../../../src/domain/query/host_call.ts";
import type { StoredBlock } from "../../../src/persistence/store.ts";
import { anyText } from "../../helpers/any_text.ts";
import { begun, image, iterationEnd, newIteration, newQuery, queryEnd } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

/** A database may store these texts wrongly: NUL, lone surrogates, references, byte order marks, lengths around 1 KB. */
const hostile = fc.oneof(
  anyText({ maxLength: 30 }),
  fc.array(fc.integer({ min: 0xd700, max: 0xe0ff }), { maxLength: 6 }).map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "\0a",
    "\ud800",
    "\ufeffa",
    "sha256:",
    `sha256:${"0".repeat(64)}`,
    "\ufffd",
    "\u00a0",
  ),
  fc.tuple(fc.constantFrom("a", "ä", "\0", "😀", "\ud800", '"'), fc.integer({ min: 300, max: 1100 }))
    .map(([char, count]) => char.repeat(count)),
);
const names = fc.array(hostile, { maxLength: 2 });
const bytes = fc.uint8Array({ maxLength: 40 }).map((list) => new Uint8Array(list));
const error = fc.record({ name: hostile, message: hostile, line: fc.option(fc.nat()), stack: hostile });
const variable = fc.record({ source: hostile, reason: hostile, root: fc.option(hostile), requires: names, bytes });
const blockOf: fc.Arbitrary<StoredBlock> = fc.record({
  code: hostile,
  stdout: hostile,
  stderr: hostile,
  preview: hostile,
  error: fc.option(error),
  ms: fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e6, noNaN: true })),
  reads: names,
  value: fc.option(bytes),
  literal: fc.boolean(),
  variable,
  kind: fc.constantFrom("data" as const, "function" as const, "lost" as const),
}).map(({ code, error, reads, value, literal, variable, kind, ...result }) => ({
  code,
  reads,
  value,
  literal,
  saved: [image("v", { ...variable, kind })],
  result: blockResult({ ...result, error: error && { ...error, column: null, excerpt: "" } }),
}));

export const storePropertyCases: readonly StoreCase[] = [
  {
    name: "blocks and variables survive any text exactly",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      let position = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(blockOf, { maxLength: 3 }), async (blocks) => {
          const id = await store.beginIteration(newIteration(queryId, position));
          await store.endIteration(id, iterationEnd(blocks));
          const read = (await store.iterations(queryId))[position++];
          assert.deepEqual(read?.blocks, blocks);
          const last = blocks.at(-1)?.saved[0];
          if (!last) return;
          assert.deepEqual((await store.liveImages(branchId)).find(({ name }) => name === "v"), last);
          const head = (await store.variables(branchId)).find(({ name }) => name === "v");
          assert.deepEqual([head?.code, head?.reason], [blocks.at(-1)?.code, last.reason]);
        }),
        { numRuns: 40 },
      );
    },
  },
  {
    name: "texts of iterations and queries survive, lone surrogates as U+FFFD",
    async run(store) {
      const { branchId } = await begun(store);
      await fc.assert(
        fc.asyncProperty(hostile, hostile, async (one, two) => {
          const queryId = await store.beginQuery(newQuery(branchId, one, { promptEnrichment: two, runLabel: one }));
          const id = await store.beginIteration(
            newIteration(queryId, 0, { thinking: one, response: two, systemPrompt: one, metadata: { [two]: one } }),
          );
          await store.endIteration(id, iterationEnd([], { error: two }));
          await store.endQuery(queryId, queryEnd({ answer: two, notes: [one] }));
          const query = await store.query(queryId);
          assert.deepEqual([query?.text, query?.answer, query?.notes], [one, two.toWellFormed(), [one]]);
          const [read] = await store.iterations(queryId);
          assert.deepEqual(
            [read?.thinking, read?.response, read?.error],
            [one.toWellFormed(), two.toWellFormed(), two.toWellFormed()],
          );
          if (two !== "__proto__") assert.equal(read?.metadata[two], one);
        }),
        { numRuns: 60 },
      );
      assert.deepEqual(await store.check(), []);
    },
  },
];
