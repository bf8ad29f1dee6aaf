import type { VariableImage } from "../src/domain/variable.ts";
import { SandboxSession } from "../src/environment/sandbox_session.ts";
import { NO_GRANTS } from "../src/sandbox/grants.ts";
import { CHILD_ARGUMENT, type ChildProgram } from "../src/sandbox/program.ts";
import type { SandboxLimits, SandboxOptions } from "../src/sandbox/sandbox.ts";
import { SparePool } from "../src/sandbox/spare_pool.ts";
import { LIMITS, TestSandbox, testSandbox, until } from "../tests/helpers/sandbox.ts";
import type { Figure } from "./support/figure.ts";
import { proportionalMb } from "./support/process_tree.ts";
import type { Programs } from "./support/programs.ts";

const TIMES = 7;
const VARIABLES = 100, VARIABLE_CHARS = 10_000;
const TEXT_CHARS = 50_000_000;
const limits: SandboxLimits = { ...LIMITS, memoryBytes: 512 << 20 };

/** Spare children, large text and the memory of a child. */
export async function sandboxSpare({ all }: Programs): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { way, path } of all) {
    const program = way === "compiled" ? { path, args: [CHILD_ARGUMENT] } : null;
    const bar = (limit: number): number | null => way === "compiled" ? limit : null;
    const restored = `killed → spare with ${VARIABLES} variables of 10 KB answers`;
    figures.push(
      { what: "spare → first answer", way, unit: "ms", samples: await firstAnswers(program), bar: bar(6) },
      { what: restored, way, unit: "ms", samples: await restarts(program), bar: bar(30) },
      { what: "100 MB of text in, two host calls", way, unit: "ms", samples: await textIn(program), bar: bar(400) },
      { what: "memory of an idle child (PSS)", way, unit: "MiB", samples: await memory(program), bar: bar(55) },
    );
  }
  return figures;
}

function poolOf(program: ChildProgram | null): SparePool {
  return new SparePool({ size: 1, limits, ...program && { test: { program } } });
}

function optionsOf(): SandboxOptions {
  const onCall: SandboxOptions["onCall"] = ({ args }) => Promise.resolve(args[0]);
  return { functions: ["bench.echo"], constants: {}, limits, grants: NO_GRANTS, onCall };
}

async function ready(pool: SparePool): Promise<void> {
  if (!await until(() => pool.ready > 0)) throw new Error("Cannot measure a spare: none became ready");
}

async function firstAnswers(program: ChildProgram | null): Promise<readonly number[]> {
  const pool = poolOf(program);
  const samples: number[] = [];
  try {
    for (let time = 0; time < TIMES; time++) {
      await ready(pool);
      const begun = performance.now();
      await using child = new TestSandbox(await pool.take(optionsOf()));
      await child.show("1 + 1");
      samples.push(performance.now() - begun);
    }
    return samples;
  } finally {
    await pool.close();
  }
}

/** As a conversation goes through it: a run that finds the child dead, then one in its successor. */
async function restarts(program: ChildProgram | null): Promise<readonly number[]> {
  const pool = poolOf(program);
  const images = new Map<string, VariableImage>();
  const session = new SandboxSession({
    open: () => pool.take(optionsOf()),
    stored: () => Promise.resolve([...images.values()]),
    system: () => new Map(),
    onLost: ([lost]) => {
      throw new Error(`Cannot measure restarts: ${lost?.name} was lost: ${lost?.reason}`);
    },
  });
  let index = 0;
  const run = (code: string) => session.run({ code, iteration: 1, index: index++, deadlineMs: 5000 });
  const samples: number[] = [];
  try {
    const define = (at: number): string => `const variable${at} = { at: ${at}, text: "x".repeat(${VARIABLE_CHARS}) }`;
    const { saved } = await run(Array.from({ length: VARIABLES }, (_, at) => define(at)).join("\n"));
    for (const image of saved) images.set(image.name, image);
    if (images.size !== VARIABLES) throw new Error(`Cannot measure restarts: ${images.size} variables were saved`);
    for (let time = 0; time < TIMES; time++) {
      await ready(pool);
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
    await pool.close();
  }
}

async function textIn(program: ChildProgram | null): Promise<readonly number[]> {
  const text = "x".repeat(TEXT_CHARS);
  await using child = await testSandbox({
    functions: { "bench.text": () => text },
    limits,
    ...program && { test: { program } },
  });
  const samples: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const begun = performance.now();
    const shown = await child.show("(await bench.text()).length + (await bench.text()).length", { deadlineMs: 20_000 });
    if (shown !== String(2 * TEXT_CHARS)) throw new Error(`Cannot measure text: ${shown} characters came in`);
    samples.push(performance.now() - begun);
  }
  return samples;
}

/** Pages that are shared count in part. The executable's are, with the main process that a user has: another child stands
 * in for it. */
async function memory(program: ChildProgram | null): Promise<readonly number[]> {
  const samples: number[] = [];
  await using _main = await testSandbox({ limits, ...program && { test: { program } } });
  for (let time = 0; time < TIMES; time++) {
    await using child = await testSandbox({ limits, ...program && { test: { program } } });
    await child.show("1 + 1");
    const mb = proportionalMb([child.sandbox.pid]);
    if (mb > 0) samples.push(mb);
  }
  return samples;
}
