import { ExtensionRegistry } from "./registry.ts";
import type { EnvironmentView, Extension, NudgeContext } from "./spec.ts";

/** Extensions import these helpers for their tests as `@vis/extension/testing`. */

interface OwnTest {
  readonly name: string;
  readonly run: () => unknown;
}

/** While Vis collects tests, modules register their tests here. Null means that `Deno.test` registers them. */
const COLLECTING: { into: OwnTest[] | null } = { into: null };

/** `vis extensions test` and `deno test` run the test, which fails if `run` throws or rejects. */
export function test(name: string, run: () => unknown): void {
  if (COLLECTING.into) COLLECTING.into.push({ name, run });
  else Deno.test(name, async () => void await run());
}

export async function collectTests(load: () => Promise<void>): Promise<readonly OwnTest[]> {
  const found: OwnTest[] = COLLECTING.into = [];
  try {
    await load();
    return found;
  } finally {
    COLLECTING.into = null;
  }
}

interface TestOptions {
  /** These keys override the keys that each test has, such as `workspace` "/". */
  readonly env?: Partial<EnvironmentView>;
  readonly config?: unknown;
  /** The tested extension requires these extensions. */
  readonly others?: readonly Extension[];
  /** The function receives the log entries of the extension, without the level "debug". */
  readonly log?: (event: string, data: Readonly<Record<string, unknown>>) => void;
}

interface TestedExtension {
  readonly isActive: boolean;
  readonly prompt: string;
  /** `name` has the form of blocks, such as "search.find", and the call has the checks of its arguments and its hooks. Rejects
   * with the error that the model would see. */
  call(name: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Returns the text that `doc` shows for a function or the whole extension, or null. */
  doc(name: string): string | null;
  /** Resolves with the extension's nudge for the next context, or with null. */
  nudge(context?: Partial<NudgeContext>): Promise<string | null>;
}

const NOWHERE: EnvironmentView = {
  envId: "test",
  conversationId: "test",
  branchId: "test",
  depth: 0,
  workspace: "/",
  maxIterations: 4,
};

/** The extension comes after `others`. Rejects for an invalid extension and for an invalid `config`. */
export async function testExtension(
  extension: Extension,
  { env = {}, config, others = [], log = () => {} }: TestOptions = {},
): Promise<TestedExtension> {
  const registry = new ExtensionRegistry({
    log: { debug: () => {}, info: log, warn: log, error: log },
    config: config === undefined ? {} : { [extension.namespace]: config },
  });
  for (const one of [...others, extension]) registry.register(one);
  const view = { ...NOWHERE, ...env };
  const active = await registry.activate(view);
  const own = active.nudges.find(({ namespace }) => namespace === extension.namespace);
  const iteration = {
    iteration: 0,
    currentMaxIterations: 4,
    prevExpressions: null,
    prevIteration: -1,
    userVarCount: 0,
  };
  return {
    isActive: active.list.some(({ namespace }) => namespace === extension.namespace),
    prompt: active.doc(extension.alias.alias)?.split("\n").slice(1).join("\n") ?? "",
    call: (name, ...args) =>
      active.call(name, args, { env: view, signal: view.signal ?? new AbortController().signal }),
    doc: (name) => active.doc(name),
    nudge: async (context = {}) => await own?.nudge({ ...iteration, environment: view, ...context }) ?? null,
  };
}
