import type { FormerResult, FormerResults } from "../../../domain/query/host_call.ts";
import { decode } from "../../codec/codec.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { SYSTEM_NAMES } from "../compiler/restored_script.ts";
import { advisedFacts, captured, look, nameSet, setErrorFacts } from "./captured.ts";

type Plain = Record<string, unknown>;

/** When a block ends, Vis undoes its changes to these names, except names of variables, and names that a block made
 * permanent. A variable of the same name hides the original, which stays reachable as `vis.NAME`; a module or namespace
 * is `vis.ext.NAME` as well. */
export class InjectedNames {
  readonly #values: Plain = look.create(null);
  readonly #vis: Plain = look.create(null);
  readonly #ext: Plain = look.create(null);

  readonly #isVariable: (name: string) => boolean;

  constructor(isVariable: (name: string) => boolean) {
    this.#isVariable = isVariable;
    captured.defineProperty(this.#vis, "ext", fixed({ value: this.#ext, enumerable: true }));
  }

  set(name: string, value: unknown): void {
    if (!look.hasOwn(this.#values, name)) this.#list(name, this.#vis);
    this.#values[name] = value;
    if (!this.#isVariable(name)) define(name, value);
  }

  setExtension(name: string, value: unknown): void {
    if (!look.hasOwn(this.#ext, name)) this.#list(name, this.#ext);
    this.set(name, value);
  }

  begin(): void {
    this.#values["vis"] = this.#vis;
    define("vis", this.#vis);
  }

  kindOf(name: string): "own" | "ext" | null {
    if (!look.hasOwn(this.#values, name) || name === "vis") return null;
    return look.hasOwn(this.#ext, name) ? "ext" : "own";
  }

  extensionOf(value: unknown): string | null {
    for (const name in this.#ext) {
      const own = this.#values[name];
      if (own === value) return name;
      if (typeof own !== "object" || own === null || look.isProxy(own)) continue;
      const keys = captured.ownKeys(own);
      for (let i = 0; i < keys.length; i++) {
        if (captured.getOwnPropertyDescriptor(own, keys[i]!)?.value === value) return name;
      }
    }
    return null;
  }

  descriptorOf(name: string): PropertyDescriptor | null {
    return look.hasOwn(this.#values, name) ? descriptor(this.#values[name]) : null;
  }

  restore(
    on: { readonly restored: (name: string) => void; readonly fixed: (name: string) => void },
  ): void {
    for (const name in this.#values) {
      const value = this.#values[name];
      const now = captured.getOwnPropertyDescriptor(globalThis, name);
      if (now && "value" in now && now.value === value && now.writable) continue;
      if (this.#isVariable(name)) continue;
      if (define(name, value)) on.restored(name);
      else {
        delete this.#values[name];
        on.fixed(name);
      }
    }
  }

  /** Vis replaces some values, so the getter reads the name at each use. */
  #list(name: string, list: Plain): void {
    if (name === "ext" || SYSTEM[name]) return;
    const get = (): unknown => this.#values[name];
    captured.defineProperty(list, name, fixed({ get, enumerable: true }));
  }
}

const SYSTEM = nameSet(SYSTEM_NAMES);

function fixed(of: PropertyDescriptor): PropertyDescriptor {
  return look.setPrototypeOf({ ...of, configurable: false }, null);
}

function descriptor(value: unknown): PropertyDescriptor {
  return look.setPrototypeOf({ value, writable: true, configurable: true, enumerable: false }, null);
}

function define(name: string, value: unknown): boolean {
  try {
    captured.defineProperty(globalThis, name, descriptor(value));
    return true;
  } catch {
    return false; // A block made the name permanent.
  }
}

interface Row {
  readonly descriptor: PropertyDescriptor;
  readonly printed: string;
}

type Rows = Row[];

/** The blocks of an iteration see `results` and `printed` of the latest earlier iteration that ran blocks. */
export class ShownResults {
  readonly #names: InjectedNames;
  #iteration = -1;
  #isSet = false;
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

/** `undefined` would look like a result, so a getter reports the loss. */
function lost(index: number, held: string): PropertyDescriptor {
  const read = (): never => {
    const message = `Cannot read results[${index}]: the sandbox restarted, and could not keep the value (${held})`;
    throw setErrorFacts(new captured.Error(), advisedFacts("Error", message, "compute it again"));
  };
  return look.setPrototypeOf({ get: read, enumerable: true, configurable: true }, null);
}
