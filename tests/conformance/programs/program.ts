export interface Program {
  readonly name: string;
  readonly language: "js" | "ts";
  readonly text: string;
  /** An expression whose value is part of the outcome. At top level, the sandbox reports it as the value of the
   * block. */
  readonly value?: string;
  /** Whether the words of an error count, or only its name. */
  readonly messages?: boolean;
  /** The error that the standard requires before any statement runs. */
  readonly refusedWith?: string;
  readonly known?: { readonly key: string; readonly places: readonly Place[] };
}

export function isKnown({ program, place }: Pick<Difference, "program" | "place">): boolean {
  return program.known?.places.includes(place) ?? false;
}

/** A program is directly in a module or block, or in braces there. */
export type Place = "top" | "braces";

export const PLACES: readonly Place[] = ["top", "braces"];

export interface Outcome {
  /** The printed lines. A value is the last line. */
  readonly printed: string;
  /** The name of the thrown error, "thrown" for any other value; "" without one. */
  readonly error: string;
  /** The name of the error's class, if it differs. */
  readonly maker?: string;
  readonly message: string;
  readonly repaired?: string | null;
}

export interface Difference {
  readonly program: Program;
  readonly place: Place;
  readonly plain: Outcome;
  readonly sandbox: Outcome;
}

/** Returns the text of a program in its place. `show` wraps the expression of `value`. */
export function textOf({ text, value }: Program, place: Place, show: (value: string) => string): string {
  const whole = value === undefined ? text : `${text}\n${show(value)}`;
  // The text begins with an empty statement, because `{ a }` alone would be an object.
  return place === "top" ? whole : `{;${whole}\n}`;
}

export function isEqual(program: Program, plain: Outcome, sandbox: Outcome): boolean {
  if (plain.printed !== sandbox.printed) return false;
  // The sandbox names an error by its class if that is more specific. Each parser has its own words.
  if (plain.error !== sandbox.error && plain.maker !== sandbox.error) return false;
  if (!program.messages || plain.error === "SyntaxError") return true;
  // Advice for the block, or the error's own properties, may follow.
  return plain.message === sandbox.message || /^ [({]/.test(sandbox.message.slice(plain.message.length)) &&
      sandbox.message.startsWith(plain.message);
}
