import type { VariableImage } from "../../../domain/query/variable.ts";
import { bareList } from "../../codec/intrinsics.ts";
import type { Declaration } from "../compiler/declarations.ts";
import { fileOfRestored } from "../compiler/restored_script.ts";
import { advisedFacts, captured, look, setErrorFacts } from "../realm/captured.ts";
import { KnownFunctions } from "./functions.ts";
import { type RestoredVariable, Restoring } from "./restore.ts";
import { addOnce, type BlockNames, codeHash, newEntry, presentImage, type VariableRecord } from "./snapshot.ts";
import { Saving } from "./saving.ts";

export interface BlockEnd {
  readonly saved: readonly VariableImage[];
  readonly touched: readonly string[];
  readonly pending: readonly string[];
  readonly lost: readonly string[];
}

const NO_DECLARATIONS: readonly Declaration[] = bareList();

function runScript(code: string, name: string): unknown {
  return new captured.Script(code, { filename: fileOfRestored(name) }).runInThisContext();
}

export class RealmVariables {
  readonly #global: object = globalThis;
  readonly #original: (name: string) => PropertyDescriptor | null;
  readonly #entries: Record<string, VariableRecord> = look.create(null);
  readonly #shadowed: Record<string, PropertyDescriptor> = look.create(null);
  readonly #fresh: Record<string, true> = look.create(null);
  readonly #system: Record<string, true> = look.create(null);
  #bound = bareList<string>();
  #running: BlockNames | null = null;
  readonly functions = new KnownFunctions();

  constructor(original: (name: string) => PropertyDescriptor | null = () => null) {
    this.#original = original;
  }

  begin(block: BlockNames, defined: readonly string[]): void {
    this.#running = block;
    this.declare(defined);
  }

  /** An existing variable keeps its value. A new variable begins as undefined, unless a block has made a global of this
   * name permanent. Throws SyntaxError for a name that the realm reserves. */
  declare(names: readonly string[]): void {
    for (let i = 0; i < names.length; i++) this.#declare(names[i]!);
  }

  #declare(name: string): VariableRecord {
    const known = this.#entries[name];
    const found = look.descriptorOf(this.#global, name);
    if (known && found && look.hasOwn(found, "value") && found.writable) return known;
    if (found && !found.configurable) {
      if (!look.hasOwn(found, "value") || !found.writable) {
        const message = `Cannot declare ${name}: the sandbox needs this name`;
        throw setErrorFacts(new look.SyntaxError(), advisedFacts("SyntaxError", message, "choose another name"));
      }
    } else {
      if (found && !known) this.#shadowed[name] = found;
      this.#define(name, undefined);
    }
    if (!known) this.#fresh[name] = true;
    return this.#entries[name] ??= newEntry(name);
  }

  #define(name: string, value: unknown): void {
    if (look.descriptorOf(this.#global, name)?.configurable === false) {
      look.defineProperty(this.#global, name, look.setPrototypeOf({ value }, null));
      return;
    }
    const descriptor: PropertyDescriptor & { __proto__: null } = {
      __proto__: null,
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    };
    look.defineProperty(this.#global, name, descriptor);
  }

  /** With `ok: false`, this method removes names that the block was the first to declare and whose value is still
   * undefined. */
  afterBlock(block: BlockNames, { ok = true }: { readonly ok?: boolean } = {}): BlockEnd {
    const { declarations, assigned = [], reads } = block;
    this.#running = null;
    for (let i = 0; i < declarations.length; i++) this.#describe(declarations[i]!, declarations[i]!.declaration);
    for (let i = 0; i < assigned.length; i++) this.#describe(assigned[i]!, null);
    if (!ok) this.#removeUnreached();
    for (const name in this.#fresh) delete this.#fresh[name];
    const all = this.#bound;
    for (let i = 0; i < reads.length; i++) all[all.length] = reads[i]!;
    this.#bound = bareList();
    return new Saving({
      entries: this.#entries,
      functions: this.functions,
      has: (name) => look.hasOwn(this.#global, name),
      get: (name) => this.#get(name),
      drop: (name) => this.#drop(name),
    }).run({ declarations, assigned, reads: all });
  }

  #describe(described: Declaration, declaration: string | null): void {
    const { name, doc, source, statement, requires } = described;
    const entry = this.#entries[name];
    if (!entry) return;
    if (declaration !== null) {
      entry.declaration = declaration;
      entry.doc = doc;
    }
    entry.source = source;
    entry.statement = statement;
    entry.requires = requires;
  }

  #removeUnreached(): void {
    for (const name in this.#fresh) if (this.#get(name) === undefined) this.#remove(name);
  }

  #get(name: string): unknown {
    const descriptor = look.descriptorOf(this.#global, name);
    return descriptor && look.hasOwn(descriptor, "value") ? descriptor.value : undefined;
  }

  #drop(name: string): void {
    delete this.#entries[name];
    delete this.#fresh[name];
  }

  #remove(name: string): void {
    const before = this.#original(name) ?? this.#shadowed[name];
    try {
      if (before) look.defineProperty(this.#global, name, look.setPrototypeOf(before, null));
      else if (!look.deleteProperty(this.#global, name)) this.#define(name, undefined);
    } catch {
      this.#define(name, undefined); // The block made the name permanent.
    }
    delete this.#shadowed[name];
    this.#drop(name);
  }

  restore(images: readonly VariableImage[]): RestoredVariable[] {
    const restoring = new Restoring(images, {
      functions: this.functions,
      evaluate: runScript,
      declare: (image) => this.#declareImage(image),
      get: (name) => this.#get(name),
      set: (name, value) => this.#define(name, value),
      remove: (name) => this.#remove(name),
    });
    const reports = restoring.run(images);
    for (const name in this.#fresh) delete this.#fresh[name];
    this.#regroup(restoring.shared);
    return reports;
  }

  #declareImage({ name, kind, bytes, root, source, requires, summary }: VariableImage): VariableRecord {
    const entry = this.#declare(name);
    const isCode = kind === "function" || kind === "class";
    entry.declaration = summary.declaration;
    entry.doc = summary.doc;
    entry.kind = kind;
    entry.source = isCode ? source : "";
    entry.requires = isCode ? requires : [];
    entry.classes = isCode ? [] : requires;
    entry.hash = isCode ? codeHash({ kind, source }, bytes) : "";
    entry.alias = isCode ? root ?? "" : "";
    return entry;
  }

  #regroup(shared: Readonly<Record<string, string[]>>): void {
    for (const hash in shared) {
      const members = shared[hash]!;
      const group = { members, coarse: false };
      for (let i = 0; i < members.length; i++) {
        const entry = this.#entries[members[i]!];
        if (entry) entry.group = group;
      }
    }
  }

  forget(names: readonly string[]): void {
    for (let i = 0; i < names.length; i++) if (this.#entries[names[i]!]) this.#remove(names[i]!);
  }

  read(name: string): unknown {
    if (!look.hasOwn(this.#global, name)) {
      throw new look.ReferenceError(`Cannot read ${name}: no variable in scope has this name`);
    }
    return this.#get(name);
  }

  lookup(name: string): unknown {
    return this.#get(name);
  }

  present(name: string): VariableImage | null {
    if (!look.hasOwn(this.#global, name)) return null;
    const value = this.#get(name), entry = { ...this.#entries[name] ?? newEntry(name) };
    const running = this.#running;
    const declarations = running?.declarations ?? NO_DECLARATIONS, assigned = running?.assigned ?? NO_DECLARATIONS;
    for (let i = 0; i < declarations.length; i++) this.#learn(entry, { made: declarations[i]!, declares: true });
    for (let i = 0; i < assigned.length; i++) this.#learn(entry, { made: assigned[i]!, declares: false });
    const image = presentImage(entry, value, { functions: this.functions, get: (other) => this.#get(other) });
    if (!this.#entries[name] && image?.kind !== "data") return null; // The platform made the other globals.
    if (image?.kind !== "function" && image?.kind !== "class") return image;
    for (const other in this.#entries) {
      if (this.#get(other) === value) return other === name ? image : { ...image, root: other };
    }
    return image;
  }

  /** The block may not have reached this statement, so only a function with the same text is known afterwards. The value
   * of `entry` can be an instance of a class with another name. */
  #learn(
    entry: VariableRecord,
    { made, declares }: { readonly made: Declaration; readonly declares: boolean },
  ): void {
    if (declares && made.name === entry.name) {
      entry.declaration = made.declaration;
      entry.doc = made.doc;
    }
    const value = this.#get(made.name);
    if (typeof value === "function") this.functions.learn(value, made);
  }

  /** The next end of a block saves a variable with `user`. */
  bind(name: string, value: unknown, { user = false }: { readonly user?: boolean } = {}): void {
    if (!user) {
      this.#system[name] = true;
      return this.#define(name, value);
    }
    const entry = this.#declare(name);
    entry.hash = "";
    entry.group = null;
    addOnce(this.#bound, name);
    this.#define(name, value);
  }

  /** The main process stores the text, so blocks do not save an unchanged text. */
  bindKept(name: string, text: string): void {
    const entry = this.#declare(name);
    delete this.#fresh[name];
    entry.declaration = "const";
    entry.kind = "data";
    entry.hash = "";
    entry.group = null;
    entry.primitive = text;
    this.#define(name, text);
  }

  has(name: string): boolean {
    return this.#entries[name] !== undefined;
  }

  names(): string[] {
    return look.keys(this.#entries);
  }

  allNames(): string[] {
    const names = this.names();
    for (const name in this.#system) if (!this.#entries[name]) names[names.length] = name;
    return names;
  }
}
