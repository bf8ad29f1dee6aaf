import { join } from "node:path";
import { shipped } from "../extensions/index.ts";
import { realm } from "../extensions/realm.ts";
import { ROOT } from "../scripts/_project.ts";
import { loadShipped } from "../src/extension/loader.ts";
import { defineExtension, fn, type FunctionOptions, z } from "../src/extension/mod.ts";
import { ExtensionRegistry } from "../src/extension/registry.ts";
import type { Figure } from "./support/figure.ts";

const RUNS = 9;
const CALLS = 500;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const VIEW = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: "/" };

export async function extensions(): Promise<readonly Figure[]> {
  const workspace = await Deno.makeTempDir({ prefix: "vis-bench-extensions-" });
  try {
    const plain = await opened(workspace);
    await Deno.writeTextFile(join(workspace, "AGENTS.md"), "Use tabs.\n".repeat(100));
    const told = await opened(workspace);
    const { bare, hooked } = await calls();
    return [
      part("all shipped extensions loaded from source, at launch", {
        unit: "ms",
        samples: plain.map(({ launch }) => launch),
        bar: null,
      }),
      part("the same, opening a conversation", { unit: "ms", samples: plain.map(({ open }) => open), bar: 15 }),
      part("the same with an AGENTS.md", { unit: "ms", samples: told.map(({ open }) => open), bar: 15 }),
      part("all of them loaded and bound", { unit: "ms", samples: await bound(), bar: 15 }),
      part("their blocks in the prompt", {
        unit: "bytes",
        samples: plain.slice(0, 1).map(({ bytes }) => bytes),
        bar: null,
      }),
      part("a bare call", { unit: "ms", samples: bare, bar: null }),
      part("three hooks add to a call", {
        unit: "ms",
        samples: hooked.map((ms, at) => ms - (bare[at] ?? NaN)),
        bar: 0.2,
      }),
    ];
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
}

interface Opened {
  readonly launch: number;
  readonly open: number;
  readonly bytes: number;
}

/** A process loads a module once, so each run has a new process. */
async function opened(workspace: string): Promise<readonly Opened[]> {
  const found: Opened[] = [];
  for (let at = 0; at < RUNS; at++) {
    const args = ["run", "-A", "--quiet", "bench/support/open_extensions.ts", workspace];
    const { code, stdout } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stderr: "inherit" }).output();
    if (code !== 0) throw new Error(`Cannot open extensions: exit code ${code}`);
    found.push(JSON.parse(new TextDecoder().decode(stdout)));
  }
  return found;
}

async function bound(): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at <= RUNS; at++) {
    const start = performance.now();
    const { loaded } = await loadShipped(shipped, { log: LOG, realm });
    const registry = new ExtensionRegistry({ log: LOG });
    for (const extension of loaded) registry.register(extension);
    await registry.activate(VIEW);
    times.push(performance.now() - start);
  }
  return times.slice(1);
}

async function calls(): Promise<{ readonly bare: readonly number[]; readonly hooked: readonly number[] }> {
  const options: FunctionOptions = { doc: "Doubles.", args: z.tuple([z.number()]), returns: "number" };
  const twice = (_env: unknown, n: number): number => n * 2;
  const hooks = {
    before: () => ({}),
    after: () => ({}),
    onError: () => ({}),
  };
  const registry = new ExtensionRegistry({ log: LOG });
  registry.register(defineExtension({
    namespace: "bench.calls",
    alias: { ns: "vis.ext.bench", alias: "bench" },
    doc: "Doubles.",
    version: "1.0.0",
    symbols: [fn("bare", twice, options), fn("hooked", twice, { ...options, ...hooks })],
  }));
  const active = await registry.activate(VIEW);
  const signal = new AbortController().signal;
  const time = async (name: string): Promise<number> => {
    const start = performance.now();
    for (let n = 0; n < CALLS; n++) await active.call(name, [n], { env: VIEW, signal });
    return (performance.now() - start) / CALLS;
  };
  const bare: number[] = [];
  const hooked: number[] = [];
  await time("bench.hooked");
  for (let at = 0; at < RUNS; at++) {
    bare.push(await time("bench.bare"));
    hooked.push(await time("bench.hooked"));
  }
  return { bare, hooked };
}

function part(
  what: string,
  { unit, samples, bar }: { readonly unit: string; readonly samples: readonly number[]; readonly bar: number | null },
): Figure {
  return { what, way: "part", unit, samples, bar };
}
