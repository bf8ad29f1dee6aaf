import { REAL_CLOCK } from "../../domain/kit/concurrency.ts";

const GROUP = 2, CHILDREN = 6, FACTS = 3;
const FACTS_BYTES = 136, STATE_AT = 4, SECONDS_AT = 120, MICROSECONDS_AT = 128;
const ENDED = 5; // SZOMB has this value.
const FIRST_IDS = 256, MOST_IDS = 65_536;
const ROUNDS = 400, PAUSE_MS = 5;
/** A tree that starts processes without end gets at most this many rounds of SIGSTOP before the kill. */
const STOP_ROUNDS = 50;

/** The session identifier changes with every start of the system. */
const BOOT = new TextEncoder().encode("kern.bootsessionuuid\0"), BOOT_BYTES = 64;

/** The functions of libproc return the number of written bytes, and `sysctlbyname` writes the length of a value. */
export interface LibProc {
  readonly proc_listpids: (kind: number, id: number, into: Uint8Array<ArrayBuffer>, bytes: number) => number;
  readonly proc_pidinfo: (
    pid: number,
    kind: number,
    argument: bigint,
    into: Uint8Array<ArrayBuffer>,
    bytes: number,
  ) => number;
  readonly sysctlbyname: (
    name: Uint8Array<ArrayBuffer>,
    into: Uint8Array<ArrayBuffer>,
    length: BigUint64Array<ArrayBuffer>,
    value: null,
    valueLength: bigint,
  ) => number;
}

export interface ProcessTable {
  children(pid: number): readonly number[];
  group(pid: number): readonly number[];
  /** The start time and the id together identify a process. */
  started(pid: number): string | null;
  signal(pid: number, name: Deno.Signal): void;
}

export class MacProcesses implements ProcessTable {
  readonly #libproc: LibProc;

  constructor(libproc: LibProc = openLibProc()) {
    this.#libproc = libproc;
  }

  children(pid: number): readonly number[] {
    return this.#list(CHILDREN, pid);
  }

  group(pid: number): readonly number[] {
    return this.#list(GROUP, pid);
  }

  started(pid: number): string | null {
    const facts = new Uint8Array(FACTS_BYTES);
    if (this.#libproc.proc_pidinfo(pid, FACTS, 0n, facts, FACTS_BYTES) !== FACTS_BYTES) return null;
    const view = new DataView(facts.buffer);
    if (view.getUint32(STATE_AT, true) === ENDED) return null;
    return `${view.getBigUint64(SECONDS_AT, true)}.${view.getBigUint64(MICROSECONDS_AT, true)}`;
  }

  boot(): string {
    const into = new Uint8Array(BOOT_BYTES), length = new BigUint64Array([BigInt(BOOT_BYTES)]);
    const failed = this.#libproc.sysctlbyname(BOOT, into, length, null, 0n) !== 0;
    const text = new TextDecoder().decode(into.subarray(0, Number(length[0] ?? 0n))).replace(/\0.*$/s, "");
    if (failed || text === "") {
      throw new Error("Cannot identify this start of the system: it gives no kern.bootsessionuuid");
    }
    return text;
  }

  signal(pid: number, name: Deno.Signal): void {
    try {
      Deno.kill(pid, name);
    } catch { /* The process has already ended. */ }
  }

  #list(kind: number, id: number): readonly number[] {
    for (let room = FIRST_IDS;; room *= 4) {
      const ids = new Int32Array(room);
      const bytes = new Uint8Array(ids.buffer);
      const written = this.#libproc.proc_listpids(kind, id, bytes, bytes.length);
      if (written >= bytes.length && room < MOST_IDS) continue;
      return Array.from(ids.subarray(0, Math.max(0, written) / ids.BYTES_PER_ELEMENT)).filter((pid) => pid > 1);
    }
  }
}

function openLibProc(): LibProc {
  return Deno.dlopen("/usr/lib/libSystem.B.dylib", {
    proc_listpids: { parameters: ["u32", "u32", "buffer", "i32"], result: "i32" },
    proc_pidinfo: { parameters: ["i32", "i32", "u64", "buffer", "i32"], result: "i32" },
    sysctlbyname: { parameters: ["buffer", "buffer", "buffer", "pointer", "usize"], result: "i32" },
  }).symbols;
}

/** On macOS, a process does not inherit the orphans of its children. This class must therefore find a process outside
 * the group while its parent runs, and callers must call `look` often. */
export class ProcessTree {
  readonly #table: ProcessTable;
  readonly #root: number;
  readonly #known = new Map<number, string>();

  constructor(root: number, table: ProcessTable) {
    this.#table = table;
    this.#root = root;
    this.look();
  }

  look(): readonly number[] {
    // The children of another process with a reused id do not belong to the tree, so the loop first forgets ended
    // processes.
    for (const [pid, started] of this.#known) {
      if (this.#table.started(pid) !== started) this.#known.delete(pid);
    }
    const open = [...this.#known.keys()];
    for (const pid of this.#table.group(this.#root)) this.#add(pid, open);
    for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
      for (const child of this.#table.children(pid)) this.#add(child, open);
    }
    return [...this.#known.keys()];
  }

  #add(pid: number, open: number[]): void {
    const started = this.#known.has(pid) ? null : this.#table.started(pid);
    if (started === null) return;
    this.#known.set(pid, started);
    open.push(pid);
  }

  askToEnd(): void {
    this.#table.signal(-this.#root, "SIGTERM");
  }

  /** Suspended processes cannot start others before the kill. */
  kill(): readonly number[] {
    const stopped = new Set<number>();
    for (let round = 0; round < STOP_ROUNDS; round++) {
      const running = this.look().filter((pid) => !stopped.has(pid));
      for (const pid of running) {
        this.#table.signal(pid, "SIGSTOP");
        stopped.add(pid);
      }
      if (running.length === 0) break;
    }
    const all = this.look();
    for (const pid of all) this.#table.signal(pid, "SIGKILL");
    return all;
  }

  async ended(): Promise<number> {
    const killed = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      const left = this.kill();
      if (left.length === 0) break;
      left.forEach((pid) => killed.add(pid));
      await REAL_CLOCK.sleep(PAUSE_MS);
    }
    killed.delete(this.#root);
    return killed.size;
  }
}
