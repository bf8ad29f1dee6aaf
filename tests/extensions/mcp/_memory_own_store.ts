import type { OwnStore } from "../../../src/extension/mod.ts";

/** Makes an `env.store` that keeps the newest values in memory. Its other methods are absent. */
export function memoryOwnStore(kept: Map<string, unknown> = new Map()): OwnStore {
  const store: Pick<OwnStore, "get" | "put"> = {
    get: (key, { scope = "conversation" } = {}) => Promise.resolve(kept.get(`${scope} ${key}`) as never),
    put: (key, value, { scope = "conversation" } = {}) => {
      kept.set(`${scope} ${key}`, structuredClone(value));
      return Promise.resolve({ version: 1 });
    },
  };
  return store as OwnStore;
}
