/** This module captures parts of the runtime before foreign code can replace them. Modules that run after foreign code
 * must use these parts, not methods of shared prototypes or iteration. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import { types } from "node:util";
import vm from "node:vm";
import { getterOf, intrinsics, uncurry } from "../../codec/intrinsics.ts";

const { apply, get } = Reflect;

/** The function has no effect inside a microtask, so the caller must be a timer or an immediate. */
function microtaskDrain(): () => void {
  const core: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;
  const drain: unknown = typeof core === "object" && core !== null ? Reflect.get(core, "runMicrotasks") : undefined;
  if (typeof drain !== "function") throw new TypeError("Cannot drain microtasks: this runtime has no such function");
  return () => void apply(drain, core, []);
}

const setProperty = Reflect.set;

/** The runtime would spread the empty argument list with an iterator that a block may have replaced. */
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
  context: {
    get: (): unknown => context.getStore(),
    run: (store: unknown, f: () => void): void => context.run(store, f),
    leave: (): void => context.enterWith(undefined),
  },
} as const;

type TextOf = (self: object) => string;

function temporalTexts(): Readonly<Record<string, TextOf>> {
  const table: Record<string, TextOf> = Object.create(null);
  const temporal: unknown = Reflect.get(globalThis, "Temporal");
  if (typeof temporal !== "object" || temporal === null) return table;
  for (const name of Object.getOwnPropertyNames(temporal)) {
    const prototype: unknown = Reflect.get(Object(Reflect.get(temporal, name)), "prototype");
    const toText = typeof prototype === "object" && prototype !== null ? Reflect.get(prototype, "toString") : null;
    if (typeof toText === "function") table[`Temporal.${name}`] = uncurry(toText) as TextOf;
  }
  return table;
}

function promiseDetails(): (promise: object) => readonly unknown[] {
  const core: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;
  const details: unknown = typeof core === "object" && core !== null ? Reflect.get(core, "getPromiseDetails") : null;
  if (typeof details !== "function") throw new TypeError("Cannot look at promises: this runtime has no such function");
  return details as (promise: object) => readonly unknown[];
}

const mapIterator: { next: () => IteratorResult<unknown> } = Object.getPrototypeOf(new Map().entries());
const setIterator: { next: () => IteratorResult<unknown> } = Object.getPrototypeOf(new Set().values());

export const look = {
  ...intrinsics,
  isAnyBuffer: types.isAnyArrayBuffer,
  isSharedBuffer: types.isSharedArrayBuffer,
  isDataView: types.isDataView,
  isArguments: types.isArgumentsObject,
  isWeakMap: types.isWeakMap,
  isWeakSet: types.isWeakSet,
  function: Function.prototype as object,
  error: Error.prototype as object,
  is: Object.is,
  now: performance.now.bind(performance),
  mapDelete: uncurry(Map.prototype.delete),
  WeakMap,
  weakGet: uncurry(WeakMap.prototype.get),
  weakSet: uncurry(WeakMap.prototype.set),
  promiseDetails: promiseDetails(),
  deleteProperty: Reflect.deleteProperty,
  imul: Math.imul,
  TypeError,
  SyntaxError,
  ReferenceError,
  Uint32Array,
  mapEntries: uncurry(Map.prototype.entries),
  mapNext: uncurry(mapIterator.next),
  setValues: uncurry(Set.prototype.values),
  setDelete: uncurry(Set.prototype.delete),
  setNext: uncurry(setIterator.next),
  iso: uncurry(Date.prototype.toISOString),
  sharedBytes: getterOf<number>(SharedArrayBuffer.prototype, "byteLength"),
  numberOf: uncurry(Number.prototype.valueOf) as (self: unknown) => number,
  stringOf: uncurry(String.prototype.valueOf) as (self: unknown) => string,
  booleanOf: uncurry(Boolean.prototype.valueOf) as (self: unknown) => boolean,
  bigintOf: uncurry(BigInt.prototype.valueOf) as (self: unknown) => bigint,
  symbolOf: uncurry(Symbol.prototype.valueOf) as (self: unknown) => symbol,
  functionText: uncurry(Function.prototype.toString) as (self: object) => string,
  repeat: uncurry(String.prototype.repeat),
  temporalTexts: temporalTexts(),
  internalKeys: Reflect.ownKeys(new URLSearchParams()).filter((key) => key.toString() !== "Symbol(list)"),
} as const;

/** A block cannot change the set; test a name with `set[name] === true`. */
export function nameSet(names: readonly string[]): Readonly<Record<string, true>> {
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(names.map((name) => [name, true]))));
}

export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly hint?: string;
  readonly advice?: string;
}

export function advisedFacts(name: string, message: string, advice: string): ErrorFacts {
  return { name, message: `${message}; ${advice}`, advice };
}

export function setErrorFacts(error: Error, { name, message, hint, advice }: ErrorFacts): Error {
  const set = (key: string, value: string): void => {
    captured.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false });
  };
  set("name", name);
  set("message", message);
  if (hint !== undefined) set("hint", hint);
  if (advice !== undefined) set("advice", advice);
  return error;
}
