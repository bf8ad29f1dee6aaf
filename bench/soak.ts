import type { Figure } from "./support/figure.ts";
import { cpuSeconds, proportionalMb, treeOf } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";
import { type Served, startServed } from "./support/served.ts";
import { startSlowModel } from "./support/slow_model.ts";

const LATENCY_MS = 50;
const PAUSE_MS = 200;
const CONVERSATIONS = 8;
const MINUTES = Number(Deno.env.get("VIS_BENCH_SOAK_MINUTES") ?? .5);
/** Half a minute is noisier than an hour, so its limit is higher. */
const BAR = MINUTES < 60 ? 1.05 : 1.02;
const TOLD_MS = 300_000;

const CONFIG = { server: { requestsPerMinute: 1_000_000, burst: 100_000 } };

interface Sample {
  readonly ms: number;
  readonly mb: number;
  readonly queries: number;
  readonly cpuSeconds: number;
}

/** Memory and the work for a query must not grow once the program is warm. */
export async function soak({ all }: Programs): Promise<readonly Figure[]> {
  const program = all.at(-1);
  if (!program) throw new Error("Cannot measure: there is no program; build one with deno task compile");
  const model = startSlowModel({ latencyMs: LATENCY_MS });
  try {
    await using served = await startServed(program, { baseUrl: model.baseUrl, config: CONFIG });
    const samples = await watched(served);
    const third = Math.max(1, Math.floor(samples.length / 3));
    const [middle, last] = [samples.slice(third, 2 * third), samples.slice(-third)];
    const note = `${MINUTES} minutes and ${samples.at(-1)?.queries} queries`;
    const { way } = program;
    const growth = [medianMb(last) / medianMb(middle)], work = [cpuOfQuery(last) / cpuOfQuery(middle)];
    return [
      { what: "soak: memory, last third ÷ middle third", way, unit: "×", samples: growth, bar: BAR, note },
      {
        what: "soak: CPU of the main process per query, last third ÷ middle third",
        way,
        unit: "×",
        samples: work,
        bar: null,
        note,
      },
      {
        what: "soak: memory of the process tree at the end",
        way,
        unit: "MiB",
        samples: [samples.at(-1)?.mb ?? NaN],
        bar: null,
        note,
      },
    ];
  } finally {
    await model.close();
  }
}

async function watched(served: Served): Promise<readonly Sample[]> {
  const ids = await Promise.all(Array.from({ length: CONVERSATIONS }, () => served.conversation()));
  const begun = performance.now(), end = begun + MINUTES * 60_000;
  const counted = { queries: 0 };
  const samples: Sample[] = [];
  const ask = async (id: string): Promise<void> => {
    for (let at = 0; performance.now() < end; at++) {
      await served.ask(id, `soak-${id}-${at}`);
      counted.queries++;
      await pause(PAUSE_MS);
    }
  };
  const watch = async (): Promise<void> => {
    for (let told = 1; performance.now() < end;) {
      await pause(Math.min(5_000, MINUTES * 3_000));
      const ms = performance.now() - begun;
      const sample = { ms, mb: proportionalMb(treeOf(served.pid)), ...counted, cpuSeconds: cpuSeconds(served.pid) };
      samples.push(sample);
      if (ms < told * TOLD_MS) continue;
      told++;
      console.error(`soak: ${(ms / 60_000).toFixed(0)} min, ${sample.mb.toFixed(0)} MiB, ${sample.queries} queries`);
    }
  };
  await Promise.all([...ids.map(ask), watch()]);
  return samples;
}

function medianMb(samples: readonly Sample[]): number {
  return samples.map(({ mb }) => mb).toSorted((a, b) => a - b)[Math.ceil(samples.length / 2) - 1] ?? NaN;
}

function cpuOfQuery(samples: readonly Sample[]): number {
  const [first, last] = [samples[0], samples.at(-1)];
  return first && last ? (last.cpuSeconds - first.cpuSeconds) / (last.queries - first.queries) : NaN;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
