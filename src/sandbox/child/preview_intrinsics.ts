/** What looking at values needs, taken before foreign code can replace it. Nothing here runs code of a value. */
import { types } from "node:util";
import { getterOf, intrinsics, uncurry } from "../codec_intrinsics.ts";

type TextOf = (self: object) => string;

/** `toString` of the Temporal classes, where the runtime has them. */
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

/** State (0 pending, 1 fulfilled, 2 rejected) and result of a promise, from the runtime: nothing of it runs. */
function promiseDetails(): (promise: object) => readonly unknown[] {
  const core: unknown = Reflect.get(Deno, Reflect.get(Deno, "internal"))?.core;
  const details: unknown = typeof core === "object" && core !== null ? Reflect.get(core, "getPromiseDetails") : null;
  if (typeof details !== "function") throw new TypeError("Cannot look at promises: not in this runtime");
  return details as (promise: object) => readonly unknown[];
}

const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype);
const mapIterator: { next: () => IteratorResult<unknown> } = Object.getPrototypeOf(new Map().entries());
const setIterator: { next: () => IteratorResult<unknown> } = Object.getPrototypeOf(new Set().values());

export const look = {
  isProxy: types.isProxy,
  isMap: types.isMap,
  isSet: types.isSet,
  isDate: types.isDate,
  isRegExp: types.isRegExp,
  isNativeError: types.isNativeError,
  isAnyBuffer: types.isAnyArrayBuffer,
  isSharedBuffer: types.isSharedArrayBuffer,
  isTypedArray: types.isTypedArray,
  isDataView: types.isDataView,
  isPromise: types.isPromise,
  isBoxed: types.isBoxedPrimitive,
  isArguments: types.isArgumentsObject,
  isWeakMap: types.isWeakMap,
  isWeakSet: types.isWeakSet,
  isArray: Array.isArray,
  Map,
  object: Object.prototype as object,
  function: Function.prototype as object,
  array: Array.prototype as object,
  url: URL.prototype as object,
  error: Error.prototype as object,
  domException: DOMException.prototype as object,
  toStringTag: Symbol.toStringTag,
  create: Object.create,
  keys: Object.keys as (value: object) => string[],
  ownKeys: Reflect.ownKeys,
  hasOwn: Object.hasOwn as (value: object, key: PropertyKey) => boolean,
  descriptorOf: Object.getOwnPropertyDescriptor as (value: object, key: PropertyKey) => PropertyDescriptor | undefined,
  prototypeOf: Object.getPrototypeOf as (value: object) => object | null,
  quote: JSON.stringify as (text: string) => string,
  is: Object.is,
  now: performance.now.bind(performance),
  mapGet: uncurry(Map.prototype.get),
  mapSet: uncurry(Map.prototype.set),
  mapDelete: uncurry(Map.prototype.delete),
  WeakMap,
  weakGet: uncurry(WeakMap.prototype.get),
  weakSet: uncurry(WeakMap.prototype.set),
  promiseDetails: promiseDetails(),
  defineProperty: Object.defineProperty,
  setPrototypeOf: Object.setPrototypeOf as (value: object, prototype: object | null) => object,
  deleteProperty: Reflect.deleteProperty,
  imul: Math.imul,
  TypeError,
  SyntaxError,
  ReferenceError,
  Uint8Array,
  Uint32Array,
  mapSize: getterOf<number>(Map.prototype, "size"),
  mapEntries: uncurry(Map.prototype.entries),
  mapNext: uncurry(mapIterator.next),
  setSize: getterOf<number>(Set.prototype, "size"),
  setValues: uncurry(Set.prototype.values),
  setNext: uncurry(setIterator.next),
  time: uncurry(Date.prototype.getTime),
  iso: uncurry(Date.prototype.toISOString),
  source: getterOf<string>(RegExp.prototype, "source"),
  flags: intrinsics.flags,
  href: getterOf<string>(URL.prototype, "href"),
  domName: getterOf<string>(DOMException.prototype, "name"),
  domMessage: getterOf<string>(DOMException.prototype, "message"),
  bufferBytes: getterOf<number>(ArrayBuffer.prototype, "byteLength"),
  sharedBytes: getterOf<number>(SharedArrayBuffer.prototype, "byteLength"),
  viewTag: getterOf<string>(typedArray, Symbol.toStringTag),
  viewLength: getterOf<number>(typedArray, "length"),
  viewOffset: getterOf<number>(typedArray, "byteOffset"),
  viewBuffer: getterOf<ArrayBufferLike>(typedArray, "buffer"),
  dataBytes: getterOf<number>(DataView.prototype, "byteLength"),
  numberOf: uncurry(Number.prototype.valueOf) as (self: unknown) => number,
  stringOf: uncurry(String.prototype.valueOf) as (self: unknown) => string,
  booleanOf: uncurry(Boolean.prototype.valueOf) as (self: unknown) => boolean,
  bigintOf: uncurry(BigInt.prototype.valueOf) as (self: unknown) => bigint,
  symbolOf: uncurry(Symbol.prototype.valueOf) as (self: unknown) => symbol,
  symbolText: uncurry(Symbol.prototype.toString) as (self: symbol) => string,
  functionText: uncurry(Function.prototype.toString) as (self: object) => string,
  slice: uncurry(String.prototype.slice) as (self: string, from: number, to?: number) => string,
  charCodeAt: uncurry(String.prototype.charCodeAt),
  indexOf: uncurry(String.prototype.indexOf) as (self: string, part: string, from?: number) => number,
  repeat: uncurry(String.prototype.repeat),
  temporalTexts: temporalTexts(),
  /** Marks of the runtime on objects of the web's classes. */
  internalKeys: Reflect.ownKeys(new URLSearchParams()).filter((key) => key.toString() !== "Symbol(list)"),
} as const;
