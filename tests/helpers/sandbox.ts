import { bundleStale } from "../../scripts/bundle.ts";
import { openSandbox, type SandboxTestOptions } from "../../src/sandbox/host/open_sandbox.ts";
import { CHILD_ARGUMENT } from "../../src/sandbox/launch.ts";
import {
  type BlockRun,
  type FailedModule,
  type Grants,
  type HostCall,
  NO_GRANTS,
  type RunReport,
  type Sandbox,
  type SandboxLimits,
  type SandboxOptions,
} from "../../src/sandbox/sandbox.ts";
import { openKept } from "./kept_sandboxes.ts";
import { runs } from "./long_part.ts";

export const LIMITS: SandboxLimits = {
  memoryBytes: 256 << 20,
  outputBytes: 1 << 20,
  graceMs: 300,
  previewChars: 6000,
};

let building: Promise<void> | null = null;

export function buildSandbox(): Promise<void> {
  return building ??= bundleStale();
}

type Functions = Readonly<Record<string, (call: HostCall) => unknown>>;

export interface TestSandboxOptions {
  readonly functions?: Functions;
  readonly constants?: Readonly<Record<string, unknown>>;
  readonly limits?: Partial<SandboxLimits>;
  readonly onOutput?: (chunk: { readonly stream: 1 | 2; readonly text: string }) => void;
  readonly signal?: AbortSignal;
  readonly launcher?: readonly string[];
  readonly untimed?: readonly string[];
  readonly misnamed?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly grants?: Partial<Grants>;
  readonly globals?: readonly string[];
  readonly workspace?: string;
  readonly modules?: Readonly<Record<string, string>>;
  readonly onModuleFailed?: (module: FailedModule) => void;
  readonly environment?: Readonly<Record<string, string>>;
  readonly test?: SandboxTestOptions;
}

export class TestSandbox implements AsyncDisposable {
  #iteration = 1;
  #index = 0;

  constructor(readonly sandbox: Sandbox) {}

  run(code: string, options: Partial<Omit<BlockRun, "code">> = {}): Promise<RunReport> {
    if (options.iteration !== undefined && options.iteration !== this.#iteration) {
      this.#iteration = options.iteration;
      this.#index = 0;
    }
    return this.sandbox.run({ code, iteration: this.#iteration, index: this.#index++, deadlineMs: 20_000, ...options });
  }

  async show(code: string, options: Partial<Omit<BlockRun, "code">> = {}): Promise<string> {
    const { result } = await this.run(code, options);
    if (!result.ok) throw new Error(`${result.outcome}: ${result.error?.name}: ${result.error?.message}`);
    return result.preview;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox.close();
  }
}

/** With VIS_TEST_CHILD, an executable of `deno task compile`, tests start its children instead of the bundles. */
const executable = Deno.env.get("VIS_TEST_CHILD");
const COMPILED: SandboxTestOptions = executable ? { program: { path: executable, args: [CHILD_ARGUMENT] } } : {};

/** VIS_TEST_START_MS is the time that a child may take to start on a slow machine. */
const startMs = Number(Deno.env.get("VIS_TEST_START_MS") ?? "0");
export const SLOW: Pick<SandboxTestOptions, "startMs"> = startMs > 0 ? { startMs } : {};

export async function testSandbox({ test, ...options }: TestSandboxOptions = {}): Promise<TestSandbox> {
  await buildSandbox();
  return new TestSandbox(await openSandbox(sandboxOptions(options), { ...COMPILED, ...SLOW, ...test }));
}

/** Without `--all`, the sandbox may reuse a child of an earlier sandbox. */
export async function keptTestSandbox(options: Omit<TestSandboxOptions, "test"> = {}): Promise<TestSandbox> {
  if (executable || runs(0, 1) === 1) return await testSandbox(options);
  await buildSandbox();
  return new TestSandbox(await openKept({}, sandboxOptions(options)));
}

function sandboxOptions(options: Omit<TestSandboxOptions, "test">): SandboxOptions {
  const { functions = {}, constants = {}, limits = {}, grants = {}, ...rest } = options;
  return {
    functions: Object.keys(functions),
    constants,
    limits: { ...LIMITS, ...limits },
    grants: { ...NO_GRANTS, ...grants },
    onCall: async (call) => await functions[call.name]?.(call),
    ...rest,
  };
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie counts as ended, because another process must reap it.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

export function heldBytes(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
