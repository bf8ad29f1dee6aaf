import assert from "node:assert/strict";
import type { Image } from "../../../src/domain/images.ts";
import { begun, newQuery } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const LARGE = Uint8Array.from({ length: 200_000 }, (_, i) => i % 251);
const IMAGES: readonly Image[] = [
  { kind: "bytes", mediaType: "image/png", bytes: LARGE },
  { kind: "bytes", mediaType: "image/gif", bytes: new Uint8Array([71, 73, 70]) },
  { kind: "url", url: "https://example.org/a.png" },
];

const NOTHING = { images: [], answerSchema: null, instructions: "", askedAs: null };

export const storeExtrasCases: readonly StoreCase[] = [
  {
    name: "queryExtras() gives images, schema and form of a request as they were given, and of its query only",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const answerSchema = JSON.stringify({ enum: ["x".repeat(5_000)] });
      const askedAs = { metadata: { who: "\ud800 me" }, format: null };
      const id = await store.beginQuery({
        ...newQuery(branchId, "What is on it?"),
        ...{ images: IMAGES, answerSchema, askedAs, promptEnrichment: "Rhyme" },
      });
      assert.deepEqual(await store.queryExtras(id), { images: IMAGES, answerSchema, instructions: "Rhyme", askedAs });
      assert.deepEqual(await store.queryExtras(queryId), NOTHING);
      assert.equal((await store.query(id))?.text, "What is on it?");
    },
  },
  {
    name: "queryExtras() of a query that does not exist has nothing",
    async run(store) {
      assert.deepEqual(await store.queryExtras("none"), NOTHING);
    },
  },
];
