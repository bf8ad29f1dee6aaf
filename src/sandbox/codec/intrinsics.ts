/** Foreign code may replace methods of prototypes later, so the codec calls these captured functions. */
import { types } from "node:util";

const { setPrototypeOf, getPrototypeOf } = Object;
const { isProxy } = types;

export function uncurry<T, A extends unknown[], R>(f: (this: T, ...args: A) => R): (self: T, ...args: A) => R {
  return Function.prototype.call.bind(f) as (self: T, ...args: A) => R;
}

export function getterOf<R>(owner: object, key: PropertyKey): (self: object) => R {
  const get = Object.getOwnPropertyDescriptor(owner, key)?.get;
  if (!get) throw new TypeError(`Cannot find the getter ${String(key)}: this runtime has none`);
  return uncurry(get) as (self: object) => R;
}

/** The array has no prototype, so appending runs no setter that foreign code defined on Array.prototype. */
export function bareList<T>(): T[] {
  return setPrototypeOf([], null);
}

const objectPrototype: object = Object.prototype;
const resultNames = new WeakMap<object, string>();
const resultPrototypes: Record<string, object> = Object.create(null);
const nameOfResult = uncurry(resultNames.get).bind(null, resultNames) as (prototype: object) => string | undefined;

/** Objects with this prototype count as plain, and the codec restores the prototype by its name. The prototype must be
 * a Proxy, and its name must begin with ":". */
export function addResultPrototype(name: string, prototype: object): void {
  resultNames.set(prototype, name);
  resultPrototypes[name] = prototype;
}

function prototypeOf(value: object): object | null {
  const found: object | null = getPrototypeOf(value);
  if (found === objectPrototype || found === null || !isProxy(found)) return found;
  return nameOfResult(found) === undefined ? found : objectPrototype;
}

const typedArrays = [
  ...[Uint8Array, Uint8ClampedArray, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
  ...(typeof Float16Array === "undefined" ? [] : [Float16Array]),
];
type ViewConstructor = new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView<ArrayBuffer>;

function viewConstructors(): Readonly<Record<string, ViewConstructor>> {
  const table: Record<string, ViewConstructor> = Object.create(null);
  for (const one of typedArrays) table[one.name] = one;
  table.DataView = DataView;
  return table;
}

function viewPrototypes(): Readonly<Record<string, object>> {
  const table: Record<string, object> = Object.create(null);
  for (const one of [...typedArrays, DataView]) table[one.name] = one.prototype;
  return table;
}

const errors = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError];

function errorPrototypes(): Readonly<Record<string, object>> {
  const table: Record<string, object> = Object.create(null);
  for (const one of errors) table[one.name] = one.prototype;
  return table;
}

function flagGetters(): readonly (readonly [string, (self: object) => boolean])[] {
  const names = { d: "hasIndices", g: "global", i: "ignoreCase", m: "multiline", s: "dotAll" };
  const more = { u: "unicode", v: "unicodeSets", y: "sticky" };
  return Object.entries({ ...names, ...more }).map(([flag, name]) =>
    [flag, getterOf<boolean>(RegExp.prototype, name)] as const
  );
}

const typedArray: object = Object.getPrototypeOf(Uint8Array.prototype);
const encoder = new TextEncoder();
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const { apply } = Reflect;
const { fromCharCode } = String;
const encodeInto = TextEncoder.prototype.encodeInto;
const decodeText = TextDecoder.prototype.decode;

export const intrinsics = {
  isProxy,
  isMap: types.isMap,
  isSet: types.isSet,
  isDate: types.isDate,
  isRegExp: types.isRegExp,
  isNativeError: types.isNativeError,
  isArrayBuffer: types.isArrayBuffer,
  isView: ArrayBuffer.isView,
  isTypedArray: types.isTypedArray,
  isBoxed: types.isBoxedPrimitive,
  isPromise: types.isPromise,
  isArray: Array.isArray,
  array: Array.prototype as object,
  object: objectPrototype,
  map: Map.prototype as object,
  set: Set.prototype as object,
  date: Date.prototype as object,
  regExp: RegExp.prototype as object,
  url: URL.prototype as object,
  domException: DOMException.prototype as object,
  domExceptionName: getterOf<string>(DOMException.prototype, "name"),
  domExceptionMessage: getterOf<string>(DOMException.prototype, "message"),
  arrayBuffer: ArrayBuffer.prototype as object,
  toStringTag: Symbol.toStringTag,
  Map,
  Set,
  Date,
  RegExp,
  Error,
  URL,
  Uint8Array,
  Uint16Array,
  ArrayBuffer,
  BigInt,
  Number,
  create: Object.create,
  isExtensible: Object.isExtensible,
  isSealed: Object.isSealed,
  isFrozen: Object.isFrozen,
  preventExtensions: Object.preventExtensions,
  seal: Object.seal,
  freeze: Object.freeze as (value: object) => object,
  hasOwn: Object.hasOwn as (value: object, key: PropertyKey) => boolean,
  keys: Object.keys as (value: object) => string[],
  ownKeys: Reflect.ownKeys,
  descriptorOf: Object.getOwnPropertyDescriptor,
  defineProperty: Object.defineProperty,
  prototypeOf,
  resultName: (value: object): string | undefined => {
    const found: object | null = getPrototypeOf(value);
    return found === objectPrototype || found === null ? undefined : nameOfResult(found);
  },
  resultPrototype: (name: string): object | undefined => resultPrototypes[name],
  setPrototypeOf: Object.setPrototypeOf as (value: object, prototype: object | null) => object,
  stringify: JSON.stringify as (value: unknown) => string,
  parse: JSON.parse as (text: string) => unknown,
  mapGet: uncurry(Map.prototype.get),
  mapSet: uncurry(Map.prototype.set),
  mapEach: uncurry(Map.prototype.forEach),
  mapSize: getterOf<number>(Map.prototype, "size"),
  setAdd: uncurry(Set.prototype.add),
  setEach: uncurry(Set.prototype.forEach),
  setSize: getterOf<number>(Set.prototype, "size"),
  time: uncurry(Date.prototype.getTime),
  source: getterOf<string>(RegExp.prototype, "source"),
  flags: flagGetters(),
  href: getterOf<string>(URL.prototype, "href"),
  urlKeys: Reflect.ownKeys(new URL("a:b")),
  isResizable: getterOf<boolean>(ArrayBuffer.prototype, "resizable"),
  symbolText: uncurry(Symbol.prototype.toString) as (self: symbol) => string,
  bufferBytes: getterOf<number>(ArrayBuffer.prototype, "byteLength"),
  viewTag: getterOf<string | undefined>(typedArray, Symbol.toStringTag),
  viewBuffer: getterOf<ArrayBufferLike>(typedArray, "buffer"),
  viewOffset: getterOf<number>(typedArray, "byteOffset"),
  viewLength: getterOf<number>(typedArray, "length"),
  dataBuffer: getterOf<ArrayBufferLike>(DataView.prototype, "buffer"),
  dataOffset: getterOf<number>(DataView.prototype, "byteOffset"),
  dataBytes: getterOf<number>(DataView.prototype, "byteLength"),
  bytesSet: uncurry(Uint8Array.prototype.set) as (self: Uint8Array, from: Uint8Array, at: number) => void,
  charCodeAt: uncurry(String.prototype.charCodeAt),
  slice: uncurry(String.prototype.slice) as (self: string, from: number, to?: number) => string,
  indexOf: uncurry(String.prototype.indexOf) as (self: string, part: string, from?: number) => number,
  isWellFormed: uncurry(String.prototype.isWellFormed),
  lastIndexOf: uncurry(String.prototype.lastIndexOf) as (self: string, part: string) => number,
  hex: uncurry(BigInt.prototype.toString) as (self: bigint, radix: number) => string,
  encodeInto: (text: string, into: Uint8Array<ArrayBuffer>) => callEncode(encoder, text, into),
  utf8: (bytes: Uint8Array<ArrayBuffer>): string => callDecode(utf8, bytes),
  fromUnits: (units: readonly number[]): string => apply(fromCharCode, null, units),
  viewConstructors: viewConstructors(),
  viewPrototypes: viewPrototypes(),
  errorPrototypes: errorPrototypes(),
} as const;

const callEncode = uncurry(encodeInto) as (
  self: TextEncoder,
  text: string,
  into: Uint8Array<ArrayBuffer>,
) => TextEncoderEncodeIntoResult;
const callDecode = uncurry(decodeText) as (self: TextDecoder, bytes: Uint8Array<ArrayBuffer>) => string;

export function flagsOf(value: object): string {
  let flags = "";
  for (let i = 0; i < intrinsics.flags.length; i++) {
    if (intrinsics.flags[i]![1](value)) flags += intrinsics.flags[i]![0];
  }
  return flags;
}
