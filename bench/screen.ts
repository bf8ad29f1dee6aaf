import { join } from "node:path";
import type { Figure } from "./support/figure.ts";
import { cpuSeconds, proportionalMb } from "./support/process_tree.ts";
import type { Program, Programs } from "./support/programs.ts";
import { Terminal, type TerminalOptions } from "./support/terminal.ts";
import { FIRST_WORD, startTokenStream } from "./support/token_stream.ts";
import { visRun } from "./support/vis_run.ts";

const TIMES = 5, STREAMS = 3;
const IDLE_MS = 1_500;
const PER_SECOND = 200, TOKENS = 2_000, KEYS = 120, KEY_EVERY_MS = 70;
const FRAME_MS = 16.7;
const ANSWERS = 20, LINES = 500, PAGES = 250;
const USABLE = "demo scripted", READY = "Ask anything";
/** A terminal shows a frame whole at this sequence. */
const FRAME_END = "\x1b[?2026l";
const PAGE_UP = "\x1b[5~";
/** No reply contains one of these letters. */
const FIRST_LETTER = 0x0400;

export async function screen({ all }: Programs): Promise<readonly Figure[]> {
  const folder = await Deno.makeTempDir({ prefix: "vis-bench-screen-" });
  try {
    const workspace = join(folder, "workspace");
    await Deno.mkdir(workspace);
    const figures: Figure[] = [];
    for (const program of all) {
      const at = { workspace, home: join(folder, program.way) };
      figures.push(...await starts(program, at), ...await typing(program, at), ...await scrolling(program, at));
    }
    return figures;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

type Place = Pick<TerminalOptions, "workspace" | "home">;

function barOf({ way }: Program, limit: number): number | null {
  return way === "compiled" ? limit : null;
}

async function starts(program: Program, at: Place): Promise<readonly Figure[]> {
  const [ms, start, mb, cpu]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let time = 0; time <= TIMES; time++) {
    const terminal = new Terminal(program, { ...at, args: ["--provider", "demo"] });
    const usable = await terminal.until(USABLE);
    const begun = used(terminal);
    await pause(IDLE_MS);
    const before = used(terminal);
    await pause(IDLE_MS);
    if (time > 0) {
      ms.push(usable);
      start.push(begun * 1_000);
      mb.push(proportionalMb(terminal.pids()));
      cpu.push((used(terminal) - before) * 1_000);
    }
    await terminal.quit();
  }
  const { way } = program;
  return [
    { what: "start → screen that can be used", way, unit: "ms", samples: ms, bar: barOf(program, 300) },
    { what: "CPU until then", way, unit: "ms", samples: start, bar: null },
    { what: "memory while idle", way, unit: "MiB", samples: mb, bar: barOf(program, 120) },
    { what: "CPU of 1.5 idle seconds", way, unit: "ms", samples: cpu, bar: barOf(program, 30) },
  ];
}

async function typing(program: Program, at: Place): Promise<readonly Figure[]> {
  const [middle, slow, cpu, first]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let time = 0; time < STREAMS; time++) {
    const stream = startTokenStream({ perSecond: PER_SECOND, tokens: TOKENS });
    const env = { VIS_BASE_URL: stream.baseUrl, VIS_MODEL: "stream" };
    const terminal = new Terminal(program, { ...at, args: [], env });
    await terminal.until(READY);
    await terminal.until("word1", "Think\r");
    const [begun, before] = [performance.now(), used(terminal)];
    const times: number[] = [];
    const shown = terminal.until(FIRST_WORD).then(() => performance.now());
    for (let key = 0; key < KEYS; key++) {
      const letter = String.fromCodePoint(FIRST_LETTER + key);
      times.push(await terminal.until(letter, letter));
      await pause(KEY_EVERY_MS);
    }
    first.push(await shown - await stream.answers);
    cpu.push((used(terminal) - before) * 1_000_000 / (performance.now() - begun));
    middle.push(atShare(times, 0.5));
    slow.push(atShare(times, 0.9));
    await terminal.quit();
    await stream.close();
  }
  const what = `key → paint while ${PER_SECOND} tokens a second arrive`;
  const { way } = program;
  return [
    { what: `${what}, median`, way, unit: "ms", samples: middle, bar: barOf(program, 16) },
    { what: `${what}, 90th percentile`, way, unit: "ms", samples: slow, bar: barOf(program, 16) },
    { what: "first words of an answer → paint", way, unit: "ms", samples: first, bar: barOf(program, 100) },
    { what: "CPU in a second of this", way, unit: "ms", samples: cpu, bar: null },
  ];
}

async function scrolling(program: Program, at: Place): Promise<readonly Figure[]> {
  const home = join(at.home, "long");
  const handler = () => JSON.stringify({ final: { answer: markdown(LINES) } });
  for (let one = 0; one < ANSWERS; one++) {
    const args = one === 0 ? [] : ["-c"];
    await visRun(program, { handler, workspace: at.workspace, prompt: `Answer ${one}`, home, args });
  }
  const terminal = new Terminal(program, {
    ...{ workspace: at.workspace, home: join(home, "vis"), args: ["-c", "--provider", "demo"] },
  });
  await terminal.until(`line ${LINES - 1} `);
  await pause(IDLE_MS);
  const before = used(terminal);
  const times: number[] = [];
  for (let page = 0; page < PAGES; page++) times.push(await terminal.until(FRAME_END, PAGE_UP));
  const cpu = (used(terminal) - before) * 1_000 / PAGES;
  const mb = proportionalMb(terminal.pids());
  await terminal.quit();
  const what = `${(ANSWERS * LINES).toLocaleString("en")} lines: page up → paint`;
  const { way } = program;
  return [
    { what: `${what}, median`, way, unit: "ms", samples: [atShare(times, 0.5)], bar: barOf(program, FRAME_MS) },
    {
      what: `${what}, 90th percentile`,
      way,
      unit: "ms",
      samples: [atShare(times, 0.9)],
      bar: barOf(program, FRAME_MS),
    },
    { what: "CPU of such a page", way, unit: "ms", samples: [cpu], bar: null },
    { what: "memory after all pages", way, unit: "MiB", samples: [mb], bar: barOf(program, 190) },
  ];
}

function markdown(lines: number): string {
  const line = (at: number): string =>
    at % 10 === 0 ? `## Part ${at / 10}` : `- line ${at} with \`code\`, **weight** and a few words`;
  return Array.from({ length: lines }, (_, at) => line(at)).join("\n");
}

function atShare(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}

function used(terminal: Terminal): number {
  return terminal.pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
