import process from "node:process";

/** A bundle that is evaluated as a script: one function, which receives `require`. */
export interface ScriptSource {
  readonly text: string;
  /** V8's code cache of the text, built with the bundle. A cache from another V8 or with other flags is not used. */
  readonly cache?: Uint8Array<ArrayBuffer> | null;
}

export interface ScriptName {
  /** The bundle stores its result under `Symbol.for(name)`. */
  readonly name: string;
  /** A URL if the globals of a Deno module are needed: to scripts without one, a compiled runtime shows Node's. */
  readonly filename?: string;
}

/** Evaluates a bundle and returns its result. It is a script instead of a module because its text is read before
 * Landlock blocks files, it runs only when needed, and only scripts can have their own code cache. */
export function scriptValue({ text, cache }: ScriptSource, { name, filename = name }: ScriptName): unknown {
  const vm = process.getBuiltinModule("node:vm");
  const script = new vm.Script(text, { filename, ...cache && { cachedData: cache } });
  const evaluate: unknown = script.runInThisContext();
  if (typeof evaluate !== "function") throw new TypeError(`Cannot evaluate the bundle of ${name}: it is not one`);
  evaluate((module: string) => process.getBuiltinModule(module));
  const key = Symbol.for(name);
  const value: unknown = Reflect.get(globalThis, key);
  Reflect.deleteProperty(globalThis, key);
  return value;
}
