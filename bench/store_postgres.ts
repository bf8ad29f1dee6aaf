import { join } from "node:path";
import { openStore } from "../src/persistence/open_store.ts";
import type { Store } from "../src/persistence/store.ts";
import { begun } from "../tests/conformance/store/fixtures.ts";
import { startEngine } from "../tests/helpers/engine.ts";
import { noPostgres, startPostgres } from "../tests/helpers/postgres.ts";
import { buildSandbox } from "../tests/helpers/sandbox.ts";
import { replyJson } from "../tests/helpers/scripted_provider.ts";
import { countStatements } from "./support/counted_statements.ts";
import type { Figure } from "./support/figure.ts";
import { storeStep } from "./support/store_step.ts";

const WARM = 50, ITERATIONS = 300, QUERIES = 7;

export async function storePostgres(): Promise<readonly Figure[]> {
  if (noPostgres !== "") throw new Error(`Cannot measure: ${noPostgres}`);
  const server = await startPostgres({ settings: ["fsync = on", "synchronous_commit = on", "full_page_writes = on"] });
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-store-" });
  try {
    const stores = [
      await openStore({ path: join(folder, "vis.db") }),
      await openStore({ path: await server.createDatabase() }),
    ];
    const [file = [], postgres = []] = await inTurns(stores);
    await Promise.all(stores.map((store) => store.close()));
    const more = postgres.map((ms, at) => ms - (file[at] ?? NaN));
    const counts = await twoCalls(await server.createDatabase());
    const trips = counts.map(({ roundTrips }) => roundTrips);
    const statements = counts.map((one) => one.statements);
    const note = "in turns, with fsync";
    return [
      { what: "writing one iteration, SQLite", way: "part", unit: "ms", samples: file, bar: null },
      { what: "the same, PostgreSQL", way: "part", unit: "ms", samples: postgres, bar: null },
      { what: "the difference", way: "part", unit: "ms", samples: more, bar: 3, note },
      { what: "round trips of a query of two calls", way: "part", unit: "", samples: trips, bar: 20 },
      { what: "its statements", way: "part", unit: "", samples: statements, bar: 20 },
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
    await server.stop("immediate");
  }
}

async function inTurns(stores: readonly Store[]): Promise<readonly (readonly number[])[]> {
  const ids = [];
  for (const store of stores) ids.push((await begun(store)).queryId);
  const times: number[][] = stores.map(() => []);
  for (let position = 1; position <= WARM + ITERATIONS; position++) {
    for (const [at, store] of stores.entries()) {
      const start = performance.now();
      await storeStep(store, ids[at] ?? "", position);
      if (position > WARM) times[at]?.push(performance.now() - start);
    }
  }
  return times;
}

async function twoCalls(url: string) {
  await buildSandbox();
  const store = await openStore({ path: url });
  const replies = Array.from({ length: QUERIES }, (_, n) => [
    replyJson([`const list${n} = [1, 2, ${n}]\nlist${n}.length`]),
    replyJson([], { final: `It is {{list${n}}}` }),
  ]);
  await using engine = await startEngine(replies.flat(), { store });
  using counted = countStatements();
  const counts = [];
  for (let n = 0; n < QUERIES; n++) {
    await engine.ask(`request ${n}`);
    counts.push(counted.take());
  }
  return counts.slice(1);
}
