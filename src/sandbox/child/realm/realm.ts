import { captured, look } from "./captured.ts";

const ECMASCRIPT = new Set(
  `AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date
  DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity
  Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError
  ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array
  Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape unescape isFinite isNaN parseFloat parseInt undefined globalThis queueMicrotask`
    .split(/\s+/),
);
/** `Event`, `EventTarget` and `AbortSignal` are absent, because their symbols lead to listeners and to Node's list of
 * timers. */
const WEB = ["structuredClone", "TextEncoder", "TextDecoder", "URL", "URLSearchParams", "atob", "btoa"];
/** Frames of Vis and of awaiting code take a part of the default ten, so the limit is higher. */
const STACK_FRAMES = 24;
/** Runtimes keep a second set of some of these names that only scripts see, so the names are undefined instead of
 * deleted. A block may declare such a name. */
const ABSENT = [
  "process",
  "Buffer",
  "global",
  "WebAssembly",
  "SharedArrayBuffer",
  "Atomics",
  "Deno",
  "setImmediate",
  "clearImmediate",
  "require",
  "module",
  "exports",
  "fetch",
  "Worker",
  "navigator",
  "postMessage",
  "close",
];

/** A compiled runtime shows a script that is not a Deno module a second set of the names that Node and Deno share. A
 * definition in a module would not reach these names, so this text runs as a script. */
const DEFINE = `(absent, added, fixed) => {
  const define = (key, value, writable, configurable) => {
    delete globalThis[key];
    Object.defineProperty(globalThis, key, { value, writable, configurable, enumerable: false });
  };
  for (const key of absent) define(key, undefined, true, false);
  for (const key in fixed) define(key, fixed[key], false, false);
  for (const key in added) define(key, added[key], true, true);
}`;

interface RealmNames {
  readonly added: Readonly<Record<string, unknown>>;
  readonly fixed: Readonly<Record<string, unknown>>;
}

export function emptyRealm({ added, fixed }: RealmNames): string[] {
  lock();
  const kept: Record<string, unknown> = {};
  // Some of these names are getters that load on first use. In the empty realm, loading would fail, so values replace
  // the getters now.
  for (const name of WEB) kept[name] = Reflect.get(globalThis, name);
  for (const name of ["createObjectURL", "revokeObjectURL"]) Reflect.deleteProperty(URL, name);
  const left: string[] = [];
  for (const key of Reflect.ownKeys(globalThis)) {
    if (typeof key === "string" && ECMASCRIPT.has(key)) continue;
    if (!Reflect.deleteProperty(globalThis, key)) left.push(String(key));
  }
  if (!Reflect.setPrototypeOf(globalThis, Object.prototype)) left.push("prototype");
  const define: unknown = new captured.Script(DEFINE, { filename: "realm" }).runInThisContext();
  if (typeof define !== "function") {
    throw new TypeError("Cannot empty the realm: its script does not return a function");
  }
  captured.apply(define as (...args: unknown[]) => void, undefined, [
    ABSENT.filter((key) => !(key in added)),
    { ...kept, ...added },
    fixed,
  ]);
  return left;
}

function lock(): void {
  resetStackLimit();
  for (const name of ["prepareStackTrace", "captureStackTrace"]) {
    // A block's prepareStackTrace would receive call sites of Vis's frames, with their functions and receivers.
    captured.defineProperty(Error, name, { value: undefined, writable: false, configurable: false });
  }
  // Vis's own code looks up the global by this name.
  captured.defineProperty(globalThis, "globalThis", { value: globalThis, writable: false, configurable: false });
  Object.freeze(Promise);
  Object.freeze(Promise.prototype);
  // The runtime calls its own operations through these functions, so replacements would receive its objects.
  for (const name of ["apply", "bind", "call"] as const) {
    const value = Function.prototype[name];
    captured.defineProperty(Function.prototype, name, { value, writable: false, configurable: false });
  }
  // A new getter or setter would run outside of a block's turn, or receive internal objects. Existing methods stay
  // assignable.
  for (const one of languageClasses()) {
    Object.preventExtensions(one);
    Object.preventExtensions(Reflect.get(one, "prototype") ?? one);
  }
  for (const key of Reflect.ownKeys(Symbol)) {
    const value = captured.getOwnPropertyDescriptor(Symbol, key)?.value;
    if (typeof value === "symbol") {
      captured.defineProperty(Symbol, key, { value, writable: false, configurable: false });
    }
  }
}

function languageClasses(): readonly object[] {
  const named = [...ECMASCRIPT].map((name): unknown => Reflect.get(globalThis, name)).filter((one) =>
    typeof one === "function"
  );
  const functions = [async () => {}, function* () {}, async function* () {}];
  const iterators = [[].values(), new Map().entries(), new Set().values(), ""[Symbol.iterator](), "a".matchAll(/a/g)];
  const made = [...functions, ...functions.slice(1).map((f): unknown => f()), ...iterators];
  return [...named, Object.getPrototypeOf(Uint8Array), ...made.map((one): unknown => Object.getPrototypeOf(one))]
    .filter((one) => typeof one === "object" || typeof one === "function").filter((one) => one !== null);
}

/** A block may change the number of frames that an error names, for itself only. */
export function resetStackLimit(): void {
  const own: PropertyDescriptor & { __proto__: null } = {
    __proto__: null,
    value: STACK_FRAMES,
    writable: true,
    enumerable: true,
    configurable: false, // `Error` accepts no new property, so nothing could restore a deleted one.
  };
  try {
    captured.defineProperty(captured.Error, "stackTraceLimit", own);
  } catch { /* A block has frozen `Error`. */ }
}

const SUFFIX = 0x200d;

function withoutSuffix(text: string): string {
  const end = look.indexOf(text, "(");
  let start = end;
  while (start > 0 && look.charCodeAt(text, start - 1) === SUFFIX) start--;
  return start < end ? look.slice(text, 0, start) + look.slice(text, end) : text;
}

const NATIVE = "function toString() { [native code] }";

/** A declared function runs without its name or under another name, so `toString` returns the model's text. */
export function replaceFunctionText(sourceOf: (value: object) => string | null): void {
  const { toString } = {
    toString(this: object): string {
      if (typeof this !== "function") return look.functionText(this);
      return this === toString ? NATIVE : sourceOf(this) ?? withoutSuffix(look.functionText(this));
    },
  };
  captured.defineProperty(look.function, "toString", {
    value: toString,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}
