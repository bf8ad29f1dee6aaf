import type { EnvironmentView } from "./spec.ts";

/** The live view with the signal of one call in place of its own. Not a copy: keys that change are read when asked
 * for, whatever object the view is. Read-only. */
export function callView(env: EnvironmentView, signal: AbortSignal): EnvironmentView {
  if (env.signal === signal) return env;
  const read = (key: PropertyKey): unknown => {
    if (key === "signal") return signal;
    const found: unknown = Reflect.get(env, key, env);
    return typeof found === "function" ? found.bind(env) : found;
  };
  const has = (key: PropertyKey): boolean => key === "signal" || Reflect.has(env, key);
  return new Proxy<EnvironmentView>(Object.create(null), {
    get: (_target, key) => read(key),
    has: (_target, key) => has(key),
    ownKeys: () => [...new Set([...Reflect.ownKeys(env), "signal"])],
    getOwnPropertyDescriptor: (_target, key) =>
      has(key) ? { value: read(key), enumerable: true, configurable: true } : undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
  });
}
