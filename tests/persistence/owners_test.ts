import assert from "node:assert/strict";
import { openStore } from "../../src/persistence/open_store.ts";
import { begun, block, iterationEnd, newIteration, queryEnd } from "../conformance/store/fixtures.ts";
import { withDatabasePath } from "./_temp_database.ts";

Deno.test("calls keep their order where a row is not known yet", () =>
  withDatabasePath(async (path) => {
    const one = await openStore({ path });
    const { branchId, queryId } = await begun(one);
    const blocks = [block("1")];
    const iterationId = await one.beginIteration(newIteration(queryId, 0, { blocks: ["1"] }));
    const other = await openStore({ path });
    await other.query(queryId); // The query is known from here on, but the iteration is not.
    const ends = [other.endIteration(iterationId, iterationEnd(blocks)), other.endQuery(queryId, queryEnd())];
    await Promise.all(ends);
    assert.deepEqual((await one.queries(branchId)).map(({ status }) => status), ["done"]);
    await other.close();
    await one.close();
  }));
