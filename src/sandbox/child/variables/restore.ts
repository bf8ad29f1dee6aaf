import type { VariableImage } from "../../../domain/query/variable.ts";
import { decode } from "../../codec/codec.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { restoredScript } from "../compiler/restored_script.ts";
import { look } from "../realm/captured.ts";
import { ownData } from "../view/kinds.ts";
import {
  bindOwn,
  changeHash,
  isObject,
  prototypeOf,
  type SaveParts,
  snapshot,
  UNSAVED,
  type VariableRecord,
} from "./snapshot.ts";

/** This type must equal the sandbox's `VariableRestoreReport`. */
export interface RestoredVariable {
  readonly name: string;
  readonly how: "data" | "eval" | "skipped" | "lost";
  readonly reason: string;
}

interface RestoreParts extends SaveParts {
  readonly evaluate: (code: string, name: string) => unknown;
  readonly declare: (image: VariableImage) => VariableRecord;
  readonly set: (name: string, value: unknown) => void;
  readonly remove: (name: string) => void;
}

export function refusedImage(image: VariableImage, fault: string): VariableImage {
  return { ...image, kind: "lost", reason: `${fault}, so Vis did not evaluate it` };
}

/** Use each object once, because it keeps the state of one restore. */
export class Restoring {
  readonly #parts: RestoreParts;
  readonly #images: Record<string, VariableImage> = look.create(null);
  readonly #reports: Record<string, RestoredVariable> = look.create(null);
  readonly #tables: Record<string, unknown> = look.create(null);
  readonly #missing: Record<string, true> = look.create(null);
  readonly #bound: Record<string, VariableRecord> = look.create(null);
  readonly shared: Record<string, string[]> = look.create(null);

  constructor(images: readonly VariableImage[], parts: RestoreParts) {
    this.#parts = parts;
    for (let i = 0; i < images.length; i++) this.#images[images[i]!.name] = images[i]!;
  }

  /** Evaluating the source of a function does not run its body, so functions come first; instances need the classes. */
  run(images: readonly VariableImage[]): RestoredVariable[] {
    for (let i = 0; i < images.length; i++) if (images[i]!.kind === "function") this.#visit(images[i]!.name);
    const reports = bareList<RestoredVariable>();
    for (let i = 0; i < images.length; i++) {
      this.#visit(images[i]!.name);
      reports[i] = this.#reports[images[i]!.name]!;
    }
    this.#undo(images);
    for (let i = 0; i < images.length; i++) this.#bindOwn(images[i]!);
    return look.setPrototypeOf(reports, look.array) as RestoredVariable[];
  }

  #visit(name: string): void {
    const image = this.#images[name];
    if (!image || this.#reports[name]) return;
    this.#reports[name] = { name, how: "skipped", reason: "it requires itself" };
    if (image.kind !== "function") {
      for (let i = 0; i < image.requires.length; i++) this.#visit(image.requires[i]!);
    }
    this.#reports[name] = this.#restore(image);
  }

  #restore(image: VariableImage): RestoredVariable {
    const { name, kind } = image;
    if (kind === "lost") return { name, how: "lost", reason: image.reason };
    if (kind === "pending") return { name, how: "lost", reason: "Vis cannot keep a promise" };
    try {
      const entry = this.#parts.declare(image);
      if (kind === "function" || kind === "class") this.#evaluate(image);
      else this.#bind(image, entry);
      return { name, how: kind === "function" || kind === "class" ? "eval" : "data", reason: "" };
    } catch (error) {
      this.#parts.remove(name);
      return { name, how: "lost", reason: messageOf(error) };
    }
  }

  #evaluate(image: VariableImage): void {
    const { name, source, requires } = image;
    const same = this.#alias(image);
    if (same !== null) return this.#parts.set(name, same);
    this.#parts.evaluate(restoredScript(image), name);
    const value = this.#parts.get(name);
    if (typeof value !== "function") {
      throw new look.TypeError("its source gives no function or class");
    }
    this.#parts.functions.add(value, { name, source, requires });
  }

  #alias({ root, source, kind }: VariableImage): unknown {
    const other = root === null ? undefined : this.#images[root];
    if (!other || other.kind !== kind || other.source !== source || other.root !== null) return null;
    this.#visit(other.name);
    return this.#reports[other.name]?.how === "eval" ? this.#parts.get(other.name) : null;
  }

  #bind(image: VariableImage, entry: VariableRecord): void {
    const { name, bytes, root } = image;
    this.#bound[name] = entry;
    if (root === null) {
      const value = this.#decode(bytes);
      entry.primitive = isObject(value) ? UNSAVED : value;
      entry.hash = isObject(value) ? `${image.kind}:${changeHash(bytes)}` : image.kind;
      return this.#parts.set(name, value);
    }
    entry.primitive = UNSAVED;
    const hash = changeHash(bytes);
    const table = this.#table(hash, bytes);
    for (let i = 0; i < image.requires.length; i++) {
      if (this.#missing[image.requires[i]!]) {
        throw new look.TypeError(`the class ${image.requires[i]} does not exist`);
      }
    }
    if (typeof table !== "object" || table === null || !look.hasOwn(table, root)) {
      throw new look.TypeError("the table has no such value");
    }
    const members = this.shared[hash] ??= bareList();
    members[members.length] = name;
    const value = ownData(table, root);
    this.#parts.set(name, value);
    entry.tableHash = hash;
    entry.hash = snapshot(entry, value, this.#parts)?.hash ?? "";
  }

  #undo(images: readonly VariableImage[]): void {
    const reached: Record<string, true> = look.create(null);
    for (let i = 0; i < images.length; i++) {
      const { name, kind, source } = images[i]!;
      if (kind === "class" && look.indexOf(source, "static") >= 0) this.#reach(name, reached);
    }
    for (const name in reached) {
      const entry = this.#bound[name];
      if (!entry || this.#reports[name]?.how !== "data") continue;
      const now = snapshot(entry, this.#parts.get(name), this.#parts);
      if (now && now.hash !== entry.hash) this.#bindAgain(name);
    }
  }

  #reach(name: string, reached: Record<string, true>): void {
    const image = this.#images[name];
    if (!image || reached[name]) return;
    reached[name] = true;
    if (image.kind !== "function" && image.kind !== "class") return;
    for (let i = 0; i < image.requires.length; i++) this.#reach(image.requires[i]!, reached);
  }

  #bindAgain(name: string): void {
    const image = this.#images[name]!;
    const table = image.root === null ? null : changeHash(image.bytes);
    const names = table === null ? null : this.shared[table];
    if (table === null || !names) return this.#bind(image, this.#bound[name]!);
    delete this.#tables[table];
    delete this.shared[table];
    for (let i = 0; i < names.length; i++) this.#bind(this.#images[names[i]!]!, this.#bound[names[i]!]!);
  }

  #bindOwn({ name, kind, bytes }: VariableImage): void {
    if ((kind !== "function" && kind !== "class") || look.viewLength(bytes) === 0) return;
    const value = this.#parts.get(name);
    try {
      const own = this.#decode(bytes);
      const isThere = typeof value === "function" || (typeof value === "object" && value !== null);
      if (isThere && typeof own === "object" && own !== null) bindOwn(value, own);
    } catch {
      return; // An own property contains an instance of a lost class, so the function stays as its code made it.
    }
  }

  #decode(bytes: VariableImage["bytes"]): unknown {
    return decode(bytes, { prototypeOf: (name) => this.#prototypeOf(name) });
  }

  #table(hash: string, bytes: VariableImage["bytes"]): unknown {
    if (hash in this.#tables) return this.#tables[hash];
    for (const name in this.#images) {
      const other = this.#images[name]!;
      if (other.root === null || (other.bytes !== bytes && changeHash(other.bytes) !== hash)) continue;
      for (let i = 0; i < other.requires.length; i++) this.#visit(other.requires[i]!);
    }
    return this.#tables[hash] = decode(bytes, {
      prototypeOf: (name) => {
        const prototype = this.#prototypeOf(name);
        if (!prototype) this.#missing[name] = true;
        return prototype ?? look.object;
      },
    });
  }

  #prototypeOf(name: string): object | null {
    return prototypeOf(this.#parts.get(name));
  }
}

function messageOf(error: unknown): string {
  const message = typeof error === "object" && error !== null && !look.isProxy(error)
    ? look.descriptorOf(error, "message")?.value
    : undefined;
  return typeof message === "string" && message !== ""
    ? look.slice(message, 0, 300)
    : "Vis could not evaluate its source";
}
