import { look } from "../intrinsics/look.ts";

/** What to pass instead, by the codec's name for what it refuses. */
const ADVICE: readonly (readonly [what: string, advice: string])[] = [
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

/** What the codec refused in a list of arguments: "argument 1.a: a Proxy, pass a plain copy" for a Proxy at `[0].a`. */
export function refusedArgument({ what, path }: { readonly what: string; readonly path: string }): string {
  if (path === "") return look.slice(what, 0, 9) === "more than" ? `${what} in one call, pass them in parts` : what;
  const close = look.indexOf(path, "]");
  const place = `argument ${+look.slice(path, 1, close) + 1}${look.slice(path, close + 1)}`;
  for (let i = 0; i < ADVICE.length; i++) {
    const [start, advice] = ADVICE[i]!;
    if (look.slice(what, 0, start.length) === start) return `${place}: ${what}, ${advice}`;
  }
  return `${place}: ${what}`;
}
