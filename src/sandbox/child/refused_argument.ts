import { look } from "./preview_intrinsics.ts";

const PREFIX = "Cannot encode value[";

/** What to pass instead, by how the codec names what it refuses. */
const MENDS: readonly (readonly [what: string, mend: string])[] = [
  ["a function", "pass its result or its text, String(f)"],
  ["a Proxy", "pass a plain copy"],
  ["a symbol", "pass a string"],
  ["a promise", "await it first"],
  ["a boxed primitive", "pass the plain value"],
  ["a built-in object (Generator", "pass an array, [...it]"],
  ["a built-in object (Array Iterator", "pass an array, [...it]"],
  ["a built-in object", "pass what it holds as an array, an object or a string"],
  ["deeper than", "pass its parts"],
  ["more than", "pass its parts"],
  ["a sparse array", "pass an object or a Map"],
];

/** The codec's "Cannot encode value[0].a: a Proxy" as "argument 1.a: a Proxy, pass a plain copy". */
export function refusedArgument(message: string): string {
  if (look.slice(message, 0, PREFIX.length) !== PREFIX) return message;
  const close = look.indexOf(message, "]"), colon = lastColon(message);
  const place = `argument ${+look.slice(message, PREFIX.length, close) + 1}${look.slice(message, close + 1, colon)}`;
  const what = look.slice(message, colon + 2);
  for (let i = 0; i < MENDS.length; i++) {
    const [start, mend] = MENDS[i]!;
    if (look.slice(what, 0, start.length) === start) return `${place}: ${what}, ${mend}`;
  }
  return `${place}: ${what}`;
}

function lastColon(message: string): number {
  let at = -1;
  for (let next = look.indexOf(message, ": "); next >= 0; next = look.indexOf(message, ": ", next + 2)) at = next;
  return at;
}
