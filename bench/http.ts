import type { Figure } from "./support/figure.ts";
import { cpuSeconds, proportionalMb, treeOf } from "./support/process_tree.ts";
import type { Program, Programs } from "./support/programs.ts";
import { type Served, startServed } from "./support/served.ts";
import { type SlowModel, startSlowModel } from "./support/slow_model.ts";

const LATENCY_MS = 50;
const CONVERSATIONS = 50;
const QUERIES = 6;
const ALONE = 30;
const STREAMS = 200;
const BUSY = 8, WARM_ROUNDS = 3, COUNTED_ROUNDS = 5, ROUND = 20;
const MIB = "MiB";
const MS = "ms";

const CONFIG = {
  sandbox: { live: CONVERSATIONS + 14 },
  server: { requestsPerMinute: 1_000_000, burst: 100_000 },
};

/** The model, the clients and the server share the machine. */
export async function http({ all }: Programs): Promise<readonly Figure[]> {
  const program = all.at(-1);
  if (!program) throw new Error("Cannot measure: there is no program; build one with deno task compile");
  const model = startSlowModel({ latencyMs: LATENCY_MS });
  try {
    await using served = await startServed(program, { baseUrl: model.baseUrl, config: CONFIG });
    const figure = figureOf(program);
    const alone = await askAlone(served);
    const cpu = await cpuOfQueries(served);
    const firstByte = await firstBytes(served, model);
    const { cold, warm, peakMb } = await together(served);
    const streams = await idleStreams(served, model);
    const ratio = percentile(warm, .95) / percentile(alone, .95);
    return [
      figure("one conversation alone, p95", { unit: MS, samples: [percentile(alone, .95)] }),
      figure("CPU of a query, all processes", { unit: MS, samples: cpu.all, bar: 7 }),
      figure("CPU of a query, main process", { unit: MS, samples: cpu.main }),
      figure("CPU of a query, sandboxes", { unit: MS, samples: cpu.children }),
      figure("first byte of a stream after the model's", { unit: MS, samples: firstByte, bar: 20 }),
      figure("50 at once, cold: all answered after", { unit: MS, samples: [cold] }),
      figure("50 at once, children live, p50", { unit: MS, samples: [percentile(warm, .5)] }),
      figure("50 at once, children live, p95", { unit: MS, samples: [percentile(warm, .95)] }),
      figure("50 at once ÷ one alone, p95", { unit: "×", samples: [ratio], bar: 3, note: "no pause between queries" }),
      figure("process tree of 50 conversations", { unit: MIB, samples: [peakMb], bar: 4096 }),
      figure("a query beside 200 idle streams, p95", { unit: MS, samples: [streams.p95] }),
      figure("memory of 200 idle streams", { unit: MIB, samples: [streams.mb] }),
    ];
  } finally {
    await model.close();
  }
}

function figureOf({ way }: Program) {
  return (
    what: string,
    { bar = null, ...rest }: Pick<Figure, "unit" | "samples"> & {
      readonly bar?: number | null;
      readonly note?: string;
    },
  ): Figure => ({ what, way, bar, ...rest });
}

function percentile(samples: readonly number[], part: number): number {
  return samples.toSorted((a, b) => a - b)[Math.ceil(samples.length * part) - 1] ?? NaN;
}

async function askAlone(served: Served): Promise<readonly number[]> {
  const id = await served.conversation();
  for (let at = 0; at < 5; at++) await served.ask(id, `warm-${at}`);
  const times: number[] = [];
  for (let at = 0; at < ALONE; at++) times.push(await served.ask(id, `alone-${at}`));
  return times;
}

async function cpuOfQueries(served: Served) {
  const ids = await Promise.all(Array.from({ length: BUSY }, () => served.conversation()));
  const counted = { all: [] as number[], main: [] as number[], children: [] as number[] };
  for (let round = -WARM_ROUNDS; round < COUNTED_ROUNDS; round++) {
    const before = cpuOfTree(served);
    await Promise.all(ids.map(async (id) => {
      for (let query = 0; query < ROUND; query++) await follow(served, { id, key: `cpu-${id}-${round}-${query}` });
    }));
    if (round < 0) continue;
    const after = cpuOfTree(served), queries = BUSY * ROUND / 1000;
    const main = (after.main - before.main) / queries, children = (after.children - before.children) / queries;
    counted.all.push(main + children);
    counted.main.push(main);
    counted.children.push(children);
  }
  return counted;
}

function cpuOfTree({ pid }: Served): { readonly main: number; readonly children: number } {
  const [main = pid, ...children] = treeOf(pid);
  return { main: cpuSeconds(main), children: children.reduce((sum, child) => sum + cpuSeconds(child), 0) };
}

async function follow(served: Served, { id, key }: { readonly id: string; readonly key: string }): Promise<void> {
  const path = `/api/v1/conversations/${id}/messages`;
  const response = await served.post(path, { request: `Count, key=${key}` }, { accept: "text/event-stream" });
  const text = await response.text();
  if (!/^event: final$/m.test(text)) throw new Error(`Cannot follow the stream: it ended early: ${text.slice(-300)}`);
}

async function firstBytes(served: Served, model: SlowModel): Promise<readonly number[]> {
  const id = await served.conversation();
  await served.ask(id, "warm-first");
  const times: number[] = [];
  for (let at = 0; at < 20; at++) {
    const path = `/api/v1/conversations/${id}/messages`;
    const response = await served.post(path, { request: `Count, key=first-${at}` }, { accept: "text/event-stream" });
    const seen = { at: 0, text: "" };
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen.text += text;
      if (seen.at === 0 && /^event: (thinking|code)$/m.test(seen.text)) {
        seen.at = performance.now();
        times.push(seen.at - model.firstByteAt);
      }
    }
    if (!/^event: final$/m.test(seen.text)) {
      throw new Error(`Cannot follow the stream: it ended early: ${seen.text.slice(-300)}`);
    }
  }
  return times;
}

async function together(served: Served) {
  const ids = await Promise.all(Array.from({ length: CONVERSATIONS }, () => served.conversation()));
  const begun = performance.now();
  await Promise.all(ids.map((id) => served.ask(id, `cold-${id}`)));
  const cold = performance.now() - begun;
  const warm: number[] = [];
  const watch = { mb: 0 };
  await Promise.all(ids.map(async (id, at) => {
    for (let query = 0; query < QUERIES; query++) {
      warm.push(await served.ask(id, `warm-${id}-${query}`));
      if (at === 0 && query === QUERIES - 2) watch.mb = proportionalMb(treeOf(served.pid));
    }
  }));
  return { cold, warm, peakMb: Math.max(watch.mb, proportionalMb(treeOf(served.pid))) };
}

async function idleStreams(served: Served, model: SlowModel): Promise<{ readonly p95: number; readonly mb: number }> {
  const [id, other] = await Promise.all([served.conversation(), served.conversation()]);
  await served.ask(other, "warm-other");
  const before = proportionalMb([served.pid]);
  const path = `/api/v1/conversations/${id}`;
  const first = await served.post(`${path}/messages`, { request: "Count, key=held" }, { accept: "text/event-stream" });
  const { running } = await (await served.get(path)).json();
  const follow = () => served.get(`${path}/queries/${running}/events`, { accept: "text/event-stream" });
  const streams = await Promise.all(Array.from({ length: STREAMS }, follow));
  const mb = proportionalMb([served.pid]) - before;
  const times: number[] = [];
  for (let at = 0; at < 20; at++) times.push(await served.ask(other, `beside-${at}`));
  model.release();
  const ended = Promise.all([first, ...streams].map((response) => response.text()));
  while (!(await Promise.race([ended.then(() => true), pause(100).then(() => false)]))) model.release();
  for (const text of await ended) {
    if (!/^event: final$/m.test(text)) throw new Error("Cannot measure idle streams: one of them did not end");
  }
  return { p95: percentile(times, .95), mb };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
