import { noPostgres, startPostgres } from "../tests/helpers/postgres.ts";
import { eventsUntil } from "../tests/e2e/helpers/events_until.ts";
import type { Figure } from "./support/figure.ts";
import { begin, Nodes, type NodesRig } from "./support/nodes_rig.ts";
import { busySeconds } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";
import { startSlowModel } from "./support/slow_model.ts";

const LATENCY_MS = 500;
const QUERIES = 4;
const [CLIENTS_OF_NODE, CLIENTS] = [4, 60];
const TIMES = 5;
/** A node takes no jobs of other nodes until it has reported for the time of a lease. */
const SETTLED_MS = 7_000;
const LEFT = 12;

export async function nodes({ all }: Programs): Promise<readonly Figure[]> {
  const program = all.at(-1);
  if (!program || noPostgres !== "") return [];
  const postgres = await startPostgres({ settings: ["max_connections = 200"] });
  const model = startSlowModel({ latencyMs: LATENCY_MS });
  const rig = { program, postgres, model };
  try {
    const found = [
      ...await throughput(rig, {
        each: `${CLIENTS_OF_NODE} clients each`,
        clients: (count) => count * CLIENTS_OF_NODE,
      }),
      ...await throughput(rig, { each: `${CLIENTS} clients`, clients: () => CLIENTS }),
      await followed(rig),
      await takenOver(rig),
      ...await handedOver(rig),
    ];
    return found.map((figure) => ({ way: program.way, bar: null, ...figure }));
  } finally {
    model.release();
    await model.close();
  }
}

type Found = Omit<Figure, "way" | "bar"> & Partial<Pick<Figure, "bar">>;

interface Load {
  readonly each: string;
  readonly clients: (count: number) => number;
}

async function throughput(rig: NodesRig, { each, clients }: Load): Promise<readonly Found[]> {
  const found: Found[] = [];
  const rates: number[] = [];
  for (const count of [1, 2, 3]) {
    console.error(`nodes: ${count} with ${each}`);
    const { perSecond, cpuMs, shares, server } = await measured(rig, { count, clients: clients(count) });
    rates.push(perSecond);
    const what = `${count} ${count === 1 ? "node" : "nodes"}, ${each}`;
    found.push(
      { what: `${what}: two-call queries a second`, unit: "1/s", samples: [perSecond], note: shares },
      { what: `${what}: CPU of the nodes for a query`, unit: "ms", samples: [cpuMs] },
      { what: `${what}: CPU of PostgreSQL for a query`, unit: "ms", samples: [server.cpuMs] },
    );
    if (count === 1) {
      found.push(
        { what: `${what}: stored for an iteration`, unit: "KB", samples: [server.kB] },
        { what: `${what}: logged for an iteration`, unit: "KB", samples: [server.logKB] },
      );
    }
  }
  if (clients(1) === clients(2)) return found;
  const [one = NaN, ...more] = rates;
  const short = more.map((rate, at) => (1 - rate / ((at + 2) * one)) * 100);
  return [
    ...found,
    { what: `2 and 3 nodes, ${each}: short of 2 and 3 times one node`, unit: "%", samples: short, bar: 10 },
  ];
}

interface Measured {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly shares: string;
  readonly server: { readonly cpuMs: number; readonly kB: number; readonly logKB: number };
}

async function measured(
  rig: NodesRig,
  { count, clients }: { readonly count: number; readonly clients: number },
): Promise<Measured> {
  await using nodes = await Nodes.start(rig, count);
  const ids = await Promise.all(Array.from({ length: clients }, (_, at) => nodes.of(at).conversation()));
  const round = (queries: number) =>
    Promise.all(ids.map(async (id, at) => {
      for (let n = 0; n < queries; n++) await nodes.of(at).ask(id, `${at}-${n}`);
    }));
  await round(1);
  const before = await nodes.server();
  const [cpu, busy, begun] = [nodes.cpuSeconds, busySeconds(), performance.now()];
  await round(QUERIES);
  const seconds = (performance.now() - begun) / 1000;
  const [used, worked] = [nodes.cpuSeconds - cpu, busySeconds() - busy];
  const after = await nodes.server();
  const all = clients * QUERIES;
  const share = (part: number): string => `${Math.round(part / seconds / navigator.hardwareConcurrency * 100)} %`;
  return {
    perSecond: all / seconds,
    cpuMs: used * 1000 / all,
    shares: `nodes use ${share(used)} of the cores, everything ${share(worked)}`,
    server: {
      cpuMs: (after.cpuSeconds - before.cpuSeconds) * 1000 / all,
      kB: (after.bytes - before.bytes) / 1000 / (2 * all),
      logKB: (after.logBytes - before.logBytes) / 1000 / (2 * all),
    },
  };
}

async function followed(rig: NodesRig): Promise<Found> {
  await using nodes = await Nodes.start(rig, 2);
  const samples: number[] = [];
  for (let n = 0; n < TIMES * 2; n++) {
    const { events, queryId, id } = await begin(nodes.of(0), `follow-${n}`);
    const stream = await nodes.of(1).get(`/api/v1/conversations/${id}/queries/${queryId}/events`);
    await eventsUntil(stream, ({ type }) => type === "code");
    samples.push(performance.now() - rig.model.firstByteAt);
    await eventsUntil(events);
  }
  const what = "event from the model's socket to a follower on another node";
  return { what, unit: "ms", samples: samples.slice(TIMES), bar: 30 };
}

async function takenOver(rig: NodesRig): Promise<Found> {
  await using nodes = await Nodes.start(rig, 1);
  const one = nodes.of(0);
  const begun = await Promise.all(Array.from({ length: TIMES }, () => begin(one, "held")));
  await nodes.add();
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  const streams = await Promise.all(
    begun.map(({ id, queryId, last }) =>
      nodes.of(1).get(`/api/v1/conversations/${id}/queries/${queryId}/events`, { "last-event-id": last })
    ),
  );
  Deno.kill(one.pid, "SIGKILL");
  const killed = performance.now();
  const samples = await Promise.all(streams.map(async (stream) => {
    await eventsUntil(stream, ({ type }) => type === "iteration_started");
    return performance.now() - killed;
  }));
  rig.model.release();
  return { what: "a killed node's query goes on at another one after", unit: "ms", samples, bar: 10_000 };
}

async function handedOver(rig: NodesRig): Promise<readonly Found[]> {
  await using nodes = await Nodes.start(rig, 2);
  const ids = await Promise.all(Array.from({ length: LEFT }, (_, at) => nodes.of(at).conversation()));
  const before = rig.model.calls;
  const asked = ids.map((id, at) => nodes.of(at).ask(id, `left-${at}`).then(() => true, () => false));
  while (rig.model.calls < before + LEFT) await new Promise((resolve) => setTimeout(resolve, 10));
  Deno.kill(nodes.of(0).pid, "SIGTERM");
  const answered = (await Promise.all(asked)).filter((isAnswered) => isAnswered).length;
  const of = `of ${LEFT} queries that run on two nodes`;
  return [
    { what: `after a SIGTERM, lost ${of}`, unit: "", samples: [LEFT - answered], bar: 0 },
    { what: `after a SIGTERM, repeated calls ${of}`, unit: "", samples: [rig.model.calls - before - 2 * LEFT], bar: 0 },
  ];
}
