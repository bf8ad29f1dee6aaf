import type { VariableImage } from "../src/domain/query/variable.ts";
import { SandboxSession } from "../src/environment/sandbox_session.ts";
import { CHILD_ARGUMENT, type ChildProgram } from "../src/sandbox/launch.ts";
import { type TestSandbox, testSandbox } from "../tests/helpers/sandbox.ts";
import type { Figure, Way } from "./support/figure.ts";
import { proportionalMb } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";

const STARTS = 9;
const FRESH_BLOCKS = 50;
const WARM_BLOCKS = 600;
const BLOCKS = 300;
const CALLS = 500;
const CALL_RUNS = 7;
const RESTARTS = 5;
const VARIABLES = 100;
const TEXTS = 7, TEXT_CHARS = 50_000_000;
const CHILDREN = 7;
const LONG_BLOCKS = 7, LONG_CHARS = 256 << 10;
const MIB = 1 << 20;

export async function sandbox({ all }: Programs): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { way, path } of all) {
    const child = way === "compiled" ? { path, args: [CHILD_ARGUMENT] } : null;
    const bar = (limit: number): number | null => way === "compiled" ? limit : null;
    const ms = (what: string, samples: readonly number[], limit: number | null): Figure => {
      return { what, way, unit: "ms", samples, bar: limit };
    };
    const [starts, answers] = await coldStarts(child);
    const { fresh, blocks, inSequence, inParallel } = await traffic(child);
    figures.push(
      ms("cold child → ready", starts, bar(75)),
      ms("cold child → first answer", answers, null),
      ms(`block round trip of 1 + 1, first ${FRESH_BLOCKS}`, fresh, null),
      ms("block round trip of 1 + 1", blocks, 0.4),
      ms(`${CALLS} awaited host calls in sequence`, inSequence, 80),
      ms(`${CALLS} host calls in parallel`, inParallel, 20),
      ms(`killed → new child with ${VARIABLES} variables answers`, await restarts(child, way), null),
      ...await longBlocks(child, ms),
      ms("100 MB of text in, two host calls", await textIn(child), bar(400)),
      { what: "memory of an idle child (PSS)", way, unit: "MiB", samples: await memory(child), bar: bar(55) },
    );
  }
  return figures;
}

function open(program: ChildProgram | null): Promise<TestSandbox> {
  return testSandbox({
    functions: { "bench.echo": ({ args }) => args[0] },
    limits: { memoryBytes: 512 * MIB },
    ...program && { test: { program } },
  });
}

async function coldStarts(program: ChildProgram | null): Promise<readonly [readonly number[], readonly number[]]> {
  const ready: number[] = [];
  const answered: number[] = [];
  for (let time = 0; time <= STARTS; time++) {
    const begun = performance.now();
    await using child = await open(program);
    const up = performance.now() - begun;
    await child.show("1 + 1");
    if (time === 0) continue;
    ready.push(up);
    answered.push(performance.now() - begun);
  }
  return [ready, answered];
}

async function traffic(program: ChildProgram | null) {
  await using child = await open(program);
  const timed = async (code: string, times: number): Promise<readonly number[]> => {
    const samples: number[] = [];
    for (let time = 0; time < times; time++) {
      const begun = performance.now();
      await child.show(code);
      samples.push(performance.now() - begun);
    }
    return samples;
  };
  const fresh = await timed("1 + 1", FRESH_BLOCKS);
  // Both processes first interpret and later compile, but the limit is about compiled code.
  await timed("1 + 1", WARM_BLOCKS);
  return {
    fresh,
    blocks: await timed("1 + 1", BLOCKS),
    inSequence: await timed(`for (let i = 0; i < ${CALLS}; i++) await bench.echo(i)`, CALL_RUNS),
    inParallel: await timed(`await Promise.all(Array.from({ length: ${CALLS} }, (_, i) => bench.echo(i)))`, CALL_RUNS),
  };
}

async function restarts(program: ChildProgram | null, way: Way): Promise<readonly number[]> {
  const samples: number[] = [];
  const images = new Map<string, VariableImage>();
  const session = new SandboxSession({
    open: async () => (await open(program)).sandbox,
    stored: () => Promise.resolve([...images.values()]),
    system: () => new Map(),
    onLost: ([lost]) => {
      throw new Error(`Cannot measure restarts: ${lost?.name} was lost (${lost?.reason})`);
    },
  });
  let index = 0;
  const run = (code: string) => session.run({ code, iteration: 1, index: index++, deadlineMs: 5000 });
  try {
    const define = (at: number): string => `const variable${at} = { at: ${at}, text: "x".repeat(1000) }`;
    const { result, saved } = await run(Array.from({ length: VARIABLES }, (_, at) => define(at)).join("\n"));
    if (saved.length !== VARIABLES) {
      throw new Error(
        `Cannot measure restarts (${way}): ${saved.length} variables were saved: ${result.error?.message}`,
      );
    }
    for (const image of saved) images.set(image.name, image);
    for (let time = 0; time < RESTARTS; time++) {
      const begun = performance.now();
      Deno.kill(session.living?.pid ?? 0, "SIGKILL");
      await run("1");
      const last = await run(`variable${VARIABLES - 1}.at`);
      if (last.result.preview !== String(VARIABLES - 1)) throw new Error("Cannot measure restarts: no value came back");
      samples.push(performance.now() - begun);
    }
    return samples;
  } finally {
    await session.close();
  }
}

async function longBlocks(
  program: ChildProgram | null,
  ms: (what: string, samples: readonly number[], limit: number | null) => Figure,
): Promise<readonly Figure[]> {
  const filled = (line: string): string => line.repeat(Math.floor(LONG_CHARS / line.length) - 10);
  const kinds = {
    "assignments, refused": `let a = 0, b = 1;${filled("a=b+1;")}`,
    calls: `function f() {}\n${filled("f(123, 'text');\n")}`,
    "typed functions in an object": `const all = {${filled("f(a: number, b: string) { return a + b.length; },\n")}}; 1`,
    "one text": `const text = "${filled("x")}"; 1`,
  };
  await using child = await open(program);
  const figures: Figure[] = [];
  for (const [kind, code] of Object.entries(kinds)) {
    const samples: number[] = [];
    for (let time = 0; time < LONG_BLOCKS; time++) {
      const begun = performance.now();
      await child.run(code, { deadlineMs: 20_000 });
      samples.push(performance.now() - begun);
    }
    figures.push(ms(`block of 256 KB: ${kind}`, samples, 300));
  }
  return figures;
}

async function textIn(program: ChildProgram | null): Promise<readonly number[]> {
  const text = "x".repeat(TEXT_CHARS);
  await using child = await testSandbox({
    functions: { "bench.text": () => text },
    limits: { memoryBytes: 512 * MIB },
    ...program && { test: { program } },
  });
  const samples: number[] = [];
  for (let time = 0; time < TEXTS; time++) {
    const begun = performance.now();
    const shown = await child.show("(await bench.text()).length + (await bench.text()).length", { deadlineMs: 20_000 });
    if (shown !== String(2 * TEXT_CHARS)) throw new Error(`Cannot measure text: ${shown} characters came in`);
    samples.push(performance.now() - begun);
  }
  return samples;
}

/** The executable shares pages with the main process, so a second child stands for the main process here. */
async function memory(program: ChildProgram | null): Promise<readonly number[]> {
  const samples: number[] = [];
  await using _main = await open(program);
  for (let time = 0; time < CHILDREN; time++) {
    await using child = await open(program);
    await child.show("1 + 1");
    const mb = proportionalMb([child.sandbox.pid]);
    if (mb > 0) samples.push(mb);
  }
  return samples;
}
