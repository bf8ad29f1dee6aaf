import { dirname, join } from "node:path";
import { REAL_CLOCK, Semaphore } from "../../domain/kit/concurrency.ts";
import { isWithin } from "../../domain/kit/files.ts";
import { oneLine } from "../../domain/kit/text.ts";
import { Libc } from "../../sandbox/confine/libc.ts";
import { descendants, PROC } from "../proc_files.ts";
import { GIT } from "./repositories.ts";

export class RunningCommand {
  static readonly #all = new Set<RunningCommand>();
  readonly title: string;
  readonly end = new AbortController();
  readonly left: PromiseWithResolvers<void> = Promise.withResolvers();
  pid = 0;
  readonly #write: readonly string[];
  readonly #counts: (path: string) => boolean;
  readonly #places: ReadonlyMap<string, string>;

  /** `counts` tests whether the command could change a path without a read-only mount. `places` are paths that the
   * command cannot change while the same entries are at these paths. */
  constructor(
    title: string,
    { write, counts, places }: {
      readonly write: readonly string[];
      readonly counts: (path: string) => boolean;
      readonly places: ReadonlyMap<string, string>;
    },
  ) {
    this.title = title;
    this.#write = write;
    this.#counts = counts;
    this.#places = places;
    RunningCommand.#all.add(this);
  }

  static in(folder: string): readonly RunningCommand[] {
    return [...RunningCommand.#all].filter((one) =>
      [folder, ...one.#write.filter((path) => isWithin(path, folder))].some((path) => one.#counts(join(path, "a")))
    );
  }

  canChange(path: string): boolean {
    if (!this.#counts(path)) return false;
    for (let at = path; at !== dirname(at); at = dirname(at)) {
      const place = this.#places.get(at);
      if (place !== undefined && place === placeOf(at)) return false;
    }
    return true;
  }

  leave(): void {
    RunningCommand.#all.delete(this);
    this.left.resolve();
  }
}

export function commandIn(folder: string): string | null {
  return RunningCommand.in(folder)[0]?.title ?? null;
}

/** A later entry may get the same inode number, so the identity includes the time. */
export function placeOf(path: string): string {
  try {
    const { dev, ino, birthtime, ctime } = Deno.lstatSync(path);
    return `${dev} ${ino} ${(birthtime ?? ctime)?.getTime()}`;
  } catch {
    return "";
  }
}

const MOST_PROGRAMS = 1_000;
const LOCK_SHARED = 1n, LOCK_ALONE = 2n, LOCK_AT_ONCE = 4n;
const EWOULDBLOCK = 11;
const COMMAND_CHARS = 80;
const LOCK_AGAIN_MS = 50, ALONE_TRIES = 40, LOCK_TRIES = 5;

function holderOf(folder: string): string {
  try {
    const { ino } = Deno.statSync(folder);
    const locks = PROC.readWhole("/proc/locks").matchAll(/ FLOCK +\S+ +\S+ (\d+) \S+:(\d+) /g);
    const [, pid] = locks.find(([, pid, inode]) => Number(inode) === ino && Number(pid) !== Deno.pid) ?? [];
    const command = descendants(Number(pid)).at(-1); // The deepest process is below the launcher and the shell.
    const text = PROC.read(`/proc/${command}/cmdline`).replaceAll("\0", " ");
    return ` (Vis process ${pid} runs ${oneLine(text, COMMAND_CHARS)})`;
  } catch {
    return "";
  }
}

/** A command must not begin while git brings files. Other processes of Vis see shared locks of commands and exclusive
 * locks of git, because a process cannot pause commands of another process. */
class WorkspaceTurns {
  readonly #beginning = new Map<string, Semaphore>();
  readonly #held = new Map<string, { readonly descriptor: number; shares: number; isAlone: boolean }>();
  #libc: Libc | null = null;

  /** The caller must call the returned function once the command has its file system, or has ended. */
  async begin(folder: string, signal: AbortSignal | undefined): Promise<() => void> {
    const turns = this.#turnsIn(folder);
    await turns.acquire(signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    let isOver = false;
    return () => {
      if (!isOver) turns.release();
      isOver = true;
    };
  }

  /** The wait ends when git of another process has brought its files. */
  async share(folder: string, signal: AbortSignal | undefined): Promise<() => void> {
    const held = this.#open(folder);
    held.shares++;
    const leave = (): void => {
      held.shares--;
      this.#close(folder);
    };
    try {
      if (!held.isAlone) await this.#until(() => this.#lock(folder, LOCK_SHARED), { signal });
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  async alone<T>(folder: string, bring: () => Promise<T>): Promise<T> {
    const work = async (): Promise<T> => {
      // A failed attempt at the lock of the folder loses the shared lock of this process's commands. The lock of the
      // repository keeps git of other processes out meanwhile.
      const cannot = `Cannot change files in ${folder}:`;
      const leave = await this.#lockAlone(
        join(folder, GIT),
        () => `${cannot} git of another Vis process changes files there; try again`,
      );
      try {
        const unlock = await this.#lockAlone(
          folder,
          () =>
            `${cannot} a command of another Vis process runs there${holderOf(folder)}; stop that command first, for ` +
            "example with /jobs in its window",
        );
        return await bring().finally(unlock);
      } finally {
        await leave();
      }
    };
    return await this.#turnsIn(folder).runAmount(MOST_PROGRAMS, { work, signal: undefined });
  }

  #turnsIn(folder: string): Semaphore {
    const turns = this.#beginning.get(folder) ?? new Semaphore(MOST_PROGRAMS);
    this.#beginning.set(folder, turns);
    return turns;
  }

  async #lockAlone(path: string, fault: () => string): Promise<() => Promise<void>> {
    const held = this.#open(path);
    held.isAlone = await this.#until(() => this.#lock(path, LOCK_ALONE), { most: ALONE_TRIES });
    const leave = async (): Promise<void> => {
      held.isAlone = false;
      if (held.shares > 0) await this.#until(() => this.#lock(path, LOCK_SHARED));
      this.#close(path);
    };
    if (held.isAlone) return leave;
    await leave();
    throw new Error(fault());
  }

  #open(folder: string) {
    const libc = this.#libc ??= new Libc();
    const held = this.#held.get(folder) ?? { descriptor: libc.open(folder), shares: 0, isAlone: false };
    this.#held.set(folder, held);
    return held;
  }

  #close(folder: string): void {
    const held = this.#held.get(folder);
    if (held === undefined || held.shares > 0 || held.isAlone) return;
    this.#held.delete(folder);
    this.#libc?.closeDescriptor(held.descriptor);
  }

  /** Returns true on a file system without locks, so that a process acts as if it had the lock. */
  #lock(folder: string, how: bigint): boolean {
    const descriptor = this.#held.get(folder)?.descriptor ?? -1;
    if (descriptor < 0 || this.#libc === null) return true;
    for (let tries = 0; tries < LOCK_TRIES; tries++) {
      if (this.#libc.call("flock", [BigInt(descriptor), how | LOCK_AT_ONCE]) === 0) return true;
      if (this.#libc.errno() === EWOULDBLOCK) return false;
      // The runtime's own calls may have overwritten errno, so a single other value does not prove that the file system
      // has no locks.
    }
    return true;
  }

  async #until(
    isDone: () => boolean,
    { most = Infinity, signal }: { readonly most?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<boolean> {
    for (let tries = 1; !isDone(); tries++) {
      if (tries >= most) return false;
      signal?.throwIfAborted();
      await REAL_CLOCK.sleep(LOCK_AGAIN_MS);
    }
    return true;
  }
}

export const TURNS: Pick<WorkspaceTurns, "begin" | "share" | "alone"> = new WorkspaceTurns();
