import { blockResult } from "../../src/domain/query/host_call.ts";
import type { VariableImage } from "../../src/domain/query/variable.ts";
import { encode } from "../../src/sandbox/codec/codec.ts";
import type {
  BlockRun,
  RenderReport,
  RunReport,
  Sandbox,
  VariableRestoreReport,
  Walls,
} from "../../src/sandbox/sandbox.ts";

export const WALLS: Walls = {
  realm: true,
  permissions: true,
  process: true,
  kernel: { landlock: 0, seccomp: false },
  failed: [],
};

export function dataImage(name: string, value: unknown): VariableImage {
  const bytes = encode(value, { maxBytes: 1 << 20 });
  const summary = {
    declaration: "const",
    type: "number",
    size: null,
    shape: String(value),
    inline: String(value),
    doc: "",
  };
  return { name, kind: "data", bytes, root: null, source: "", requires: [], reason: "", summary };
}

export function runReport(fields: Partial<RunReport> = {}): RunReport {
  const result = blockResult({ ok: true, outcome: "none" });
  return { result, saved: [], reads: [], madeFrom: new Map(), value: null, literal: false, notes: [], ...fields };
}

export class FakeSandbox implements Sandbox {
  readonly pid = 1;
  readonly walls = WALLS;
  ended = false;
  closed = 0;
  readonly bound: [string, unknown][] = [];
  readonly restored: VariableImage[] = [];
  readonly forgotten: string[] = [];
  readonly #gone = Promise.withResolvers<void>();
  readonly #run: (block: BlockRun) => RunReport | Promise<RunReport>;

  constructor(run: (block: BlockRun) => RunReport | Promise<RunReport> = () => runReport()) {
    this.#run = run;
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  async run(block: BlockRun): Promise<RunReport> {
    return await this.#run(block);
  }
  render(text: string): Promise<RenderReport> {
    return Promise.resolve({ ok: true, from: "literal", text });
  }
  restore(images: readonly VariableImage[]): Promise<readonly VariableRestoreReport[]> {
    this.restored.push(...images);
    return Promise.resolve(
      images.map(({ name, kind, reason }) => ({ name, how: kind === "lost" ? "lost" : "data", reason })),
    );
  }
  restoreResults(): Promise<void> {
    return Promise.resolve();
  }
  bind(name: string, value: unknown): Promise<void> {
    this.bound.push([name, value]);
    return Promise.resolve();
  }
  read(): Promise<unknown> {
    return Promise.resolve(undefined);
  }
  present(): Promise<null> {
    return Promise.resolve(null);
  }
  forget(names: readonly string[]): Promise<void> {
    this.forgotten.push(...names);
    return Promise.resolve();
  }
  endQuery(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    this.ended = true;
    this.closed++;
    this.#gone.resolve();
    return Promise.resolve();
  }
}
