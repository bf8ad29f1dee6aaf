import { constants } from "node:os";
import { advised, errnoText } from "../../domain/errors.ts";
import type { Spawned, SpawnOptions } from "../../extension/spawn_types.ts";
import { SAID } from "../../sandbox/exec/confinement_plan.ts";
import type { Plan } from "../../sandbox/exec/plan_format.ts";
import type { ChildProgram } from "../../sandbox/launch.ts";
import { runToEnd, writeInput } from "../_program_run.ts";
import { childrenOf, descendants, PROC, send } from "../proc_files.ts";
import { NotStarted } from "./known_wall.ts";

const MOST_PROCESSES = 512;
/** When memory runs out, the kernel prefers to end a process with this score. */
const OOM_SCORE = "800";
/** The processes to end may not exist yet at the first attempt. */
const AGAIN_MS = 5;
const POLITE_TRIES = 200;
/** Shells count the exit code of a killed program as 128 plus the number of the signal. */
const KILLED = { code: 137, signal: "SIGKILL" };

const ENOENT = 2, EACCES = 13, ENOEXEC = 8, E2BIG = 7;
const WORDS: Readonly<Record<number, string>> = {
  [ENOENT]: "the program does not exist, or its interpreter does not",
  [EACCES]: "it is not executable, or commands may not run programs of its folder or disk",
  [ENOEXEC]: "it is not a program, and names no interpreter",
  [E2BIG]: "an argument or an environment variable is longer than 128 KiB, or all together are too long for the system",
};

function refusedStart(name: string, errno: number): Error {
  const error = new Error(`Cannot run ${name}: ${WORDS[errno] ?? `the system refused it (${errnoText(errno)})`}`);
  return errno === E2BIG ? advised(error, "use a file, or stdin") : error;
}

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [Number(number), name]));

interface ConfinedProcessOptions {
  readonly launcher: ChildProgram;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly whole: boolean;
  readonly cwd: string;
  readonly onBegun: () => void;
}

/** The kernel refused the namespaces of the program, or the launcher ended early. */
export class NoNamespaces extends NotStarted {}

export class ConfinedProcess {
  readonly #options: ConfinedProcessOptions;
  readonly #name: string;
  /** The program does not know the token, so the program cannot write lines of the first process. */
  readonly #token: string;
  #plan: Uint8Array<ArrayBuffer> | null;
  readonly #process: Deno.ChildProcess;
  readonly #atStart = PROC.tasks();
  readonly #said = new Map<string, string>();
  #tries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  static async start(plan: Plan, options: ConfinedProcessOptions): Promise<ConfinedProcess> {
    const { argv } = options, token = crypto.randomUUID();
    const env = Object.entries(options.env).map(([name, value]) => `${name}=${value}`);
    const image = await plan.encode({ token, argv, env });
    if (image === null) throw refusedStart(argv[0] ?? "", E2BIG);
    return new ConfinedProcess(image, { ...options, token });
  }

  constructor(
    plan: Uint8Array<ArrayBuffer>,
    { token, ...options }: ConfinedProcessOptions & { readonly token: string },
  ) {
    this.#options = options;
    this.#plan = plan;
    this.#token = token;
    const { argv, cwd, launcher: { path, args } } = options;
    this.#name = argv[0] ?? "";
    const command = new Deno.Command(path, {
      args: [...args],
      cwd,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
    this.#process = command.spawn();
    PROC.write(`/proc/${this.pid}/oom_score_adj`, OOM_SCORE);
  }

  get pid(): number {
    return this.#process.pid;
  }

  async run(options: SpawnOptions): Promise<Spawned> {
    const running = runToEnd(this.#process, options, {
      wasEnded: (status) => !this.#said.has(SAID.begun) || this.#signalOf(status) !== null,
      lines: { token: this.#token, hear: (line) => this.#hear(line) },
      kill: () => this.#kill(),
      askToEnd: () => this.#askToEnd(),
      fault: () => this.#fault(),
      ended: () => {
        this.#hasEnded = true;
        clearTimeout(this.#timer);
      },
    });
    void this.#writeInput(options.input ?? "");
    const { status, notes, ...run } = await running;
    this.#throwFault(status, run.stderr);
    if (this.#said.has(SAID.left) && !run.timedOut && !options.stop?.aborted) {
      notes.push("Vis ended processes that were left running");
    }
    const ran = this.#said.has(SAID.begun);
    const { code } = status;
    const end = ran ? { code, signal: this.#signalOf(status) } : KILLED;
    return { ...end, ...run, stderr: ran ? run.stderr : "", notes };
  }

  #signalOf({ signal }: Deno.CommandStatus): string | null {
    return SIGNALS.get(Number(this.#said.get(SAID.signal))) ?? signal;
  }

  #throwFault({ code }: Deno.CommandStatus, stderr: string): void {
    const errno = this.#said.get(SAID.cannot);
    if (errno !== undefined) {
      throw refusedStart(this.#name, Number(errno));
    }
    const failed = this.#said.get(SAID.failed);
    if (failed !== undefined) throw new Error(failed);
    if (this.#said.has(SAID.begun) || this.#tries > 0) return;
    const why = this.#said.get(SAID.noNamespaces) ?? (stderr.trim() || `its launcher ended with exit code ${code}`);
    if (this.#options.whole) throw new NoNamespaces(why);
    throw new Error(`Cannot run ${this.#name}: ${why}`);
  }

  #askToEnd(): void {
    if (!this.#said.has(SAID.begun)) return this.#kill();
    for (const pid of this.#options.whole ? childrenOf(this.pid) : [this.pid]) send(pid, "SIGTERM");
  }

  /** When the first process of a namespace ends, the kernel ends all other processes of the namespace. Without
   * namespaces, the first process ends once all processes below it have ended. */
  #kill(): void {
    clearTimeout(this.#timer);
    if (this.#hasEnded) return; // The last line of the first process may arrive after its end.
    this.#tries++;
    if (this.#plan !== null) return send(this.pid, "SIGKILL");
    if (!this.#options.whole) {
      const all = this.#said.has(SAID.begun) ? descendants(this.pid) : [this.pid];
      for (const pid of all) send(pid, "SIGKILL");
    } else {
      // The first process reports the kill, which the process that made the namespace cannot pass on.
      const politely = this.#said.has(SAID.begun) && this.#tries < POLITE_TRIES;
      for (const pid of childrenOf(this.pid)) send(pid, politely ? "SIGUSR1" : "SIGKILL");
    }
    this.#timer = setTimeout(() => this.#kill(), AGAIN_MS);
  }

  /** The process limit does not bind root, and an ordinary user may reach the limit because of other processes. */
  #fault(): string | null {
    if (PROC.tasks() - this.#atStart < MOST_PROCESSES || descendants(this.pid).length < MOST_PROCESSES) return null;
    return `Ended: ${this.#name} had ${MOST_PROCESSES} processes, the limit`;
  }

  async #writeInput(input: NonNullable<SpawnOptions["input"]>): Promise<void> {
    const plan = this.#plan;
    if (plan === null || this.#tries > 0) return await this.#process.stdin.abort().catch(() => {});
    this.#plan = null;
    const writer = this.#process.stdin.getWriter();
    await writer.write(plan).catch(() => {}); // The launcher may have ended.
    writer.releaseLock();
    await writeInput(this.#process.stdin, input);
  }

  #hear(line: string): void {
    const [word = ""] = line.split(" ", 1);
    // After a refused step, the launcher ends its line with the error number of the kernel.
    const said = line.slice(word.length + 1).replace(/: errno (\d+)$/, (_, errno) => ` (${errnoText(Number(errno))})`);
    this.#said.set(word, said);
    if (word === SAID.begun) this.#options.onBegun();
    if (word === SAID.left && !this.#options.whole) this.#kill();
  }
}
