/** What the child itself needs from the runtime, captured before its global is emptied and before foreign code can
 * replace anything. Modules that run after foreign code use these, null-prototype objects and their own classes. They never use methods of shared prototypes, iteration protocols, or globals looked up at the time of use. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import { types } from "node:util";
import vm from "node:vm";

const { apply, get } = Reflect;

/** Drains the microtask queue immediately. It does nothing inside a microtask: call it from a timer or an immediate. */
function microtaskDrain(): () => void {
  const core: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;
  const drain: unknown = typeof core === "object" && core !== null ? Reflect.get(core, "runMicrotasks") : undefined;
  if (typeof drain !== "function") throw new TypeError("Cannot drain microtasks: not in this runtime");
  return () => void apply(drain, core, []);
}

const setProperty = Reflect.set;

/** Calls without the empty argument list, which the runtime would spread with an iterator that a block may have
 * replaced. */
function immediate(f: () => void): void {
  setProperty(setImmediate(f), "_argv", undefined);
}

const context = new AsyncLocalStorage<unknown>();

export const captured = {
  Script: vm.Script,
  createContext: vm.createContext,
  Error,
  Promise,
  TypeError,
  RangeError,
  TextEncoder,
  apply,
  get,
  ownKeys: Reflect.ownKeys,
  defineProperty: Object.defineProperty,
  getPrototypeOf: Object.getPrototypeOf,
  getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
  freeze: Object.freeze,
  then: Promise.prototype.then,
  isPromise: types.isPromise,
  isProxy: types.isProxy,
  now: performance.now.bind(performance),
  setTimeout: globalThis.setTimeout.bind(globalThis),
  clearTimeout: globalThis.clearTimeout.bind(globalThis),
  setImmediate: immediate,
  runMicrotasks: microtaskDrain(),
  /** Which run started the current code: follows promises and timers, unlike a variable. */
  context: {
    get: (): unknown => context.getStore(),
    run: (store: unknown, f: () => void): void => context.run(store, f),
    leave: (): void => context.enterWith(undefined),
  },
} as const;
