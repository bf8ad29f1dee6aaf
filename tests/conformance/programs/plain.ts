/** Runs programs in plain Deno. Each is a module of its own, and many share a process. */
import { join } from "node:path";
import { type Outcome, type Place, type Program, textOf } from "./program.ts";
import { PRELUDE, PRELUDE_NAMES } from "./prelude.ts";

const MARK = "\u0001";
const START_MS = 3000;
const SHOW = (value: string): string => `$show(${value});`;

const MAIN = String.raw`
const quiet = (event) => event.preventDefault();
addEventListener("error", quiet);
addEventListener("unhandledrejection", quiet);
const { stdout, readTextFileSync } = Deno, encoder = new TextEncoder(), { stringify, parse } = JSON;
const { setTimeout: start, clearTimeout: stop } = globalThis;
const tell = (kind, rest) => stdout.writeSync(encoder.encode("${MARK}" + kind + stringify(rest) + "\n"));
const text = (value) => { try { return String(value); } catch { return ""; } };
const described = (error) => error instanceof Error
  ? { error: text(error.name), maker: text(error.constructor?.name), message: text(error.message) }
  : { error: "thrown", message: "" };
const { deadlineMs, files } = parse(readTextFileSync(new URL("list.json", import.meta.url)));
for (const [at, file] of files) {
  tell("b", at);
  let timer;
  // The timer also keeps the process alive while a program waits.
  const late = new Promise((resolve) => timer = start(resolve, deadlineMs, { error: "timeout", message: "" }));
  const done = import(file).then(() => ({ error: "", message: "" }), described);
  tell("e", await Promise.race([done, late]));
  stop(timer);
}
Deno.exit(0);
`;

export interface PlainOptions {
  /** The limit for each program. A process that prints no line for longer is ended. */
  readonly deadlineMs: number;
  readonly places: readonly Place[];
}

export async function runPlain(
  programs: readonly Program[],
  options: PlainOptions,
): Promise<ReadonlyMap<Place, readonly Outcome[]>> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-plain-" }));
  try {
    const files = await writeAll(folder, programs, options.places);
    const found = await runFiles(folder, files, options);
    const { length } = programs;
    return new Map(options.places.map((place, i) => [place, found.slice(i * length, (i + 1) * length)]));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function writeAll(
  folder: string,
  programs: readonly Program[],
  places: readonly Place[],
): Promise<readonly string[]> {
  const files = places.flatMap((place) =>
    programs.map((program, i) => ({
      file: `./${place}${i}.${program.language}`,
      text: textOf(program, place, SHOW),
    }))
  );
  for (const { file, text } of files) await Deno.writeTextFile(join(folder, file), text);
  const shared = PRELUDE_NAMES.map((name) => `globalThis.${name} = ${name};`).join("\n");
  await Deno.writeTextFile(join(folder, "main.js"), `${PRELUDE}\n${shared}\n${MAIN}`);
  return files.map(({ file }) => file);
}

/** Runs all files. If one ends or stops the process, the rest run in another process. */
async function runFiles(folder: string, files: readonly string[], options: PlainOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < files.length) {
    const left = [...files.entries()].slice(outcomes.length);
    await Deno.writeTextFile(
      join(folder, "list.json"),
      JSON.stringify({ deadlineMs: options.deadlineMs, files: left }),
    );
    const { text, stopped } = await runProcess(folder, options);
    const found = parsed(text);
    outcomes.push(...found);
    if (outcomes.length < files.length) outcomes.push(brokenOff(text, stopped));
  }
  return outcomes;
}

interface Ended {
  readonly text: string;
  readonly stopped: boolean;
}

async function runProcess(folder: string, { deadlineMs }: PlainOptions): Promise<Ended> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-lock", "--no-remote", "--no-prompt", `--allow-read=${folder}`, "main.js"],
    cwd: folder,
    env: { NO_COLOR: "1", DENO_DIR: join(folder, "cache"), DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(stop, deadlineMs + START_MS);
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    clearTimeout(timer);
    timer = setTimeout(stop, deadlineMs + START_MS);
    text += decoder.decode(chunk, { stream: true });
  }
  clearTimeout(timer);
  await child.status;
  return { text, stopped };
}

function parsed(text: string): Outcome[] {
  return text.split(`${MARK}b`).slice(1).flatMap((part) => {
    const [head = "", end] = part.split(`${MARK}e`);
    if (end === undefined) return [];
    return [asSyntaxError({ printed: printedIn(head), ...JSON.parse(end.split("\n", 1)[0] ?? "") })];
  });
}

function printedIn(head: string): string {
  return head.slice(head.indexOf("\n") + 1);
}

function brokenOff(text: string, stopped: boolean): Outcome {
  const head = text.split(`${MARK}b`).at(-1) ?? "";
  return { printed: printedIn(head), error: stopped ? "timeout" : "ended", message: "" };
}

/** Deno reports an error of its own parser with another class. */
function asSyntaxError(outcome: Outcome): Outcome {
  const refused = /^(?:SyntaxError: |The module's source code could not be parsed)/.test(outcome.message);
  return refused ? { ...outcome, error: "SyntaxError" } : outcome;
}
