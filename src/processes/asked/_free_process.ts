import { delimiter, isAbsolute } from "node:path";
import { CappedOutput } from "../_capped_output.ts";
import { removeTree } from "../folders.ts";
import type { Spawned, SpawnOptions } from "../../extension/spawned.ts";

const DEFAULT_PATH = Deno.build.os === "windows" ? "" : "/usr/bin:/bin";
const TIMEOUT_MS = 120_000, MAX_BYTES = 1 << 20;
/** Between SIGTERM and SIGKILL, and for outputs that something outside the group holds open. */
const GRACE_MS = 2_000, DRAIN_MS = 500;
/** Of the environment of Vis; nothing else of it reaches a program, least of all a key. */
const INHERITED =
  "HOME USER LOGNAME LANG LC_ALL LC_CTYPE TZ TMPDIR SystemRoot SystemDrive windir ComSpec PATHEXT USERPROFILE APPDATA LOCALAPPDATA ProgramFiles TEMP TMP"
    .split(" ");

export interface FreeProcessOptions
  extends Pick<SpawnOptions, "env" | "input" | "timeoutMs" | "maxBytes" | "signal" | "stop" | "onOutput"> {
  /** Real path; null for an empty folder of its own. */
  readonly cwd: string | null;
  /** The environment of Vis. */
  readonly own: Readonly<Record<string, string | undefined>>;
}

/** Runs a program without a wall: in a process group of its own, with few variables, within the time limit and the limit
 * of output. The group ends with the program. Rejects as `ProcessWall.spawn` does. */
export async function runFree(argv: readonly string[], options: FreeProcessOptions): Promise<Spawned> {
  if (options.cwd !== null) return await runIn(options.cwd, argv, options);
  const folder = await Deno.makeTempDir({ prefix: `vis-command-${Deno.pid}-` });
  try {
    return await runIn(folder, argv, options);
  } finally {
    await removeTree(folder).catch(() => {}); // somebody else's file in it
  }
}

async function runIn(cwd: string, argv: readonly string[], options: FreeProcessOptions): Promise<Spawned> {
  const { input, own, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, signal, stop, onOutput } = options;
  signal?.throwIfAborted();
  const [program = "", ...args] = systemCommand(argv);
  const inherited = INHERITED.flatMap((name) => own[name] === undefined ? [] : [[name, own[name]]]);
  // A relative folder would be one of the workspace, which the question does not name.
  const path = (own["PATH"] ?? "").split(delimiter).filter(isAbsolute).join(delimiter);
  const process = new Deno.Command(program, {
    args,
    cwd,
    clearEnv: true,
    env: { TERM: "dumb", ...Object.fromEntries(inherited), PATH: path || DEFAULT_PATH, ...options.env },
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
  const begun = performance.now();
  const end = { timedOut: false };
  const kill = (): void => sendToGroup(process.pid, "SIGKILL");
  const late = setTimeout(() => {
    end.timedOut = true;
    kill();
  }, timeoutMs);
  let grace: ReturnType<typeof setTimeout> | undefined;
  const unheard = [
    heard(signal, kill),
    heard(stop, () => {
      sendToGroup(process.pid, "SIGTERM");
      grace = setTimeout(kill, GRACE_MS);
    }),
  ];
  const outputs = (["stdout", "stderr"] as const).map((name) => {
    const kept = new CappedOutput(maxBytes);
    const reader = process[name].getReader();
    const done = (async () => {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        kept.push(read.value);
        onOutput?.(name, read.value);
      }
    })().catch(() => {});
    return { kept, done, cancel: () => void reader.cancel().catch(() => {}) };
  });
  if (input !== undefined) void writeInput(process.stdin, input);
  const status = await process.status;
  clearTimeout(late);
  clearTimeout(grace);
  unheard.forEach((forget) => forget());
  kill(); // what it left in its group
  const drained = setTimeout(() => outputs.forEach(({ cancel }) => cancel()), DRAIN_MS);
  await Promise.all(outputs.map(({ done }) => done));
  clearTimeout(drained);
  signal?.throwIfAborted();
  const [stdout, stderr] = outputs.map(({ kept }) => kept.text());
  return {
    code: status.code,
    signal: status.signal,
    stdout: stdout ?? "",
    stderr: stderr ?? "",
    ms: Math.round(performance.now() - begun),
    timedOut: end.timedOut,
    truncated: outputs.some(({ kept }) => kept.truncated),
    notes: [],
  };
}

/** A command line for `/bin/sh` goes to PowerShell on Windows, where batch files reinterpret some characters. */
export function systemCommand(
  argv: readonly string[],
  os: typeof Deno.build.os = Deno.build.os,
): readonly string[] {
  if (os !== "windows") return argv;
  const [program = "", ...args] = argv;
  if (program === "/bin/sh") return ["pwsh", "-NoProfile", "-NonInteractive", "-Command", args.at(-1) ?? ""];
  const unsafe = /\.(?:cmd|bat)$/i.test(program) ? args.find((arg) => /["%^&|<>\r\n]/.test(arg)) : undefined;
  if (unsafe === undefined) return argv;
  throw new Error(`Cannot run ${program} with ${JSON.stringify(unsafe)}: batch files change the meaning of "%^&|<>`);
}

function sendToGroup(pid: number, signal: Deno.Signal): void {
  try {
    if (Deno.build.os === "windows") {
      new Deno.Command("taskkill", { args: ["/T", "/F", "/PID", `${pid}`] }).outputSync();
    } else Deno.kill(-pid, signal);
  } catch {
    // Nothing of the group is left.
  }
}

async function writeInput(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  input: NonNullable<SpawnOptions["input"]>,
): Promise<void> {
  const stream = typeof input === "string" ? new Blob([input]).stream() : input;
  // A program need not read all of its input.
  await stream.pipeTo(stdin).catch(() => {});
}

/** Calls `then` when the signal aborts, or immediately if it has; the returned function unsubscribes. */
function heard(signal: AbortSignal | undefined, then: () => void): () => void {
  signal?.addEventListener("abort", then);
  if (signal?.aborted) then();
  return () => signal?.removeEventListener("abort", then);
}
