import { failedBlock } from "../../domain/query/block_result.ts";
import { Cancelled, SandboxEnded } from "../../domain/errors.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import type { BlockRun, RunReport, Sandbox, VariableRestoreReport } from "../../sandbox/sandbox.ts";

/** Binds a text of any size without holding it: each piece is sent when the child has taken the one before. */
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

export interface MissingVariable {
  readonly name: string;
  readonly reason: string;
  /** What made it, where that is known. */
  readonly statement: string;
}

export interface SessionSource {
  /** Starts a confined child; rejects when it cannot, when a required wall is missing, or when `signal` is aborted. */
  readonly open: (signal: AbortSignal) => Promise<Sandbox>;
  /** Newest stored versions of the live variables, in restore order. */
  readonly stored: () => Promise<readonly VariableImage[]>;
  /** Names and texts of the system variables. */
  readonly system: () => ReadonlyMap<string, string>;
  /** Told after each restore that lost something. */
  readonly onLost: (lost: readonly MissingVariable[]) => void;
  /** UTF-8 pieces of a text that is too large to be restored with the others. */
  readonly pieces?: (large: string) => AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** Which of these names a block may come to use. */
  readonly named?: (code: string, names: ReadonlySet<string>) => readonly string[];
}

/** Keeps one child alive for a conversation: starts it on first need and again after it ended, with the variables as
 * of the last finished block. Owns the child; `close` ends it. */
export class SandboxSession {
  readonly #source: SessionSource;
  /** What is under way; null where nothing is. */
  #start: Start | null = null;
  #sandbox: Sandbox | null = null;
  /** Whether the child has run a block, or is about to. */
  #used = false;
  /** Settles when all children that were stopped have ended. */
  #stopped: Promise<unknown> = Promise.resolve();
  /** Versions made since the last stored iteration, by name; null for a forgotten name. */
  readonly #unsaved = new Map<string, VariableImage | null>();
  /** Large texts that the living child does not have yet: name to the store's name of the text. */
  readonly #unloaded = new Map<string, string>();
  #closed = false;

  constructor(source: SessionSource) {
    this.#source = source;
  }

  /** The living child, or null where none is. */
  get living(): Sandbox | null {
    return this.#sandbox && !this.#sandbox.ended ? this.#sandbox : null;
  }

  /** The child that lives and has run a block: another one would not be what it is. */
  get used(): Sandbox | null {
    return this.#used ? this.living : null;
  }

  /** The child, started and restored. Callers at the same time share one start. Rejects with `Cancelled` once closed. */
  ready(): Promise<Sandbox> {
    if (this.#closed) return Promise.reject(new Cancelled("Conversation closed"));
    const living = this.living;
    if (living) return Promise.resolve(living);
    this.#start ??= this.#begin();
    return this.#start.child;
  }

  /** Work that runs no block, in the child with the large texts that the code names, and once more in another child where
   * it ends meanwhile. Rejects with `SandboxEnded` when that one ends as well. */
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

  /** The child, with the large texts that the code names; `failed` says which one it has no room for. */
  async readyFor(code: string): Promise<{ readonly sandbox: Sandbox; readonly failed: string | null }> {
    const sandbox = this.living ?? await this.ready();
    const { named, pieces } = this.#source;
    if (this.#unloaded.size === 0 || !named || !pieces) return { sandbox, failed: null };
    for (const name of named(code, new Set(this.#unloaded.keys()))) {
      try {
        await bindPieces(sandbox, { name, pieces: pieces(this.#unloaded.get(name) ?? "") });
      } catch (error) {
        if (!(error instanceof SandboxEnded)) throw error;
        return { sandbox, failed: `Cannot load ${name} into the sandbox: ${error.why} (sandbox.memoryMiB)` };
      }
      this.#unloaded.delete(name);
    }
    return { sandbox, failed: null };
  }

  /** Variables from outside: the living child gets them now, another one when it starts. */
  async give(images: readonly VariableImage[]): Promise<void> {
    this.remember(images);
    for (const { name, large } of images) {
      if (large === undefined) this.#unloaded.delete(name);
      else this.#unloaded.set(name, large);
    }
    await this.settled();
    await this.living?.restore(images.filter(({ large }) => large === undefined)).catch(unlessGone);
  }

  /** Makes a version the current one; a large text when a block names it. */
  async restore(image: VariableImage): Promise<readonly VariableRestoreReport[]> {
    const sandbox = await this.ready();
    if (image.large === undefined) return await sandbox.restore([image]);
    this.#unloaded.set(image.name, image.large);
    return [];
  }

  async run(block: BlockRun): Promise<RunReport> {
    const { sandbox, failed } = await this.readyFor(block.code);
    this.#used = true;
    const report = failed === null ? await sandbox.run(block) : notRun(failed);
    this.remember(report.saved);
    for (const { name } of report.saved) this.#unloaded.delete(name);
    return report;
  }

  /** What a child that is started before the iteration is stored must have. */
  remember(images: readonly VariableImage[]): void {
    for (const image of images) this.#unsaved.set(image.name, image);
  }

  /** Neither the child that lives nor one that is started before the iteration is stored has them. */
  async forget(names: readonly string[]): Promise<void> {
    for (const name of names) {
      this.#unsaved.set(name, null);
      this.#unloaded.delete(name);
    }
    await this.living?.forget(names).catch(unlessGone);
  }

  /** A version that is not stored yet. */
  unsaved(name: string): VariableImage | null {
    return this.#unsaved.get(name) ?? null;
  }

  get unsavedNow(): ReadonlyMap<string, VariableImage | null> {
    return new Map(this.#unsaved);
  }

  /** These are stored: they need not be remembered here, unless there is a newer version. */
  stored(images: ReadonlyMap<string, VariableImage | null>): void {
    for (const [name, image] of images) if (this.#unsaved.get(name) === image) this.#unsaved.delete(name);
  }

  /** Ends the child and forgets what is not stored. */
  async reset(): Promise<void> {
    await this.stop();
    this.#unsaved.clear();
    this.#unloaded.clear();
  }

  /** Resolves when no start is under way. */
  async settled(): Promise<void> {
    await this.#start?.child.catch(() => {});
  }

  /** Ends the child, also one that is still starting; the next use starts another one. */
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

  /** A child that is killed while it starts is worth another one. */
  async #openAgain(signal: AbortSignal): Promise<Sandbox> {
    for (let time = 1;; time++) {
      try {
        return await this.#open(signal);
      } catch (error) {
        if (this.#closed) throw new Cancelled("Conversation closed");
        if (!(error instanceof SandboxEnded) || signal.aborted || time > 1) throw error;
      }
    }
  }

  async #open(signal: AbortSignal): Promise<Sandbox> {
    const previous = this.#sandbox;
    this.#sandbox = null;
    const [opened, stored] = await Promise.allSettled([
      this.#source.open(signal),
      this.#source.stored(),
      previous?.close(),
    ]);
    if (opened.status === "rejected") throw opened.reason;
    const sandbox = opened.value;
    try {
      if (stored.status === "rejected") throw stored.reason;
      checkWanted(signal);
      await this.#restoreAll(sandbox, stored.value);
      checkWanted(signal);
      // From here on a system variable that changes is bound by whoever changes it; frames arrive in order.
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

/** A child that is being started; aborting ends it. */
interface Start {
  readonly child: Promise<Sandbox>;
  readonly controller: AbortController;
}

/** Throws SandboxEnded for a start that was stopped meanwhile. */
function checkWanted({ aborted }: AbortSignal): void {
  if (aborted) throw new SandboxEnded("it was stopped while it was starting");
}

/** The next child gets what this one did not. */
function unlessGone(error: unknown): void {
  if (!(error instanceof SandboxEnded)) throw error;
}

function lostOf(reports: readonly VariableRestoreReport[], images: readonly VariableImage[]): MissingVariable[] {
  const statements = new Map(images.map(({ name, kind, source }) => [name, kind === "lost" ? source : ""]));
  return reports.filter(({ how }) => how === "lost")
    .map(({ name, reason }) => ({ name, reason, statement: statements.get(name) ?? "" }));
}

function notRun(why: string): RunReport {
  const result = failedBlock("memory", { name: "Error", message: why });
  return { result, saved: [], reads: [], value: null, literal: false, notes: [] };
}
