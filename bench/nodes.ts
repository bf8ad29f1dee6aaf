import { noPostgres, type Postgres, startPostgres } from "../tests/helpers/postgres.ts";
import { sseEvents } from "../tests/e2e/helpers/sse.ts";
import type { Figure } from "./support/figure.ts";
import { cpuSeconds, treeOf } from "./support/process_tree.ts";
import type { Program, Programs } from "./support/programs.ts";
import { type Served, startServed } from "./support/served.ts";
import { type SlowModel, startSlowModel } from "./support/slow_model.ts";

const LATENCY_MS = 500;
const CONVERSATIONS = 24;
const QUERIES = 4;
const TIMES = 5;
/** A node takes nothing of others before it has itself reported for the time of a lease. */
const SETTLED_MS = 7_000;
const CONFIG = { sandbox: { live: 64 }, server: { requestsPerMinute: 1_000_000, burst: 100_000 } };

/** Nodes on one PostgreSQL database, with a model that takes 500 ms a call; all of it shares the machine. */
export async function nodes({ all }: Programs): Promise<readonly Figure[]> {
  const program = all.at(-1);
  if (!program || noPostgres !== "") return [];
  const postgres = await startPostgres({ settings: ["max_connections = 200"] });
  const model = startSlowModel({ latencyMs: LATENCY_MS });
  const figure = (what: string, rest: Pick<Figure, "unit" | "samples"> & Partial<Figure>): Figure => (
    { what, way: program.way, bar: null, ...rest }
  );
  try {
    const found: Figure[] = [];
    for (const count of [1, 2, 3]) {
      const { perSecond, cpuMs } = await throughput(program, { postgres, model, count });
      found.push(
        figure(`${count} nodes: two-call queries a second, 24 at a time`, { unit: "1/s", samples: [perSecond] }),
      );
      found.push(figure(`${count} nodes: CPU of the nodes for a query`, { unit: "ms", samples: [cpuMs] }));
    }
    const latencies = await followed(program, { postgres, model });
    found.push(figure("event from the model's socket to a follower on another node", {
      ...{ unit: "ms", samples: latencies, bar: 30 },
    }));
    const pauses = await takeovers(program, { postgres, model });
    found.push(
      figure("a killed node's query goes on at another one after", { unit: "ms", samples: pauses, bar: 10_000 }),
    );
    return found;
  } finally {
    model.release(); // calls of nodes that are gone
    await model.close();
  }
}

interface Rig {
  readonly postgres: Postgres;
  readonly model: SlowModel;
}

async function start(program: Program, { postgres, model }: Rig, count: number): Promise<readonly Served[]> {
  const env = { VIS_DATABASE_URL: await postgres.createDatabase() };
  const started: Served[] = [];
  // The first one makes the schema.
  for (let at = 0; at < count; at++) {
    started.push(await startServed(program, { baseUrl: model.baseUrl, config: CONFIG, env }));
  }
  return started;
}

async function throughput(
  program: Program,
  { count, ...rig }: Rig & { readonly count: number },
): Promise<{ readonly perSecond: number; readonly cpuMs: number }> {
  const served = await start(program, rig, count);
  try {
    const of = (at: number): Served => served[at % count] ?? fail();
    const ids = await Promise.all(Array.from({ length: CONVERSATIONS }, (_, at) => of(at).conversation()));
    const round = (queries: number) =>
      Promise.all(ids.map(async (id, at) => {
        for (let n = 0; n < queries; n++) await of(at).ask(id, `${at}-${n}`);
      }));
    await round(1);
    const [cpu, begun] = [cpuOf(served), performance.now()];
    await round(QUERIES);
    const seconds = (performance.now() - begun) / 1000;
    const all = CONVERSATIONS * QUERIES;
    return { perSecond: all / seconds, cpuMs: (cpuOf(served) - cpu) * 1000 / all };
  } finally {
    for (const one of served) await one[Symbol.asyncDispose]();
  }
}

/** Of the nodes and their sandboxes. */
function cpuOf(served: readonly Served[]): number {
  return served.flatMap(({ pid }) => treeOf(pid)).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

async function followed(program: Program, rig: Rig): Promise<readonly number[]> {
  const [one = fail(), two = fail()] = await start(program, rig, 2);
  try {
    const samples: number[] = [];
    for (let n = 0; n < TIMES * 2; n++) {
      const { events, queryId, id } = await begin(one, `follow-${n}`);
      const stream = await two.get(`/api/v1/conversations/${id}/queries/${queryId}/events`);
      await sseEvents(stream, ({ type }) => type === "code");
      samples.push(performance.now() - rig.model.firstByteAt);
      await sseEvents(events);
    }
    return samples.slice(TIMES);
  } finally {
    for (const served of [one, two]) await served[Symbol.asyncDispose]();
  }
}

async function takeovers(program: Program, rig: Rig): Promise<readonly number[]> {
  const samples: number[] = [];
  for (let n = 0; n < TIMES; n++) {
    const env = { VIS_DATABASE_URL: await rig.postgres.createDatabase() };
    const node = () => startServed(program, { baseUrl: rig.model.baseUrl, config: CONFIG, env });
    const one = await node();
    const { queryId, id, last } = await begin(one, "held");
    const two = await node();
    try {
      await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
      const stream = await two.get(`/api/v1/conversations/${id}/queries/${queryId}/events`, { "last-event-id": last });
      Deno.kill(one.pid, "SIGKILL");
      const killed = performance.now();
      await sseEvents(stream, ({ type }) => type === "iteration_started");
      samples.push(performance.now() - killed);
      rig.model.release();
    } finally {
      await two[Symbol.asyncDispose]();
    }
  }
  return samples;
}

/** Begins a query on a node and waits until it runs. */
async function begin(
  { conversation, post }: Served,
  key: string,
): Promise<{ readonly id: string; readonly queryId: string; readonly last: string; readonly events: Response }> {
  const id = await conversation();
  const path = `/api/v1/conversations/${id}/messages`;
  const events = await post(path, { request: `Count, key=${key}` }, { accept: "text/event-stream" });
  const [own, others] = events.body?.tee() ?? [];
  const seen = await sseEvents(new Response(own ?? null), ({ type }) => type === "iteration_started");
  const { event, id: last = "" } = seen.at(-1) ?? {};
  return { id, last, queryId: event?.queryId ?? "", events: new Response(others ?? null) };
}

function fail(): never {
  throw new Error("The node did not start");
}
