/** These functions exist in plain Deno and in the sandbox before a program runs. `$text(value)` describes a value so
 * that two values with the same text have the same type, contents and prototypes. `$show` prints that text. */
export const PRELUDE = String.raw`
const $write = console.log;
function $text(value, seen = []) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return value + "n";
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "function") {
    const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "function";
    return "[" + kind + (value.name === "" ? "" : " " + String(value.name)) + "]";
  }
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.includes(value)) return "[cycle " + (seen.length - seen.indexOf(value)) + "]";
  return $object(value, [...seen, value]);
}
function $object(value, seen) {
  const inside = (one) => $text(one, seen);
  const keys = Reflect.ownKeys(value).filter((key) => Object.getOwnPropertyDescriptor(value, key)?.enumerable);
  const named = (all) => all.map((key) => (typeof key === "symbol" ? "[" + String(key) + "]" : key) + ": " + inside(value[key]));
  const prototype = Object.getPrototypeOf(value);
  const maker = prototype === null ? "null" : typeof prototype.constructor === "function" ? prototype.constructor.name : "?";
  if (Array.isArray(value)) {
    const isIndex = (key) => typeof key === "string" && /^(0|[1-9]\d*)$/.test(key);
    const items = [];
    for (let i = 0; i < value.length; i++) items.push(Object.hasOwn(value, i) ? inside(value[i]) : "hole");
    return (maker === "Array" ? "" : maker + " ") + "[" + [...items, ...named(keys.filter((key) => !isIndex(key)))].join(", ") + "]";
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return maker + " [" + Array.from(value, inside).join(", ") + "]";
  const fields = named(keys);
  const tag = value[Symbol.toStringTag] === undefined ? "" : "<" + String(value[Symbol.toStringTag]) + "> ";
  const own = () => {
    if (value instanceof Map) return Array.from(value, ([key, one]) => inside(key) + " => " + inside(one));
    if (value instanceof Set) return Array.from(value, inside);
    if (value instanceof Error) return [String(value.name) + ": " + String(value.message), ...["cause", "errors"].filter((key) => Object.hasOwn(value, key)).map((key) => key + " " + inside(value[key]))];
    if (value instanceof Date) return [Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()];
    if (value instanceof RegExp || value instanceof URL) return [String(value)];
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return [inside(value.valueOf())];
    return [];
  };
  return (maker === "Object" ? "" : maker + " ") + tag + "{" + [...own(), ...fields].join(", ") + "}";
}
function $show(...values) { $write(values.map((value) => $text(value)).join(" ")); }
const $line = (...values) => $write(values.map((value) => typeof value === "string" ? value : $text(value)).join(" "));
const $console = {};
for (const $name of ["log", "info", "debug", "warn", "error"]) $console[$name] = $line;
`;

export const PRELUDE_NAMES: readonly string[] = ["$write", "$text", "$object", "$show", "$line", "$console"];
