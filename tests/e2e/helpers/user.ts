import assert from "node:assert/strict";
import { join } from "node:path";
import type { Launcher } from "../_launcher.ts";
import type { StoredQuery } from "../../../src/domain/query/stored_query.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Branch, Store } from "../../../src/persistence/store.ts";
import { type MockOptions, type OpenAiMock, startOpenAiMock } from "../../helpers/wires/openai_mock.ts";

export interface Ran {
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  /** The content of stdin, which ends after it. */
  readonly input?: string | Uint8Array<ArrayBuffer>;
  /** Added to the environment. An empty text removes a variable. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A shell line before the program, which it runs as `"$@"`. */
  readonly shell?: string;
}

export const KEY = "sk-test-not-to-be-shown";
/** Asserts that a run printed only its answer on stdout, and ended with exit code 0. */
export function answered(ran: Ran, stdout: string): void {
  assert.deepEqual([ran.code, ran.stdout], [0, stdout], ran.stderr);
}

/** A test of the workspace may print where it failed. */
const STACK = /^\s+at .*(?::\d+|<anonymous>|native)|file:\/\/\/(?!\S*\/vis-e2e-)/m;

/** Checks the rules for every run, failed or not: no stack, no escape sequence, no key, no words of a defect
 * and no warning of the runtime. */
export function checkClean({ stdout, stderr }: Pick<Ran, "stdout" | "stderr">): void {
  for (const text of [stdout, stderr]) {
    assert.doesNotMatch(text, STACK);
    assert.ok(!text.includes("\x1b"), `escape sequence in ${JSON.stringify(text)}`);
    assert.ok(!text.includes(KEY), `key in ${text}`);
    assert.doesNotMatch(text, /a defect|^\(node:\d+\) /m);
  }
}

export class Running {
  readonly pid: number;
  readonly over: Promise<Ran>;
  readonly #child: Deno.ChildProcess;
  stdout = "";
  stderr = "";

  constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.pid = child.pid;
    this.over = this.#end();
  }

  /** Resolves with the end of the run. Rejects if it printed output that no run may print. */
  get ended(): Promise<Ran> {
    return this.over.then((ran) => {
      checkClean(ran);
      return ran;
    });
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Waits for an expected action of the program. Fails if the program ends first. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    let over = false;
    const note = (): void => void (over = true);
    void this.over.then(note, note);
    const end = performance.now() + 60_000;
    while (!await holds()) {
      if (over || performance.now() > end) {
        throw new Error(`No ${what}. stdout: ${this.stdout}\nstderr: ${this.stderr}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #end(): Promise<Ran> {
    const out = this.#read(this.#child.stdout, (text) => this.stdout += text);
    const err = this.#read(this.#child.stderr, (text) => this.stderr += text);
    const [{ code, signal }] = await Promise.all([this.#child.status, out, err]);
    return { code, signal, stdout: this.stdout, stderr: this.stderr };
  }

  async #read(stream: ReadableStream<Uint8Array>, add: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) add(decoder.decode(bytes, { stream: true }));
  }
}

export class User implements AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  readonly database: string;
  readonly temporary: string;
  constructor(readonly folder: string, readonly launcher: Launcher, readonly mock: OpenAiMock) {
    this.home = join(folder, "home");
    this.workspace = join(folder, "work space");
    this.database = join(folder, "vis/vis.db");
    this.temporary = join(folder, "tmp");
  }

  static async make(launcher: Launcher, model: MockOptions = {}): Promise<User> {
    await launcher.ready();
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-e2e-" }));
    const user = new User(folder, launcher, await startOpenAiMock({ key: KEY, ...model }));
    for (const path of [user.home, user.workspace, user.temporary]) await Deno.mkdir(path);
    return user;
  }

  get env(): Record<string, string> {
    return {
      ...this.launcher.env,
      HOME: this.home,
      TMPDIR: this.temporary,
      VIS_HOME: join(this.folder, "vis"),
      VIS_BASE_URL: this.mock.baseUrl,
      VIS_API_KEY: KEY,
      VIS_MODEL: "mock-1",
    };
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Prevents a user without a provider from finding a model server of the machine that runs the tests. */
  async findNoServers(): Promise<void> {
    await Deno.mkdir(this.path("vis"));
    await Deno.writeTextFile(this.path("vis/config.jsonc"), '{ "localServers": false }');
  }

  async write(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(this.workspace, name);
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
    return path;
  }

  start(args: readonly string[], options: StartOptions = {}): Running {
    const { argv } = this.launcher;
    const [program, ...rest] = options.shell === undefined ? argv : ["sh", "-c", options.shell, "sh", ...argv];
    const env = Object.entries({ ...this.env, ...options.env }).filter(([, value]) => value !== "");
    const child = new Deno.Command(program ?? "", {
      args: [...rest, ...args],
      cwd: options.cwd ?? this.workspace,
      clearEnv: true,
      env: Object.fromEntries(env),
      stdin: options.input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (options.input !== undefined) void feed(child.stdin, options.input);
    return new Running(child);
  }

  async run(args: readonly string[], options: StartOptions = {}): Promise<Ran> {
    return await this.start(args, options).ended;
  }

  async look<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const store = await openStore({ path: this.database });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  async queries(): Promise<{ readonly branch: Branch; readonly queries: readonly StoredQuery[] }> {
    return await this.look(async (store) => {
      const branch = await store.latestConversation(this.workspace);
      assert.ok(branch, "a conversation is stored");
      return { branch, queries: await store.queries(branch.branchId) };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mock.close();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** A program may close a pipe without reading it. */
async function feed(
  stdin: WritableStream<Uint8Array<ArrayBuffer>>,
  input: string | Uint8Array<ArrayBuffer>,
): Promise<void> {
  const writer = stdin.getWriter();
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  await writer.write(bytes).catch(() => {});
  await writer.close().catch(() => {});
}

export function usersOf(
  launcher: Launcher,
): (work: (user: User) => Promise<void>, model?: MockOptions) => () => Promise<void> {
  return (work, model) => async () => {
    await using user = await User.make(launcher, model);
    await work(user);
  };
}
