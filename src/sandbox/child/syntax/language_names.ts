/** Names of the language itself, which are never dependencies of a block. */
export const LANGUAGE_NAMES: ReadonlySet<string> = new Set(
  `AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date
  DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
  Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp
  Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array Uint32Array
  Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet arguments decodeURI decodeURIComponent encodeURI encodeURIComponent
  escape eval isFinite isNaN parseFloat parseInt undefined unescape`.split(/\s+/),
);
