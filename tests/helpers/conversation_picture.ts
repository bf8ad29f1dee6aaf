import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { isAlive } from "../../src/app/session/process_owner.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store, StoredIteration } from "../../src/persistence/store.ts";
import { collectContent } from "../../src/persistence/unused_long_values.ts";
import { CALL } from "./kill_script.ts";

/** These facts must be the same after each run of the script, interrupted or not (docs/internals/database.md). */
export interface Picture {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly history: readonly unknown[];
  readonly outcomes: readonly unknown[];
  readonly answers: readonly unknown[];
  readonly spent: { readonly calls: number; readonly iterations: number };
  readonly files: Readonly<Record<string, string>>;
}

export interface Cuts {
  readonly kept: number;
  readonly queries: number;
}

/** The last process of the database must have ended. Throws if a row is incomplete. */
export async function pictureOf(
  { path, workspace }: { readonly path: string; readonly workspace: string },
): Promise<{ readonly picture: Picture; readonly cuts: Cuts }> {
  const store = await openStore({ path, isAlive });
  try {
    await store.sweepLost(isAlive);
    assertWhole(path);
    assert.deepEqual(await store.check(), []);
    const branch = await store.latestConversation(workspace);
    assert.ok(branch);
    const { branchId } = branch;
    const queries = await store.queries(branchId);
    const perQuery = await Promise.all(queries.map(({ queryId }) => store.iterations(queryId)));
    const all = perQuery.flat();
    const cut = all.filter(({ status }) => status === "interrupted");
    cut.forEach(assertCut);
    const whole = all.filter(({ status }) => status !== "interrupted");
    const ended = queries.filter(({ status }) => status === "done");
    for (const { queryId, usage } of queries) {
      const calls = await callsOf(store, queryId);
      assert.deepEqual([usage.calls, usage.input], [calls, calls * CALL.input], "usage of a query is that of its rows");
    }
    const extra = await Promise.all(cut.map((one) => callsBelow(store, one)));
    const calls = queries.reduce((sum, { usage }) => sum + usage.calls, 0);
    const picture: Picture = {
      variables: await variablesOf(store, branchId),
      history: whole.map(finished),
      outcomes: whole.map(({ metadata }) => metadata.outcome),
      answers: ended.map(({ text, answer, answerType, confidence, reason, notes }) => (
        // Notes about changed files depend on the moment of a kill, so the picture compares the files themselves.
        {
          text,
          answer,
          answerType,
          confidence,
          reason,
          notes: notes.filter((note) => !/^\d+ files? changed |^wrote /.test(note)),
        }
      )),
      spent: {
        calls: calls - cut.length - extra.reduce((sum, more) => sum + more, 0),
        iterations: queries.reduce((sum, { iterations }) => sum + iterations, 0),
      },
      files: filesOf(workspace),
    };
    return { picture, cuts: { kept: cut.length, queries: queries.length - ended.length } };
  } finally {
    await store.close();
    assert.equal((await collectContent(path, { now: Date.now(), busyMs: 1000 })).contents, 0, "no orphan content");
  }
}

function assertWhole(path: string): void {
  const db = new DatabaseSync(path, { readOnly: true });
  const count = (sql: string): number => Number(db.prepare(`SELECT count(*) AS n ${sql}`).get()?.n);
  try {
    assert.equal(count("FROM iteration WHERE status = 'running' OR finished_at IS NULL"), 0, "running iterations");
    assert.equal(count("FROM query_state WHERE status = 'running'"), 0, "running queries");
    assert.equal(count("FROM lease"), 0, "leases");
    assert.equal(
      count(`FROM expression_state e JOIN iteration i ON i.id = e.iteration_id
        JOIN expression_soul s ON s.id = e.expression_soul_id WHERE i.status = 'interrupted'
        AND s.conversation_state_id NOT IN (SELECT conversation_state_id FROM child_branch)
        -- What a query was given is stored with the row.
        AND s.name <> 'context'`),
      0,
      "rows of interrupted iterations",
    );
    assert.equal(
      count(`FROM expression_soul s WHERE kind = 'var'
        AND NOT EXISTS (SELECT 1 FROM expression_state e WHERE e.expression_soul_id = s.id)`),
      0,
      "variables without a version",
    );
    assert.equal(
      count(`FROM iteration i WHERE status <> 'interrupted' AND EXISTS
        (SELECT 1 FROM iteration_full f WHERE f.id = i.id AND json_type(f.metadata, '$.pendingBlocks') IS NOT NULL)`),
      0,
      "finished iterations with blocks to run",
    );
  } finally {
    db.close();
  }
}

/** An interrupted iteration keeps the paid reply and its blocks, but no effect of the blocks. */
function assertCut({ blocks, response, metadata }: StoredIteration): void {
  const { code } = JSON.parse(response) as { readonly code: readonly { readonly expr: string }[] };
  assert.deepEqual(metadata.pendingBlocks, code.map(({ expr }) => expr));
  assert.deepEqual(blocks, []);
}

async function callsOf(store: Store, queryId: string): Promise<number> {
  let calls = 0;
  for (const iteration of await store.iterations(queryId)) {
    const traces = iteration.traces.reduce((sum, { usage }) => sum + (usage?.calls ?? 0), 0);
    calls += traces + await callsBelow(store, iteration);
  }
  return calls;
}

async function callsBelow(store: Store, { iterationId }: StoredIteration): Promise<number> {
  let calls = (await store.subCalls(iterationId)).length;
  for (const { queryId } of await store.subQueries(iterationId)) calls += await callsOf(store, queryId);
  return calls;
}

async function variablesOf(store: Store, branchId: string): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const { name, kind, scope, versions, code } of await store.variables(branchId)) {
    if (name === "$query") continue; // The variable exists once per query, and an interruption makes another query.
    const values = (await store.variableVersions(branchId, name)).map(({ version, image, code }) => {
      const { kind, source, reason, requires, root, bytes, summary } = image;
      return { version, code, kind, source, reason, requires, root, bytes: Array.from(bytes).join(), summary };
    });
    found[name] = { kind, scope, versions, code, values };
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => a < b ? -1 : 1));
}

function finished({ status, thinking, response, error, blocks, metadata }: StoredIteration): unknown {
  const { outcome } = metadata;
  return {
    ...{ status, thinking, response, error, outcome },
    blocks: blocks.map(({ code, result, reads, value, saved }) => ({
      ...{ code, reads, value: value && Array.from(value).join(), saved: saved.map(({ name }) => name) },
      ...{ ok: result.ok, outcome: result.outcome, preview: result.preview, defined: result.defined },
      error: result.error && `${result.error.name}: ${result.error.message}`,
    })),
  };
}

function filesOf(workspace: string): Record<string, string> {
  const names = [...Deno.readDirSync(workspace)].map(({ name }) => name).sort();
  return Object.fromEntries(names.map((name) => [name, Deno.readTextFileSync(`${workspace}/${name}`)]));
}
