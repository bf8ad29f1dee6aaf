import { REAL_CLOCK } from "../domain/kit/clock.ts";
import { Libc } from "../sandbox/confine/libc.ts";
import { descendants, messageQueueLimit, type ProcessFacts } from "./_process_table.ts";

const PR_SET_CHILD_SUBREAPER = 36, WAIT4 = 61, WNOHANG = 1n; // x86-64
/** Below the kernel's default of 819 200, so that a process with a lower limit is one of ours. */
const FIRST_TAG = 600_000, LAST_TAG = 800_000;
/** Tags of one wall where several share a process. */
const SHARE = 500;
const ROUNDS = 400, PAUSE_MS = 5;
/** Within which all programs must stand still. */
const FREEZE_ROUNDS = 100;

/** Ends what confined programs leave behind. The process becomes the parent of every orphan below it, so that none gets
 * away by a double fork or a session of its own. */
export class Reaper {
  readonly #libc = new Libc();
  /** Of the programs that run: their tags and the processes that the runtime itself waits for. */
  readonly #running = new Map<number, number>();
  readonly #first: number;
  readonly #last: number;
  #next: number;

  /** Throws Error where orphans cannot be had. `shared`: other tags than its own may belong to another wall. */
  constructor({ shared }: { readonly shared: boolean }) {
    const share = Math.floor(Math.random() * (LAST_TAG - FIRST_TAG) / SHARE);
    this.#first = this.#next = shared ? FIRST_TAG + share * SHARE : FIRST_TAG;
    this.#last = shared ? this.#first + SHARE : LAST_TAG;
    if (this.#libc.prctl(PR_SET_CHILD_SUBREAPER, 1n) !== 0) {
      throw new Error(`Cannot become the parent of orphans: errno ${this.#libc.errno()}`);
    }
  }

  /** A tag for a program that is about to start. */
  newTag(): number {
    const tag = this.#next;
    this.#next = tag + 1 < this.#last ? tag + 1 : this.#first;
    return this.#running.has(tag) ? this.newTag() : tag;
  }

  begun(tag: number, pid: number): void {
    this.#running.set(tag, pid);
  }

  /** How many processes a program has. Its group stands still meanwhile: counting a fork bomb would take for ever. */
  count(tag: number): number {
    const leader = this.#running.get(tag);
    if (leader === undefined) return 0;
    signal(-leader, "SIGSTOP");
    const found = descendants(Deno.pid).filter(({ pid, session, ended }) =>
      !ended && (session === leader || messageQueueLimit(pid) === tag)
    );
    return found.length;
  }

  /** Lets a program go on that was counted. */
  goOn(tag: number): void {
    const leader = this.#running.get(tag);
    if (leader !== undefined) signal(-leader, "SIGCONT");
  }

  /** Asks the program and those of its group to end. */
  askToEnd(tag: number): void {
    const leader = this.#running.get(tag);
    if (leader === undefined) return;
    signal(leader, "SIGTERM"); // before it becomes the program it has no group of its own
    signal(-leader, "SIGTERM");
  }

  /** Makes all programs stand still, with all that they started; what it returns lets them go on. Null where they did
   * not stand still in time. */
  async freeze(): Promise<(() => void) | null> {
    let still = 0;
    for (let round = 0; round < FREEZE_ROUNDS && still < 2; round++) {
      const moving = this.#programs().filter(({ ended, stopped }) => !ended && !stopped);
      for (const { pid } of moving) signal(pid, "SIGSTOP");
      // Twice, since one that was made while the table was read may not be in it.
      still = moving.length === 0 ? still + 1 : 0;
      if (moving.length > 0) await REAL_CLOCK.sleep(PAUSE_MS);
    }
    const thaw = (): void => {
      for (const { pid, ended } of this.#programs()) if (!ended) signal(pid, "SIGCONT");
    };
    if (still >= 2) return thaw;
    thaw();
    return null;
  }

  #programs(): readonly ProcessFacts[] {
    const leaders = new Set(this.#running.values());
    return descendants(Deno.pid).filter(({ pid, session }) => {
      if (leaders.has(pid) || leaders.has(session)) return true;
      const tag = messageQueueLimit(pid);
      return tag !== null && (this.#running.has(tag) || tag < FIRST_TAG);
    });
  }

  /** Kills the program and whatever it started; what it waits for is its own end, which the runtime sees. */
  kill(tag: number): void {
    const pid = this.#running.get(tag);
    if (pid === undefined) return;
    signal(-pid);
    signal(pid);
    for (const one of descendants(Deno.pid)) {
      if (!one.ended && one.session !== pid && messageQueueLimit(one.pid) === tag) signal(one.pid);
    }
  }

  /** The program has ended: kills and buries all that is left of it, and all that belongs to no running one. Returns
   * how many there were. */
  async ended(tag: number): Promise<number> {
    const leader = this.#running.get(tag);
    this.#running.delete(tag);
    const killed = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      const left = this.#strays();
      // At once for all of a group: its members cannot make others meanwhile.
      if (leader !== undefined && left.length > 0) signal(-leader);
      for (const { pid, ended } of left) {
        if (ended) continue;
        killed.add(pid);
        signal(pid);
      }
      for (const { pid, parent, ended } of left) if (ended && parent === Deno.pid) this.#bury(pid);
      if (left.every(({ ended, parent }) => ended && parent === Deno.pid)) break;
      await REAL_CLOCK.sleep(PAUSE_MS);
    }
    return killed.size;
  }

  #strays(): readonly ProcessFacts[] {
    const running = new Set(this.#running.values());
    return descendants(Deno.pid).filter(({ pid }) => {
      if (running.has(pid)) return false;
      const tag = messageQueueLimit(pid);
      if (tag === null || this.#running.has(tag)) return false;
      return tag < FIRST_TAG || (tag >= this.#first && tag < this.#last);
    });
  }

  /** By its number only: a wait for any child would take the runtime's own from it. */
  #bury(pid: number): void {
    this.#libc.syscall(WAIT4, [BigInt(pid), 0n, WNOHANG, 0n]);
  }
}

function signal(pid: number, name: Deno.Signal = "SIGKILL"): void {
  try {
    Deno.kill(pid, name);
  } catch { /* ended already */ }
}
