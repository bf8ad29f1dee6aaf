import { SandboxEnded } from "../../src/domain/errors.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import { failedBlock } from "../../src/domain/query/host_call.ts";
import {
  bareReport,
  type BlockRun,
  type RunReport,
  type Sandbox,
  type SandboxOptions,
} from "../../src/sandbox/sandbox.ts";

/** The start of a child takes more processor time than most tests, so an engine may get the child of a closed engine
 * with the same setup. */
const kept = new Map<Child, string>();
const AT_MOST = 4;
const NO_RESULTS = { shown: [], running: [], iteration: -1 };
const FINISHED = ["value", "none", "error"];
/** A block with such a text may change more than its variables, so no other engine gets its child. */
const LASTING =
  /\b(?:globalThis|prototype|__proto__|define\w*|set\w*Of|freeze|assign)\b|\b(?:[A-Z]\w*|vis)\.[\w.]+\s*=/;

interface Child {
  readonly sandbox: Sandbox;
  readonly names: Set<string>;
  readonly stores: Set<unknown>;
  user: SandboxOptions | null;
}

/** A child of a closed engine has neither variables nor results. A resumed conversation needs a new child, so an engine
 * gets no child that worked on its store. */
export async function openKept(store: unknown, options: SandboxOptions): Promise<Sandbox> {
  const setup = setupOf(options);
  const child = (setup === null ? null : await takeChild(setup, store)) ?? await newChild(options);
  child.stores.add(store);
  child.user = options;
  return new KeptSandbox(child, setup, options.signal);
}

/** Returns null for options with grants, a launcher or modules. Without grants, a child does not use the workspace, so
 * the setup leaves the workspace out. */
function setupOf({ functions, constants, limits, untimed, misnamed, ...options }: SandboxOptions): string | null {
  const { net, read, write, env } = options.grants;
  const others = [net, read, write, env, options.launcher ?? [], Object.keys(options.modules ?? {})];
  return others.every((list) => list.length === 0)
    ? JSON.stringify({ functions, constants, limits, untimed, misnamed })
    : null;
}

async function newChild(options: SandboxOptions): Promise<Child> {
  const sandbox = await openSandbox({
    ...options,
    onCall: (call) => child.user?.onCall(call) ?? Promise.reject(new SandboxEnded("its engine has closed")),
    onOutput: (chunk) => child.user?.onOutput?.(chunk),
  });
  const child: Child = { sandbox, names: new Set(), stores: new Set(), user: options };
  return child;
}

async function takeChild(setup: string, store: unknown): Promise<Child | null> {
  const child = [...kept].find(([{ stores }, of]) => of === setup && !stores.has(store))?.[0];
  if (!child) return null;
  kept.delete(child);
  try {
    await child.sandbox.forget([...child.names]);
    await child.sandbox.restoreResults(NO_RESULTS);
    child.names.clear();
    return child;
  } catch {
    await child.sandbox.close();
    return null;
  }
}

class KeptSandbox implements Sandbox {
  readonly #child: Child;
  readonly #setup: string | null;
  readonly #signal: AbortSignal | undefined;
  readonly #closed = Promise.withResolvers<void>();
  #isReusable = true;
  #isClosed = false;

  constructor(child: Child, setup: string | null, signal: AbortSignal | undefined) {
    this.#child = child;
    this.#setup = setup;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => {
    this.#isReusable = false;
    void this.#child.sandbox.close();
  };

  get #open(): Sandbox {
    if (this.#isClosed) throw new SandboxEnded("it was closed");
    return this.#child.sandbox;
  }

  get pid() {
    return this.#child.sandbox.pid;
  }

  get walls() {
    return this.#child.sandbox.walls;
  }

  get ended() {
    return this.#isClosed || this.#child.sandbox.ended;
  }

  get gone() {
    return Promise.race([this.#closed.promise, this.#child.sandbox.gone]);
  }

  async run(block: BlockRun): Promise<RunReport> {
    if (this.#isClosed) {
      return bareReport(failedBlock("killed", { name: "SandboxEnded", message: "The sandbox ended: it was closed" }));
    }
    const reusable = this.#isReusable;
    this.#isReusable = false; // A block that is running when the sandbox closes ends with its child.
    const report = await this.#open.run(block);
    const { outcome, defined, touched, lost } = report.result;
    const saved = report.saved.map(({ name }) => name);
    for (const name of [...defined, ...touched, ...lost, ...saved]) this.#child.names.add(name);
    this.#isReusable = reusable && FINISHED.includes(outcome) && !LASTING.test(block.code);
    return report;
  }

  async restore(...[images]: Parameters<Sandbox["restore"]>) {
    for (const { name } of images) this.#child.names.add(name);
    return await this.#open.restore(images);
  }

  async bind(...[name, ...rest]: Parameters<Sandbox["bind"]>) {
    this.#child.names.add(name);
    await this.#open.bind(name, ...rest);
  }

  async render(...given: Parameters<Sandbox["render"]>) {
    return await this.#open.render(...given);
  }

  async restoreResults(...given: Parameters<Sandbox["restoreResults"]>) {
    await this.#open.restoreResults(...given);
  }

  async read(...given: Parameters<Sandbox["read"]>) {
    return await this.#open.read(...given);
  }

  async present(...given: Parameters<Sandbox["present"]>) {
    return await this.#open.present(...given);
  }

  async forget(...given: Parameters<Sandbox["forget"]>) {
    await this.#open.forget(...given);
  }

  async endQuery() {
    await this.#open.endQuery();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return await this.#closed.promise;
    this.#isClosed = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    await this.#keepOrClose().finally(() => this.#closed.resolve());
  }

  async #keepOrClose(): Promise<void> {
    const { sandbox } = this.#child;
    if (this.#setup === null || !this.#isReusable || sandbox.ended) return await sandbox.close();
    await sandbox.endQuery();
    this.#child.user = null;
    kept.set(this.#child, this.#setup);
    const [oldest] = kept.keys();
    if (kept.size <= AT_MOST || !oldest) return;
    kept.delete(oldest);
    await oldest.sandbox.close();
  }
}
