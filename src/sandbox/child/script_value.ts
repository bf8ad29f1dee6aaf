import process from "node:process";

/**
 * Evaluates a bundle that stores what it makes under `Symbol.for(name)`, in the child's main thread. A script and not
 * a module: its text is read before Landlock shuts the files, and it runs when it is needed.
 */
export function scriptValue(text: string, name: string): unknown {
  const vm = process.getBuiltinModule("node:vm");
  const wrapped: unknown = new vm.Script(`(require) => {${text}\n}`, { filename: name }).runInThisContext();
  if (typeof wrapped !== "function") throw new TypeError(`Cannot evaluate the bundle of ${name}: it is not one`);
  wrapped((module: string) => process.getBuiltinModule(module));
  return Reflect.get(globalThis, Symbol.for(name));
}
