/** Small checks of values and names that use no method of any prototype. */
import { intrinsics as own } from "./intrinsics.ts";

const TILDE = 126, ZERO = 48, NINE = 57;

export function escaped(text: string): string {
  return text.length > 0 && own.charCodeAt(text, 0) === TILDE ? "~" + text : text;
}

export function specialNumber(value: number): string {
  if (value !== value) return "~n";
  if (value === 0) return "~0";
  return value > 0 ? "~i" : "~j";
}

/** Whether it is a data property; accessors are not. */
export function hasValue(descriptor: PropertyDescriptor | undefined): descriptor is PropertyDescriptor {
  return descriptor !== undefined && own.hasOwn(descriptor, "value");
}

export function isIndex(key: string): boolean {
  if (key.length === 0 || key.length > 10 || (key.length > 1 && own.charCodeAt(key, 0) === ZERO)) return false;
  for (let i = 0; i < key.length; i++) {
    const code = own.charCodeAt(key, i);
    if (code < ZERO || code > NINE) return false;
  }
  return true;
}

export function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Checks a sample: a loop over a sparse array of length 4e9 would not end. */
export function isSparse(value: readonly unknown[]): boolean {
  const { length } = value;
  if (length <= 64) return false;
  let holes = 0;
  for (let i = 0; i < 32; i++) if (!own.descriptorOf(value, (i * length) / 32 >>> 0)) holes++;
  return holes > 16;
}

/** Foreign code may have given a built-in object a plain prototype; encoded as plain data, its content would be lost. */
export function isPlain(value: object): boolean {
  return !(own.isMap(value) || own.isSet(value) || own.isNativeError(value) || own.isDate(value) ||
    own.isRegExp(value) || own.isArrayBuffer(value) || own.isView(value) || own.isBoxed(value) || own.isPromise(value));
}

export function pathStep(name: string | number): string {
  if (name === "") return "";
  if (typeof name === "number") return `[${name}]`;
  if (own.charCodeAt(name, 0) === 60) return name;
  return isIdentifier(name) ? `.${name}` : `[${own.stringify(own.slice(name, 0, 60))}]`;
}

function isIdentifier(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const c = own.charCodeAt(name, i);
    const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36 || c > 127;
    if (!letter && (i === 0 || c < ZERO || c > NINE)) return false;
  }
  return name.length <= 60;
}
