import { AsyncLocalStorage } from "node:async_hooks";

const LIMIT = new AsyncLocalStorage<number | undefined>();

/** Runs work that waits for a lost server only this long; undefined for as long as others do. */
export function withPatience<T>(ms: number | undefined, work: () => T): T {
  return LIMIT.run(ms, work);
}

/** How long the work that calls this waits for a lost server; undefined if it has no limit of its own. */
export function ownPatience(): number | undefined {
  return LIMIT.getStore();
}
