import { Buffer } from "node:buffer";
import { constants } from "node:os";
import type { Spawned, SpawnOptions } from "../extension/spawned.ts";
import { SAID } from "../sandbox/exec/exec_plan.ts";
import type { Plan } from "../sandbox/exec/plan.ts";
import type { ChildProgram } from "../sandbox/launch/start_child.ts";
import { CappedOutput, outputsOf } from "./_capped_output.ts";
import { childrenOf, descendants } from "./_process_table.ts";
import { heard, readOutputs } from "./_program_streams.ts";
import { PROC } from "./proc_files.ts";

const WATCH_MS = 20;
const MOST_PROCESSES = 512;
/** Makes the kernel end it first when memory runs out. */
const OOM_SCORE = "800";
/** Time between the request to end and the kill. */
const GRACE_MS = 2_000;
/** Time between two attempts to end everything: what has only begun may have nothing to end yet. */
const AGAIN_MS = 5;
const POLITE_TRIES = 200;
const KILLED = { code: 137, signal: "SIGKILL" };

const ENOENT = 2, EACCES = 13, ENOEXEC = 8, E2BIG = 7;
const WORDS: Readonly<Record<number, string>> = {
  [ENOENT]: "it does not exist, or the interpreter that it names does not",
  [EACCES]: "it cannot be executed: it is not a program, or it is in a folder that commands may not read",
  [ENOEXEC]: "it is not a program and names no interpreter",
  [E2BIG]: "its arguments or variables are too long, the system takes 128 KiB for each; use a file, or stdin",
};
const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [Number(number), name]));

export interface ConfinedProcessOptions {
  /** Carries out the plan (init.c), and becomes the first process around the program. */
  readonly launcher: ChildProgram;
  readonly argv: readonly string[];
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the program is in namespaces of its own. */
  readonly whole: boolean;
  readonly cwd: string;
  readonly input: NonNullable<SpawnOptions["input"]> | null;
  readonly maxBytes: number;
  readonly onOutput: NonNullable<SpawnOptions["onOutput"]> | null;
  readonly guessEncoding: boolean;
}

/** Nothing ran, since the namespaces of the program could not be made. */
export class NoNamespaces extends Error {}

/** One program behind the wall, from its start to the end of everything that it started. */
export class ConfinedProcess {
  readonly #options: ConfinedProcessOptions;
  readonly #name: string;
  /** Marks lines of the first process: the program does not know it. */
  readonly #token = crypto.randomUUID();
  /** Null once it has been sent. */
  #plan: Uint8Array<ArrayBuffer> | null;
  readonly #process: Deno.ChildProcess;
  readonly #begun = performance.now();
  readonly #stdout: CappedOutput;
  readonly #stderr: CappedOutput;
  readonly #notes: string[] = [];
  readonly #said = new Map<string, string>();
  #timedOut = false;
  /** How often it was killed. */
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(plan: Plan, options: ConfinedProcessOptions) {
    this.#options = options;
    const { argv, cwd, maxBytes, launcher: { path, args } } = options;
    this.#name = argv[0] ?? "";
    const env = Object.entries(options.env).map(([name, value]) => `${name}=${value}`);
    this.#plan = plan.encode({ token: this.#token, argv, env });
    if (this.#plan === null) throw new Error(`Cannot run ${this.#name}: ${WORDS[E2BIG]}`);
    const command = new Deno.Command(path, {
      args: [...args],
      cwd,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    this.#process = command.spawn();
    this.#stdout = new CappedOutput(maxBytes);
    this.#stderr = new CappedOutput(maxBytes);
    PROC.write(`/proc/${this.pid}/oom_score_adj`, OOM_SCORE);
  }

  get pid(): number {
    return this.#process.pid;
  }

  async run(
    { timeoutMs, signal, stop }: {
      readonly timeoutMs: number;
      readonly signal: AbortSignal | undefined;
      readonly stop: AbortSignal | undefined;
    },
  ): Promise<Spawned> {
    const limit = setTimeout(() => {
      this.#timedOut = true;
      this.#kill();
    }, timeoutMs);
    const watch = this.#watchCount();
    const unheard = [heard(signal, () => this.#kill()), heard(stop, () => this.#askToEnd())];
    const outputs = this.#readOutputs();
    void this.#writeInput();
    const status = await this.#process.status;
    clearTimeout(limit);
    clearTimeout(this.#timer);
    clearInterval(watch);
    unheard.forEach((end) => end());
    await outputs();
    signal?.throwIfAborted();
    this.#throwFault(status);
    if (this.#said.has(SAID.left) && !this.#timedOut && !stop?.aborted) {
      this.#notes.push("Processes that were left running were ended");
    }
    return this.#result(status);
  }

  /** Throws Error if no program ran. */
  #throwFault({ code }: Deno.CommandStatus): void {
    const errno = this.#said.get(SAID.cannot);
    if (errno !== undefined) throw new Error(`Cannot run ${this.#name}: ${WORDS[Number(errno)] ?? `errno ${errno}`}`);
    const failed = this.#said.get(SAID.failed);
    if (failed !== undefined) throw new Error(failed);
    if (this.#said.has(SAID.begun) || this.#tries > 0) return;
    const why = this.#said.get(SAID.noNamespaces) ?? (this.#stderr.text().trim() || `its launcher ended with ${code}`);
    if (this.#options.whole) throw new NoNamespaces(why);
    throw new Error(`Cannot run ${this.#name}: ${why}`);
  }

  #result(status: Deno.CommandStatus): Spawned {
    const ran = this.#said.has(SAID.begun);
    const signal = SIGNALS.get(Number(this.#said.get(SAID.signal))) ?? status.signal;
    const outputs = outputsOf({ stdout: this.#stdout, stderr: this.#stderr }, {
      guess: this.#options.guessEncoding,
      wasEnded: !ran || signal !== null,
    });
    return {
      ...ran ? { code: status.code, signal } : KILLED, // of a signal, as in shells: 128 and its number
      ...outputs,
      stderr: ran ? outputs.stderr : "",
      ms: Math.round(performance.now() - this.#begun),
      timedOut: this.#timedOut,
      notes: [...this.#notes, ...outputs.notes],
    };
  }

  /** The first process passes the request on. */
  #askToEnd(): void {
    if (!this.#said.has(SAID.begun)) return this.#kill();
    for (const pid of this.#options.whole ? childrenOf(this.pid) : [this.pid]) send(pid, "SIGTERM");
    this.#timer = setTimeout(() => this.#kill(), GRACE_MS);
  }

  /** Ends all that runs. Where the first process of a namespace ends, the kernel ends the others, and the process that
   * made the namespace ends last. Elsewhere, the first process ends once all below it have. */
  #kill(): void {
    clearTimeout(this.#timer);
    this.#tries++;
    if (this.#plan !== null) return send(this.pid, "SIGKILL");
    if (!this.#options.whole) {
      const all = this.#said.has(SAID.begun) ? descendants(this.pid) : [this.pid];
      for (const pid of all) send(pid, "SIGKILL");
    } else {
      // Its first process says that it was killed, which the process that made the namespace cannot pass on.
      const politely = this.#said.has(SAID.begun) && this.#tries < POLITE_TRIES;
      for (const pid of childrenOf(this.pid)) send(pid, politely ? "SIGUSR1" : "SIGKILL");
    }
    this.#timer = setTimeout(() => this.#kill(), AGAIN_MS);
  }

  /** The process limit does not bind root, and a user may reach it because of the user's other processes. */
  #watchCount(): ReturnType<typeof setInterval> {
    const atStart = PROC.tasks();
    return setInterval(() => {
      if (PROC.tasks() - atStart < MOST_PROCESSES || descendants(this.pid).length < MOST_PROCESSES) return;
      if (this.#tries === 0) this.#notes.push(`Ended: ${this.#name} had more than ${MOST_PROCESSES} processes`);
      this.#kill();
    }, WATCH_MS);
  }

  /** The plan comes first: before, nothing runs. */
  async #writeInput(): Promise<void> {
    const { input } = this.#options;
    const plan = this.#plan;
    if (plan === null || this.#tries > 0) return await this.#process.stdin.abort().catch(() => {});
    this.#plan = null;
    const writer = this.#process.stdin.getWriter();
    try {
      await writer.write(plan);
      if (typeof input === "string") await writer.write(new TextEncoder().encode(input));
      writer.releaseLock();
      if (input !== null && typeof input !== "string") return await input.pipeTo(this.#process.stdin);
      await this.#process.stdin.close();
    } catch { /* a program need not read all of its input */ }
  }

  /** Reads both outputs; the returned function waits for their ends. */
  #readOutputs(): () => Promise<void> {
    const { onOutput } = this.#options;
    const lines = new TokenLines(this.#token, (line) => this.#hear(line));
    const keep = (name: "stdout" | "stderr", chunk: Uint8Array): void => {
      if (chunk.length === 0) return;
      (name === "stdout" ? this.#stdout : this.#stderr).push(chunk);
      onOutput?.(name, chunk.slice());
    };
    const ended = readOutputs(this.#process, (name, chunk) => {
      if (name === "stdout") keep(name, chunk);
      else lines.split(chunk, (bytes) => keep(name, bytes));
    });
    return async () => {
      await ended();
      keep("stderr", lines.rest);
    };
  }

  #hear(line: string): void {
    const [word = ""] = line.split(" ", 1);
    this.#said.set(word, line.slice(word.length + 1));
    if (word === SAID.left && !this.#options.whole) this.#kill();
  }
}

/** Takes the lines of the first process, which begin with the token, out of an output. */
class TokenLines {
  readonly #token: string;
  readonly #hear: (line: string) => void;
  #held: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  constructor(token: string, hear: (line: string) => void) {
    this.#token = token;
    this.#hear = hear;
  }

  /** What may be the beginning of a line and is none. */
  get rest(): Uint8Array {
    return this.#held;
  }

  split(chunk: Uint8Array, take: (bytes: Uint8Array) => void): void {
    let bytes = Buffer.concat([this.#held, chunk]);
    for (let at = bytes.indexOf(this.#token); at >= 0; at = bytes.indexOf(this.#token)) {
      take(bytes.subarray(0, at));
      const end = bytes.indexOf("\n", at);
      if (end < 0) {
        this.#held = bytes.subarray(at);
        return;
      }
      this.#hear(bytes.toString("utf8", at + this.#token.length + 1, end));
      bytes = bytes.subarray(end + 1);
    }
    const kept = this.#partLength(bytes);
    take(bytes.subarray(0, bytes.length - kept));
    this.#held = bytes.subarray(bytes.length - kept);
  }

  /** Length of the token's beginning at the end of the bytes. */
  #partLength(bytes: Buffer): number {
    let length = Math.min(this.#token.length - 1, bytes.length);
    while (length > 0 && bytes.toString("latin1", bytes.length - length) !== this.#token.slice(0, length)) length--;
    return length;
  }
}

function send(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch { /* ended already */ }
}
