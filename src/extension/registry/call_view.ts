import type { EnvironmentView } from "../spec.ts";

/** The live view plus some keys for one call, such as its signal. Not a copy: the keys of any view object are read on
 * access, since they change. Read-only. */
export function callView(env: EnvironmentView, own: Partial<EnvironmentView>): EnvironmentView {
  const read = (key: PropertyKey): unknown => {
    if (Object.hasOwn(own, key)) return Reflect.get(own, key);
    const found: unknown = Reflect.get(env, key, env);
    return typeof found === "function" ? found.bind(env) : found;
  };
  const has = (key: PropertyKey): boolean => Object.hasOwn(own, key) || Reflect.has(env, key);
  return new Proxy<EnvironmentView>(Object.create(null), {
    get: (_target, key) => read(key),
    has: (_target, key) => has(key),
    ownKeys: () => [...new Set([...keysOf(env), ...Reflect.ownKeys(own)])],
    getOwnPropertyDescriptor: (_target, key) =>
      has(key) ? { value: read(key), enumerable: true, configurable: true } : undefined,
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  });
}

/** Includes inherited keys: what all calls of an environment share is created once. */
function keysOf(env: EnvironmentView): string[] {
  const keys: string[] = [];
  for (const key in env) keys.push(key);
  return keys;
}
