import { join } from "node:path";
import { openStore } from "../src/persistence/open_store.ts";
import type { Store } from "../src/persistence/store.ts";
import { begun, newQuery, queryEnd } from "../tests/conformance/store/fixtures.ts";
import { backupWhileWriting } from "./support/backup_run.ts";
import type { Figure } from "./support/figure.ts";
import { LargeConversation } from "./support/large_conversation.ts";
import { writtenPages } from "./support/written_pages.ts";

const ITERATIONS = 10_000;
const CONVERSATIONS = 1000;
const RUNS = 7;
const BACKUP_MB = Deno.env.get("VIS_BENCH_FULL") ? 1000 : 200;

export async function storeLarge(): Promise<readonly Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-large-" });
  try {
    const path = join(folder, "large.db");
    const { branchId, rounds, pages } = await build(path);
    const opened = await openings(path, branchId);
    const { listed, words } = await readings(path);
    const backup = await backupWhileWriting(folder, { megabytes: BACKUP_MB });
    const ratios = (to: "beside" | "early") => rounds.map((round) => median(round.late) / median(round[to]));
    const late = rounds.flatMap((round) => round.late);
    return [
      { what: "resume: store, variables, images, queries", way: "part", unit: "ms", samples: opened, bar: 300 },
      ...Object.entries(words).map(([what, samples]): Figure => ({ what, way: "part", unit: "ms", samples, bar: 20 })),
      { what: "writing one iteration near 10 000", way: "part", unit: "ms", samples: late, bar: 2 },
      {
        what: "÷ one near 10 of another conversation there",
        way: "part",
        unit: "×",
        samples: ratios("beside"),
        bar: 1.1,
      },
      { what: "÷ one near 10 in a new database", way: "part", unit: "×", samples: ratios("early"), bar: 1.1 },
      { what: "pages it writes ÷ one near 100", way: "part", unit: "×", samples: [pages.late / pages.early], bar: 1.1 },
      { what: "1000 conversations listed", way: "part", unit: "ms", samples: listed, bar: 20 },
      ...backup,
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function build(path: string) {
  const store = await openStore({ path });
  for (let at = 0; at < CONVERSATIONS; at++) {
    const { queryId } = await begun(store, { text: `request ${at} about the weather` });
    await store.endQuery(queryId, queryEnd({ answer: `answer ${at}: sunny` }));
  }
  const large = await LargeConversation.begin(store);
  const count = async (iterations: number) => {
    for (let at = 0; at < iterations; at++) await large.iterate();
  };
  await count(100);
  const early = await pagesOf(path, large);
  await count(ITERATIONS - 200);
  const pages = { early, late: await pagesOf(path, large) };
  const rounds = await alternating(path, { store, large });
  const { branchId } = large;
  await large.end();
  await store.close();
  return { branchId, rounds, pages };
}

async function pagesOf(path: string, large: LargeConversation): Promise<number> {
  const samples: number[] = [];
  for (let at = 0; at < 50; at++) {
    const before = writtenPages(path);
    await large.iterate();
    const after = writtenPages(path);
    if (after > before) samples.push(after - before); // If the number has not grown, SQLite has made a checkpoint.
  }
  return median(samples);
}

/** Iterations of three conversations alternate, so that all see the same state of the machine. Their order changes, so
 * that no conversation always follows the same conversation. */
async function alternating(path: string, { store: same, large }: { store: Store; large: LargeConversation }) {
  const rounds: { late: number[]; early: number[]; beside: number[] }[] = [];
  for (let round = 0; round < 30; round++) {
    const store = await openStore({ path: `${path}-${round}` });
    const small = await LargeConversation.begin(store);
    const other = await LargeConversation.begin(same);
    const times = { late: [] as number[], early: [] as number[], beside: [] as number[] };
    const turns = [["early", small], ["late", large], ["beside", other]] as const;
    for (let at = 0; at < 20; at++) {
      for (let turn = 0; turn < turns.length; turn++) {
        const [name, conversation] = turns[(at + turn) % turns.length] ?? turns[0];
        const ms = await timed(() => conversation.iterate());
        if (at >= 5) times[name].push(ms);
      }
    }
    rounds.push(times);
    await other.end();
    await store.close();
  }
  return rounds;
}

async function openings(path: string, branchId: string): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let time = 0; time < RUNS; time++) {
    let store: Store | null = null;
    samples.push(
      await timed(async () => {
        store = await openStore({ path });
        await store.variables(branchId);
        await store.variableVersions(branchId, "$answer", { newest: 1 });
        await store.liveImages(branchId);
        await store.queries(branchId);
        await store.previousTurn(branchId, await store.beginQuery(newQuery(branchId, "again")));
      }),
    );
    await (store as Store | null)?.close();
  }
  return samples;
}

const SEARCHES = {
  "search: a rare word": "needle4711",
  "search: three words": "needle4711 part readFile",
  "search: a word of every iteration": "readFile",
} as const;

async function readings(path: string) {
  const store = await openStore({ path });
  const words: Record<string, number[]> = {};
  for (const [what, text] of Object.entries(SEARCHES)) {
    const found = await store.search(text, { limit: 20 });
    if (found.length === 0) throw new Error(`Cannot measure a search for ${text}: it finds nothing`);
    words[what] = await times(() => store.search(text, { limit: 20 }));
  }
  const listed = await times(() => store.listConversations({ limit: CONVERSATIONS }));
  await store.close();
  return { listed, words };
}

async function times(work: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let time = 0; time < RUNS; time++) samples.push(await timed(work));
  return samples;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? NaN;
}
