import { look } from "../realm/captured.ts";

export type ObjectKind =
  | "proxy"
  | "function"
  | "class"
  | "array"
  | "arguments"
  | "typed"
  | "dataview"
  | "buffer"
  | "map"
  | "set"
  | "date"
  | "regexp"
  | "error"
  | "promise"
  | "weak"
  | "boxed"
  | "url"
  | "object";

/** A prototype can claim anything, so a prototype alone decides nothing. */
export function kindOf(value: object): ObjectKind {
  if (look.isProxy(value)) return "proxy";
  if (typeof value === "function") return isClassText(look.functionText(value)) ? "class" : "function";
  if (look.isArray(value)) return "array";
  const prototype = look.prototypeOf(value);
  if (look.isNativeError(value)) return "error";
  if (look.isMap(value)) return "map";
  if (look.isSet(value)) return "set";
  if (look.isDate(value)) return "date";
  if (look.isTypedArray(value)) return "typed";
  if (look.isRegExp(value)) return "regexp";
  if (look.isAnyBuffer(value)) return "buffer";
  if (look.isDataView(value)) return "dataview";
  if (look.isPromise(value)) return "promise";
  if (look.isWeakMap(value) || look.isWeakSet(value)) return "weak";
  if (look.isBoxed(value)) return "boxed";
  if (prototype === look.object && look.isArguments(value)) return "arguments";
  return prototype === look.url && hrefOf(value) !== null ? "url" : "object";
}

/** The lookup neither waits for the promise nor handles its rejection. */
export function promiseState(
  promise: object,
): { readonly state: "pending" | "fulfilled" | "rejected"; readonly result: unknown } {
  const details = look.promiseDetails(promise);
  const state = details[0] === 0 ? "pending" : details[0] === 1 ? "fulfilled" : "rejected";
  return { state, result: state === "pending" ? undefined : details[1] };
}

export function isClassText(text: string): boolean {
  if (look.slice(text, 0, 5) !== "class") return false;
  const next = look.charCodeAt(text, 5);
  return next === 32 || next === 123 || next === 10 || next === 9 || next === 13 || next === 47;
}

export function hrefOf(value: object): string | null {
  try {
    return look.href(value);
  } catch {
    return null; // The object only inherits from URL.prototype.
  }
}

/** Returns undefined for an accessor, which does not run. */
export function ownData(value: object, key: PropertyKey): unknown {
  const descriptor = look.descriptorOf(value, key);
  return descriptor && look.hasOwn(descriptor, "value") ? descriptor.value : undefined;
}

export function inheritedText(value: object, key: PropertyKey): string | null {
  let at: object | null = value;
  for (let i = 0; at !== null && i < 50 && !look.isProxy(at); i++) {
    const descriptor = look.descriptorOf(at, key);
    if (descriptor) {
      const found: unknown = look.hasOwn(descriptor, "value") ? descriptor.value : null;
      return typeof found === "string" ? found : null;
    }
    at = look.prototypeOf(at);
  }
  return null;
}

export function classNameOf(value: object): string {
  let at = look.prototypeOf(value);
  for (let i = 0; at !== null && i < 50 && !look.isProxy(at); i++) {
    const made = ownData(at, "constructor");
    if (typeof made === "function" && !look.isProxy(made)) {
      const name = ownData(made, "name");
      return typeof name === "string" ? look.slice(name, 0, 100) : "";
    }
    at = look.prototypeOf(at);
  }
  return "";
}

export function tagOf(value: object): string {
  const tag = inheritedText(value, look.toStringTag);
  return tag === null ? "" : look.slice(tag, 0, 100);
}

export function errorText(value: object): { readonly name: string; readonly message: string } {
  if (look.prototypeOf(value) === look.domException) {
    return { name: look.domExceptionName(value), message: look.domExceptionMessage(value) };
  }
  const name = inheritedText(value, "name") ?? "Error", message = inheritedText(value, "message") ?? "";
  if (name !== "Error") return { name, message };
  return { name: classNameOf(value) || name, message };
}

export function lengthOf(value: object): number {
  if (look.isTypedArray(value)) return look.viewLength(value);
  const length: unknown = look.descriptorOf(value, "length")?.value;
  return typeof length === "number" ? length : 0;
}

export function bytesOf(value: object, kind: ObjectKind): number {
  try {
    if (kind === "dataview") return look.dataBytes(value);
    return look.isSharedBuffer(value) ? look.sharedBytes(value) : look.bufferBytes(value);
  } catch {
    return 0; // The buffer is detached.
  }
}

export function isDigits(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const c = look.charCodeAt(key, i);
    if (c < 48 || c > 57) return false;
  }
  return key.length > 0;
}

export const ERROR_PARTS: readonly string[] = ["cause", "errors", "error", "suppressed"];

export function isInternal(key: symbol): boolean {
  for (let i = 0; i < look.internalKeys.length; i++) if (look.internalKeys[i] === key) return true;
  return false;
}

interface ValueType {
  readonly type: string;
  /** The size counts characters of a string, items of a collection, keys of an object, or bytes of a buffer. */
  readonly size: number | null;
}

/** The call runs no code of the value. */
export function typeOf(value: unknown): ValueType {
  if (value === null) return { type: "null", size: null };
  if (typeof value === "string") return { type: "string", size: value.length };
  if (typeof value !== "object" && typeof value !== "function") return { type: typeof value, size: null };
  const kind = kindOf(value);
  switch (kind) {
    case "proxy":
      return { type: "Proxy", size: null };
    case "function":
    case "class":
      return { type: kind, size: null };
    case "array":
    case "arguments":
    case "typed":
      return { type: classNameOf(value) || "Array", size: lengthOf(value) };
    case "map":
      return { type: classNameOf(value) || "Map", size: look.mapSize(value) };
    case "set":
      return { type: classNameOf(value) || "Set", size: look.setSize(value) };
    case "buffer":
    case "dataview":
      return { type: classNameOf(value) || "ArrayBuffer", size: bytesOf(value, kind) };
    case "object": {
      const name = classNameOf(value), tag = name === "" || name === "Object" ? tagOf(value) : "";
      return { type: tag || name || "Object", size: tag ? null : look.keys(value).length };
    }
    default:
      return { type: classNameOf(value) || "Object", size: null };
  }
}
