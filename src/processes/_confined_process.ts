import { Buffer } from "node:buffer";
import type { Spawned, SpawnOptions } from "../extension/spawned.ts";
import { EXEC_FAILED, EXEC_NO_MOUNTS, EXEC_NO_NETWORK, type ExecPolicy } from "../sandbox/exec/exec_policy.ts";
import type { ChildProgram } from "../sandbox/launch/start_child.ts";
import { CappedOutput } from "./_capped_output.ts";
import { PROC } from "./proc_files.ts";
import type { Reaper } from "./_reaper.ts";

const READ_BYTES = 64 << 10;
/** Nothing from Vis's own environment; the folder cannot be created, which keeps the runtime from using a cache. */
const ENVIRONMENT = { DENO_DIR: "/dev/null/deno", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
const WATCH_MS = 20;
const MOST_PROCESSES = 512;
/** Makes the kernel end it first when memory runs out. */
const OOM_SCORE = "800";
/** For pipes that are still held open after the end. That should be impossible, but nothing may wait for them
 * indefinitely. */
const DRAIN_MS = 2_000;
/** Time between the request to end and the kill. */
const GRACE_MS = 2_000;

export interface ConfinedProcessOptions {
  readonly launcher: ChildProgram;
  readonly policy: ExecPolicy;
  readonly cwd: string;
  readonly input: NonNullable<SpawnOptions["input"]> | null;
  readonly maxBytes: number;
  readonly onOutput: NonNullable<SpawnOptions["onOutput"]> | null;
  readonly reaper: Reaper;
}

/** Nothing ran, since the private network of the program could not be made. */
export class NoPrivateNetwork extends Error {}

/** Nothing ran, since the private file system of the program could not be made. */
export class NoPrivateMounts extends Error {}

const FAULTS = new Map([
  [EXEC_FAILED, Error],
  [EXEC_NO_NETWORK, NoPrivateNetwork],
  [EXEC_NO_MOUNTS, NoPrivateMounts],
]);

/** One program behind the wall, from its start to the end of everything that it started. */
export class ConfinedProcess {
  readonly #options: ConfinedProcessOptions;
  readonly #name: string;
  readonly #process: Deno.ChildProcess;
  readonly #begun = performance.now();
  readonly #stdout: CappedOutput;
  readonly #stderr: CappedOutput;
  readonly #notes: string[] = [];
  #timedOut = false;
  #grace: ReturnType<typeof setTimeout> | undefined;

  constructor(argv: readonly string[], options: ConfinedProcessOptions) {
    this.#options = options;
    this.#name = argv[0] ?? "";
    const { policy, cwd, input, maxBytes, launcher: { path, args } } = options;
    const command = new Deno.Command(path, {
      args: [...args, JSON.stringify(policy), ...argv],
      cwd,
      clearEnv: true,
      env: ENVIRONMENT,
      stdin: input === null ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    });
    this.#process = begun(command, this.#name);
    options.reaper.begun(policy.limits.tag, this.#process.pid);
    this.#stdout = new CappedOutput(maxBytes);
    this.#stderr = new CappedOutput(maxBytes);
    PROC.write(`/proc/${this.#process.pid}/oom_score_adj`, OOM_SCORE);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Calls `leave` once nothing runs any longer; the paths that it returns go into the notes. */
  async run(
    { timeoutMs, signal, stop, leave }: {
      readonly timeoutMs: number;
      readonly signal: AbortSignal | undefined;
      readonly stop: AbortSignal | undefined;
      readonly leave: () => Promise<readonly string[]>;
    },
  ): Promise<Spawned> {
    const { reaper, policy: { limits: { tag } } } = this.#options;
    const kill = (): void => reaper.kill(tag);
    const timer = setTimeout(() => {
      this.#timedOut = true;
      kill();
    }, timeoutMs);
    const watch = this.#watchCount(kill);
    const unheard = [heard(signal, kill), heard(stop, () => this.#askToEnd(kill))];
    const outputs = this.#readOutputs();
    void this.#writeInput();
    const status = await this.#process.status;
    clearTimeout(timer);
    clearTimeout(this.#grace);
    clearInterval(watch);
    unheard.forEach((end) => end());
    const left = await reaper.ended(tag);
    if (left > 0 && !this.#timedOut && !stop?.aborted) {
      this.#notes.push(`${left} processes that were left running were ended`);
    }
    await outputs();
    const repaired = await leave();
    if (repaired.length > 0) {
      this.#notes.push(`Put back as they were, commands may not change them: ${repaired.join(", ")}`);
    }
    signal?.throwIfAborted();
    return this.#result(status);
  }

  #result({ code, signal }: Deno.CommandStatus): Spawned {
    const stderr = this.#stderr.text();
    // deno-lint-ignore vis/no-message-parsing -- the only pipe that the launcher has
    const mark = stderr.indexOf(this.#options.policy.token);
    const Fault = FAULTS.get(code);
    if (Fault && mark >= 0) throw new Fault(stderr.slice(mark + this.#options.policy.token.length).trim());
    return {
      code, // of a signal, as in shells: 128 and its number
      signal,
      stdout: this.#stdout.text(),
      stderr,
      ms: Math.round(performance.now() - this.#begun),
      timedOut: this.#timedOut,
      truncated: this.#stdout.truncated || this.#stderr.truncated,
      notes: this.#notes,
    };
  }

  #askToEnd(kill: () => void): void {
    this.#options.reaper.askToEnd(this.#options.policy.limits.tag);
    this.#grace = setTimeout(kill, GRACE_MS);
  }

  /** The process limit does not bind root, and a user may reach it because of the user's other processes. */
  #watchCount(kill: () => void): ReturnType<typeof setInterval> {
    const { reaper, policy: { limits } } = this.#options;
    const atStart = PROC.tasks();
    return setInterval(() => {
      if (PROC.tasks() - atStart < MOST_PROCESSES) return;
      if (reaper.count(limits.tag) < MOST_PROCESSES) return reaper.goOn(limits.tag);
      this.#notes.push(`Ended: ${this.#name} had more than ${MOST_PROCESSES} processes`);
      kill();
    }, WATCH_MS);
  }

  async #writeInput(): Promise<void> {
    const { input } = this.#options;
    if (input === null) return;
    if (typeof input !== "string") return await input.pipeTo(this.#process.stdin).catch(() => {});
    const writer = this.#process.stdin.getWriter();
    // A program need not read all of its input.
    await writer.write(new TextEncoder().encode(input)).catch(() => {});
    await writer.close().catch(() => {});
  }

  /** Reads both outputs; the returned function waits for their ends. */
  #readOutputs(): () => Promise<void> {
    const { onOutput, policy: { token } } = this.#options;
    const outputs = [["stdout", this.#stdout], ["stderr", this.#stderr]] as const;
    const readers = outputs.map(([name, into]) => {
      const reader = this.#process[name].getReader({ mode: "byob" });
      const take = (chunk: Uint8Array<ArrayBuffer>): void => {
        into.push(chunk);
        // What the launcher says is no output of a program; `run` rejects with it.
        const isFault = name === "stderr" && Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes(token);
        if (!isFault) onOutput?.(name, chunk.slice());
      };
      return { reader, done: readAll(reader, take).catch(() => {}) };
    });
    return async () => {
      const timer = setTimeout(() => readers.forEach(({ reader }) => void reader.cancel().catch(() => {})), DRAIN_MS);
      await Promise.all(readers.map(({ done }) => done));
      clearTimeout(timer);
    };
  }
}

/** Throws RangeError if the command line is too long for the system. */
function begun(command: Deno.Command, name: string): Deno.ChildProcess {
  try {
    return command.spawn();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "E2BIG")) throw error;
    throw new RangeError(
      `Cannot run ${name}: its arguments or variables are too long, the system takes 128 KiB for each; use a file, or stdin`,
    );
  }
}

async function readAll(
  reader: ReadableStreamBYOBReader,
  take: (chunk: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  let { value: chunk } = await reader.read(new Uint8Array(READ_BYTES));
  for (; chunk && chunk.length > 0; { value: chunk } = await reader.read(new Uint8Array(chunk.buffer))) {
    take(chunk);
  }
}

/** Calls `then` when the signal aborts, or immediately if it has; the returned function unsubscribes. */
function heard(signal: AbortSignal | undefined, then: () => void): () => void {
  signal?.addEventListener("abort", then);
  if (signal?.aborted) then();
  return () => signal?.removeEventListener("abort", then);
}
