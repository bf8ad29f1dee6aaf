import process from "node:process";

/** A bundle that is evaluated as a script: one function, which gets `require`. */
export interface ScriptSource {
  readonly text: string;
  /** V8's code cache of the text, made with the executable; what another V8 or other flags made is not used. */
  readonly cache?: Uint8Array<ArrayBuffer> | null;
}

export interface ScriptName {
  /** The bundle stores what it makes under `Symbol.for(name)`. */
  readonly name: string;
  /** A URL where the globals of a Deno module are needed: a compiled runtime shows Node's to scripts without one. */
  readonly filename?: string;
}

/**
 * Evaluates a bundle and gives what it made. A script and not a module: its text is read before Landlock shuts the
 * files, it runs when it is needed, and only scripts can bring their own code cache.
 */
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
