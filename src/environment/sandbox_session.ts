import { Cancelled, SandboxEnded } from "../domain/errors.ts";
import { clip } from "../domain/kit/text.ts";
import { failedBlock, type FormerResult, type FormerResults } from "../domain/query/host_call.ts";
import type { BlockResult } from "../domain/query/query_schemas.ts";
import type { VariableImage } from "../domain/query/variable.ts";
import type { Store } from "../persistence/store.ts";
import {
  bareReport,
  type BlockRun,
  type RunReport,
  type Sandbox,
  type VariableRestoreReport,
} from "../sandbox/sandbox.ts";

export interface SessionSource {
  readonly open: (signal: AbortSignal) => Promise<Sandbox>;
  readonly stored: () => Promise<readonly VariableImage[]>;
  readonly system: () => ReadonlyMap<string, string>;
  readonly rows?: () => Promise<readonly FormerResult[]>;
  readonly onLost: (lost: readonly MissingVariable[]) => void;
  readonly pieces?: (large: string) => AsyncIterable<Uint8Array<ArrayBuffer>>;
  readonly named?: (code: string, names: ReadonlySet<string>) => readonly string[];
}

export interface MissingVariable {
  readonly name: string;
  readonly reason: string;
  readonly statement: string;
}

/** If a child has ended, the next use starts another child with the variables that finished blocks have saved. */
export class SandboxSession {
  readonly #source: SessionSource;
  readonly #rows: ShownRows;
  #start: Start | null = null;
  #sandbox: Sandbox | null = null;
  #used = false;
  #stopped: Promise<unknown> = Promise.resolve();
  /** The map has the versions since the last stored iteration by name. Null means that the name was forgotten. */
  readonly #unsaved = new Map<string, VariableImage | null>();
  /** A value is the store's name of a large text that the running child has not loaded. */
  readonly #unloaded = new Map<string, string>();
  #closed = false;

  constructor(source: SessionSource) {
    this.#source = source;
    this.#rows = new ShownRows(source.rows ?? (() => Promise.resolve([])));
  }

  get living(): Sandbox | null {
    return this.#sandbox && !this.#sandbox.ended ? this.#sandbox : null;
  }

  get used(): Sandbox | null {
    return this.#used ? this.living : null;
  }

  ready(): Promise<Sandbox> {
    if (this.#closed) return Promise.reject(new Cancelled("Conversation closed"));
    const living = this.living;
    if (living) return Promise.resolve(living);
    this.#start ??= this.#begin();
    return this.#start.child;
  }

  async use<T>(code: string, work: (sandbox: Sandbox, failed: string | null) => Promise<T>): Promise<T> {
    for (let time = 1;; time++) {
      const { sandbox, failed } = await this.readyFor(code);
      try {
        return await work(sandbox, failed);
      } catch (error) {
        if (!(error instanceof SandboxEnded) || time > 1) throw error;
      }
    }
  }

  async readyFor(code: string): Promise<{ readonly sandbox: Sandbox; readonly failed: string | null }> {
    const sandbox = this.living ?? await this.ready();
    const { named, pieces } = this.#source;
    if (this.#unloaded.size === 0 || !named || !pieces) return { sandbox, failed: null };
    for (const name of named(code, new Set(this.#unloaded.keys()))) {
      try {
        await bindPieces(sandbox, { name, pieces: pieces(this.#unloaded.get(name) ?? "") });
      } catch (error) {
        if (!(error instanceof SandboxEnded)) throw error;
        return {
          sandbox,
          failed: `Cannot load ${name} into the sandbox: ${error.why}; if it lacks memory, raise sandbox.memoryMiB`,
        };
      }
      this.#unloaded.delete(name);
    }
    return { sandbox, failed: null };
  }

  async give(images: readonly VariableImage[]): Promise<void> {
    this.remember(images);
    for (const { name, large } of images) {
      if (large === undefined) this.#unloaded.delete(name);
      else this.#unloaded.set(name, large);
    }
    await this.settled();
    await this.living?.restore(images.filter(({ large }) => large === undefined)).catch(unlessGone);
  }

  /** The child loads a large text at its next use. */
  async restore(image: VariableImage): Promise<readonly VariableRestoreReport[]> {
    const sandbox = await this.ready();
    if (image.large === undefined) return await sandbox.restore([image]);
    this.#unloaded.set(image.name, image.large);
    return [];
  }

  async run(block: BlockRun): Promise<RunReport> {
    this.#rows.begin(block);
    const { sandbox, failed } = await this.readyFor(block.code);
    this.#used = true;
    const report = failed === null ? await sandbox.run(block) : notRun(failed);
    this.#rows.add(block, report);
    this.remember(report.saved);
    for (const { name } of report.saved) this.#unloaded.delete(name);
    return report;
  }

  async endQuery(): Promise<void> {
    this.#rows.reset();
    await this.used?.endQuery().catch(() => {});
  }

  remember(images: readonly VariableImage[]): void {
    for (const image of images) this.#unsaved.set(image.name, image);
  }

  async forget(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#unsaved.set(name, null);
      this.#unloaded.delete(name);
    }
    await this.living?.forget(names).catch(unlessGone);
  }

  unsaved(name: string): VariableImage | null {
    return this.#unsaved.get(name) ?? null;
  }

  get unsavedNow(): ReadonlyMap<string, VariableImage | null> {
    return new Map(this.#unsaved);
  }

  /** The caller must have stored these versions; the session keeps newer versions. */
  stored(images: ReadonlyMap<string, VariableImage | null>): void {
    for (const [name, image] of images) if (this.#unsaved.get(name) === image) this.#unsaved.delete(name);
  }

  async reset(): Promise<void> {
    await this.stop();
    this.#unsaved.clear();
    this.#unloaded.clear();
    this.#rows.reset();
  }

  async settled(): Promise<void> {
    await this.#start?.child.catch(() => {});
  }

  async stop(): Promise<void> {
    const [start, sandbox] = [this.#start, this.#sandbox];
    this.#start = this.#sandbox = null;
    start?.controller.abort();
    const ended = Promise.all([
      this.#stopped,
      start?.child.then((child) => child.close(), () => {}),
      sandbox?.close(),
    ]);
    this.#stopped = ended.catch(() => {});
    await ended;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.stop();
  }

  #begin(): Start {
    this.#used = false;
    const controller = new AbortController();
    const child = this.#openAgain(controller.signal).finally(() => {
      if (this.#start === start) this.#start = null;
    });
    const start: Start = { child, controller };
    return start;
  }

  /** A child may be killed while it starts, so Vis tries once more. */
  async #openAgain(signal: AbortSignal): Promise<Sandbox> {
    for (let time = 1;; time++) {
      try {
        return await this.#open(signal);
      } catch (error) {
        if (this.#closed) throw new Cancelled("Conversation closed");
        const ended = error instanceof SandboxEnded || error instanceof Error && error.cause instanceof SandboxEnded;
        if (!ended || signal.aborted || time > 1) throw error;
      }
    }
  }

  async #open(signal: AbortSignal): Promise<Sandbox> {
    const previous = this.#sandbox;
    this.#sandbox = null;
    const [opened, read] = await Promise.allSettled([
      this.#source.open(signal),
      Promise.all([this.#source.stored(), this.#rows.current()]),
      previous?.close(),
    ]);
    if (opened.status === "rejected") throw opened.reason;
    const sandbox = opened.value;
    try {
      if (read.status === "rejected") throw read.reason;
      const [stored, rows] = read.value;
      checkWanted(signal);
      await this.#restoreAll(sandbox, stored);
      await restoreRows(sandbox, rows);
      checkWanted(signal);
      // From here on, this child gets changes of system variables, because frames arrive in order.
      this.#sandbox = sandbox;
      await Promise.all([...this.#source.system()].map(([name, text]) => sandbox.bind(name, text)));
      checkWanted(signal);
      return sandbox;
    } catch (error) {
      if (this.#sandbox === sandbox) this.#sandbox = null;
      await sandbox.close();
      throw error;
    }
  }

  async #restoreAll(sandbox: Sandbox, stored: readonly VariableImage[]): Promise<void> {
    const all = [...stored.filter((image) => !this.#unsaved.has(image.name)), ...this.#unsaved.values()]
      .filter((image) => image !== null);
    this.#unloaded.clear();
    for (const { name, large } of all) if (large !== undefined) this.#unloaded.set(name, large);
    const images = all.filter(({ large }) => large === undefined);
    if (images.length === 0) return;
    const lost = lostOf(await sandbox.restore(images), images);
    if (lost.length > 0) this.#source.onLost(lost);
  }
}

interface Start {
  readonly child: Promise<Sandbox>;
  readonly controller: AbortController;
}

function checkWanted({ aborted }: AbortSignal): void {
  if (aborted) throw new SandboxEnded("it was stopped while it started");
}

/** A missing child is no fault, because the next child gets the change. */
function unlessGone(error: unknown): void {
  if (!(error instanceof SandboxEnded)) throw error;
}

function lostOf(reports: readonly VariableRestoreReport[], images: readonly VariableImage[]): MissingVariable[] {
  const statements = new Map(images.map(({ name, kind, source }) => [name, kind === "lost" ? source : ""]));
  return reports.filter(({ how }) => how === "lost")
    .map(({ name, reason }) => ({ name, reason, statement: statements.get(name) ?? "" }));
}

function notRun(why: string): RunReport {
  return bareReport(failedBlock("memory", { name: "Error", message: why }));
}

/** Each piece waits until the child has read the previous one, so the main process never holds the whole text. */
async function bindPieces(
  sandbox: Sandbox,
  { name, pieces }: { readonly name: string; readonly pieces: AsyncIterable<Uint8Array> },
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true });
    if (text !== "") await sandbox.bind(name, text, { user: true, part: "more" });
  }
  await sandbox.bind(name, decoder.decode(), { user: true, part: "last" });
}

const HELD_CHARS = 120;
const MAX_BYTES = 16 << 20;
const LAST_ITERATIONS = 8;

async function restoreRows(sandbox: Sandbox, rows: FormerResults): Promise<void> {
  if (rows.shown.length + rows.running.length > 0) await sandbox.restoreResults(rows);
}

class ShownRows {
  readonly #stored: () => Promise<readonly FormerResult[]>;
  #shown: readonly FormerResult[] | null = null;
  #running: FormerResult[] = [];
  #iteration = -1;

  constructor(stored: () => Promise<readonly FormerResult[]>) {
    this.#stored = stored;
  }

  /** The caller must call `begin` before a block runs, because the child may start for this block and needs the right
   * rows. */
  begin({ iteration }: Pick<BlockRun, "iteration">): void {
    if (iteration === this.#iteration) return;
    this.#rotate();
    this.#iteration = iteration;
  }

  add({ index }: Pick<BlockRun, "index">, { result, value }: RunReport): void {
    this.#running[index] = formerResult(result, value);
  }

  reset(): void {
    this.#shown = null;
    this.#running = [];
    this.#iteration = -1;
  }

  async current(): Promise<FormerResults> {
    this.#shown ??= await this.#stored();
    return { shown: bounded(this.#shown), running: bounded(this.#running), iteration: this.#iteration };
  }

  #rotate(): void {
    if (this.#iteration === -1) return;
    this.#shown = this.#running;
    this.#running = [];
    this.#iteration = -1;
  }
}

function formerResult(
  { ok, outcome, preview, type, stdout, stderr }: BlockResult,
  value: FormerResult["value"],
): FormerResult {
  const isGone = ok && outcome === "value" && value === null;
  return { value, held: isGone ? clip(preview || type || "a value", HELD_CHARS) : "", printed: stdout + stderr };
}

function bounded(rows: readonly FormerResult[]): readonly FormerResult[] {
  let bytes = 0;
  return Array.from(rows, (row = { value: null, held: "", printed: "" }) => {
    bytes += row.value?.length ?? 0;
    return bytes <= MAX_BYTES ? row : { ...row, value: null, held: `a value of ${row.value?.length ?? 0} bytes` };
  });
}

export async function storedRows(
  store: Pick<Store, "queries" | "iterations">,
  branchId: string,
): Promise<readonly FormerResult[]> {
  for (const { queryId, iterations } of (await store.queries(branchId, { newest: 2 })).toReversed()) {
    for (let position = iterations - 1; position >= Math.max(0, iterations - LAST_ITERATIONS); position--) {
      const [found] = await store.iterations(queryId, { after: position - 1, limit: 1 });
      if (found && found.blocks.length > 0) return found.blocks.map(({ result, value }) => formerResult(result, value));
    }
  }
  return [];
}
