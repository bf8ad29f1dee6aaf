import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../src/persistence/open_store.ts";
import { begun } from "../tests/conformance/store/fixtures.ts";
import type { Figure } from "./support/figure.ts";
import { storeStep } from "./support/store_step.ts";

const ITERATIONS = 1000;
const CONVERSATIONS = 100_000;
const WINDOW = 5;
const RUNS = 5;

export async function store(): Promise<readonly Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-store-" });
  try {
    const { times, early, late } = await longQuery(join(folder, "long.db"));
    const opens = await reopen(join(folder, "long.db"));
    const lists = await listing(join(folder, "many.db"));
    const growth = late / early;
    return [
      { what: "writing one iteration", way: "part", unit: "ms", samples: times, bar: 2 },
      { what: "the same, iterations 900 to 1000", way: "part", unit: "ms", samples: times.slice(-100), bar: 2 },
      { what: "bytes of iteration 1000 ÷ iteration 10", way: "part", unit: "×", samples: [growth], bar: 1.1 },
      { what: "bytes of an iteration near 10", way: "part", unit: "KB", samples: [early / 1000], bar: null },
      { what: "bytes of an iteration near 1000", way: "part", unit: "KB", samples: [late / 1000], bar: null },
      { what: "opening a database of 1000 iterations", way: "part", unit: "ms", samples: opens, bar: null },
      { what: "listing 20 of 100,000 conversations", way: "part", unit: "ms", samples: lists.slice(1), bar: 2 },
      { what: "the same, the first time", way: "part", unit: "ms", samples: lists.slice(0, 1), bar: null },
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function longQuery(path: string) {
  const store = await openStore({ path });
  const { queryId } = await begun(store);
  const times: number[] = [];
  const at = new Map<number, number>();
  for (let position = 1; position <= ITERATIONS; position++) {
    const start = performance.now();
    await storeStep(store, queryId, position);
    times.push(performance.now() - start);
    if ([10 - WINDOW, 10 + WINDOW, ITERATIONS - 2 * WINDOW, ITERATIONS].includes(position)) {
      at.set(position, usedBytes(path));
    }
  }
  await store.close();
  const between = (from: number, to: number): number => ((at.get(to) ?? NaN) - (at.get(from) ?? NaN)) / (to - from);
  return { times, early: between(10 - WINDOW, 10 + WINDOW), late: between(ITERATIONS - 2 * WINDOW, ITERATIONS) };
}

async function listing(path: string): Promise<readonly number[]> {
  const store = await openStore({ path });
  const facts = { title: "A conversation", channel: "http", workspace: "/work" };
  await Promise.all(Array.from({ length: CONVERSATIONS }, () => store.createConversation(facts)));
  const times: number[] = [];
  for (let at = 0; at < 50; at++) {
    const start = performance.now();
    await store.listConversations({ limit: 20 });
    times.push(performance.now() - start);
    await store.createConversation(facts);
  }
  await store.close();
  return times;
}

async function reopen(path: string): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let time = 0; time < RUNS; time++) {
    const start = performance.now();
    const again = await openStore({ path });
    samples.push(performance.now() - start);
    await again.close();
  }
  return samples;
}

/** The file grows by whole pages, so only the used bytes of its pages count. */
function usedBytes(path: string): number {
  using db = new DatabaseSync(path, { readOnly: true });
  return Number(db.prepare("SELECT sum(payload) AS bytes FROM dbstat").get()?.bytes);
}
