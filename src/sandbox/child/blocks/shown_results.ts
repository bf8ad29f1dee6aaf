import type { FormerResult, FormerResults } from "../../../domain/query/block_result.ts";
import { decode } from "../../codec/codec.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { captured } from "../intrinsics/captured.ts";
import { look } from "../intrinsics/look.ts";
import type { InjectedNames } from "../realm/injected_names.ts";

interface Row {
  readonly descriptor: PropertyDescriptor;
  readonly printed: string;
}

type Rows = Row[];

/** `results` and `printed`: what the blocks of the last iteration that ran any had as values and printed. The blocks of
 * one iteration all see those of the one before, which is what the model was shown. */
export class ShownResults {
  readonly #names: InjectedNames;
  #iteration = -1;
  /** Whether the two names exist. */
  #isSet = false;
  /** Of the running iteration, by index. */
  #rows: Rows = bareList();

  constructor(names: InjectedNames) {
    this.#names = names;
  }

  begin(iteration: number): void {
    if (iteration === this.#iteration) return;
    if (this.#iteration !== -1 || !this.#isSet) this.#show(this.#rows);
    this.#iteration = iteration;
    this.#rows = bareList();
  }

  add(index: number, row: { readonly value: unknown; readonly printed: string }): void {
    this.#rows[index] = { descriptor: dataOf(row.value), printed: row.printed };
  }

  /** The next query starts at iteration 1 again. */
  endQuery(): void {
    if (this.#iteration === -1) return;
    this.#show(this.#rows);
    this.#iteration = -1;
  }

  restore({ shown, running, iteration }: FormerResults): void {
    this.#show(rowsOf(shown));
    this.#rows = rowsOf(running);
    this.#iteration = iteration;
  }

  #show(rows: Rows): void {
    this.#isSet = true;
    const results: unknown[] = [], printed: string[] = [];
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      captured.defineProperty(printed, i, dataOf(row?.printed ?? ""));
      if (row) captured.defineProperty(results, i, row.descriptor);
    }
    this.#names.set("results", results);
    this.#names.set("printed", printed);
  }
}

function dataOf(value: unknown): PropertyDescriptor {
  return look.setPrototypeOf({ value, writable: true, enumerable: true, configurable: true }, null);
}

function rowsOf(list: readonly FormerResult[]): Rows {
  const rows: Rows = bareList();
  for (let i = 0; i < list.length; i++) {
    const { value, held, printed } = list[i]!;
    rows[i] = { descriptor: held === "" ? dataOf(value ? decode(value) : undefined) : lost(i, held), printed };
  }
  return rows;
}

/** Reading it says what is gone: `undefined` would look like a result. */
function lost(index: number, held: string): PropertyDescriptor {
  const read = (): never => {
    throw new captured.Error(`results[${index}] was lost when the sandbox was restarted: it held ${held}`);
  };
  return look.setPrototypeOf({ get: read, enumerable: true, configurable: true }, null);
}
