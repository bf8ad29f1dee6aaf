/** What inspecting values needs, captured before foreign code can replace it. Nothing here runs code of a value. */
import { types } from "node:util";
import { getterOf, intrinsics, uncurry } from "../../codec/intrinsics.ts";

type TextOf = (self: object) => string;

/** `toString` of the Temporal classes, if the runtime has them. */
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

/** State (0 pending, 1 fulfilled, 2 rejected) and result of a promise, read by the runtime without running any of its
 * code. */
function promiseDetails(): (promise: object) => readonly unknown[] {
  const core: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;
  const details: unknown = typeof core === "object" && core !== null ? Reflect.get(core, "getPromiseDetails") : null;
  if (typeof details !== "function") throw new TypeError("Cannot look at promises: not in this runtime");
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
  /** The runtime's marks on objects of web classes. */
  internalKeys: Reflect.ownKeys(new URLSearchParams()).filter((key) => key.toString() !== "Symbol(list)"),
} as const;
