// Thin stand-in.
import type { VariableImage } from "../../domain/variable.ts";
import { decode, encode } from "../codec.ts";
import type { Declaration } from "./prepare_block.ts";
import { summarize } from "./summary.ts";
export class Variables {
  #names = new Set<string>();
  declare(names: readonly string[]): void {
    for (const name of names) {
      this.#names.add(name);
      if (!(name in globalThis)) {
        Object.defineProperty(globalThis, name, {
          value: undefined,
          writable: true,
          configurable: true,
          enumerable: true,
        });
      }
    }
  }
  afterBlock({ declarations }: { readonly declarations: readonly Declaration[]; readonly reads: readonly string[] }) {
    const saved: VariableImage[] = [];
    for (const d of declarations) {
      const value = Reflect.get(globalThis, d.name);
      const base = {
        name: d.name,
        root: null,
        requires: [],
        reason: "",
        summary: summarize(value, { declaration: d.declaration, doc: d.doc }),
      };
      if (typeof value === "function") {
        saved.push({ ...base, kind: "function", bytes: new Uint8Array(0), source: `(${d.source})` });
      } else {
        try {
          saved.push({ ...base, kind: "data", bytes: encode(value), source: "" });
        } catch { /* thin */ }
      }
    }
    return { saved, touched: [] as string[], pending: [] as string[], lost: [] as string[] };
  }
  restore(images: readonly VariableImage[]) {
    return images.map((i) => {
      this.declare([i.name]);
      Reflect.set(globalThis, i.name, i.kind === "data" ? decode(i.bytes) : undefined);
      return { name: i.name, how: "data" as const, reason: "" };
    });
  }
  forget(names: readonly string[]): void {
    for (const n of names) if (this.#names.delete(n)) Reflect.deleteProperty(globalThis, n);
  }
  read(name: string): unknown {
    return Reflect.get(globalThis, name);
  }
  lookup(name: string): unknown {
    return Reflect.get(globalThis, name);
  }
  bind(name: string, value: unknown, user: boolean): void {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: user });
    if (user) this.#names.add(name);
  }
  names(): readonly string[] {
    return [...this.#names];
  }
}
