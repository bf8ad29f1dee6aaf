import { look } from "../intrinsics/look.ts";

/** What to pass instead, by the codec's name for what it refuses. */
const ADVICE: readonly { readonly start: string; readonly advice: string }[] = [
  { start: "a function", advice: "pass its result or its text, String(f)" },
  { start: "a Proxy", advice: "pass a plain copy" },
  { start: "a symbol", advice: "pass a string" },
  { start: "a promise", advice: "await it first" },
  { start: "a boxed primitive", advice: "pass the plain value" },
  { start: "a built-in object (Generator", advice: "pass an array, [...it]" },
  { start: "a built-in object (Array Iterator", advice: "pass an array, [...it]" },
  { start: "a built-in object", advice: "pass what it holds as an array, an object or a string" },
  { start: "deeper than", advice: "pass its parts" },
  { start: "more than", advice: "pass its parts" },
  { start: "a sparse array", advice: "pass an object or a Map" },
];

/** What the codec refused in a list of arguments: "argument 1.a: a Proxy, pass a plain copy" for a Proxy at `[0].a`. */
export function refusedArgument({ what, path }: { readonly what: string; readonly path: string }): string {
  if (path === "") return look.slice(what, 0, 9) === "more than" ? `${what} in one call, pass them in parts` : what;
  const close = look.indexOf(path, "]");
  const place = `argument ${+look.slice(path, 1, close) + 1}${look.slice(path, close + 1)}`;
  for (let i = 0; i < ADVICE.length; i++) {
    const { start, advice } = ADVICE[i]!;
    if (look.slice(what, 0, start.length) === start) return `${place}: ${what}, ${advice}`;
  }
  return `${place}: ${what}`;
}
