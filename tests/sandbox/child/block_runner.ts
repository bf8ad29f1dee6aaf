import vm from "node:vm";
import { transform } from "sucrase";
import type { VariableImage } from "../../../src/domain/query/variable.ts";
import { prepareBlock, type RunnableBlock } from "../../../src/sandbox/child/compiler/prepare.ts";
import { restoredFault } from "../../../src/sandbox/child/compiler/refusals.ts";
import { refusedImage } from "../../../src/sandbox/child/variables/restore.ts";
import { type BlockEnd, RealmVariables } from "../../../src/sandbox/child/variables/variables.ts";
import type { VariableRestoreReport } from "../../../src/sandbox/sandbox.ts";

export interface Ran {
  readonly value: unknown;
  readonly error: unknown;
  readonly block: RunnableBlock;
  readonly end: BlockEnd;
}

export function prepare(source: string): ReturnType<typeof prepareBlock> {
  return prepareBlock(source, { loadSucrase: () => transform });
}

/** Runs blocks in this realm as the worker does, without its limits. `close` removes their variables. */
export class BlockRunner {
  variables = new RealmVariables();
  /** The newest version of every variable, as a store would keep it. */
  readonly stored = new Map<string, VariableImage>();
  #count = 0;

  async run(source: string): Promise<Ran> {
    const block = prepare(source);
    if (!block.ok) throw new SyntaxError(`${block.error.message} (${block.error.line}:${block.error.column})`);
    this.variables.begin(block, block.declarations.map(({ name }) => name));
    const { declarations } = block;
    const made = (of: object, name: string): void => this.variables.functions.made(of, { name, declarations });
    let value: unknown, error: unknown = null;
    try {
      value = await new vm.Script(block.code, { filename: `block${this.#count++}` }).runInThisContext()(made);
    } catch (thrown) {
      error = thrown;
    }
    await Promise.resolve();
    const end = this.variables.afterBlock(block, { ok: error === null });
    for (const image of end.saved) this.stored.set(image.name, image);
    return { value, error, block, end };
  }

  /** Returns the value of the last of several blocks. Throws the error of a failed block. */
  async value(...sources: string[]): Promise<unknown> {
    let value: unknown;
    for (const source of sources) {
      const ran = await this.run(source);
      if (ran.error !== null) throw ran.error;
      value = ran.value;
    }
    return value;
  }

  /** Acts like a restart: all variables are removed, and the stored ones restored. */
  restart(images: readonly VariableImage[] = [...this.stored.values()]): VariableRestoreReport[] {
    this.variables.forget(this.variables.names());
    this.variables = new RealmVariables();
    return this.variables.restore(images.map((image) => {
      const fault = image.kind === "function" || image.kind === "class" ? restoredFault(image) : null;
      return fault === null ? image : refusedImage(image, fault);
    }));
  }

  [Symbol.dispose](): void {
    this.variables.forget(this.variables.names());
  }
}
