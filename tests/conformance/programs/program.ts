/** A program that is run in plain Deno and in the sandbox. */
export interface Program {
  /** Path below its folder, or "topic/7". */
  readonly name: string;
  readonly language: "js" | "ts";
  /** Statements, without those of `value`. */
  readonly text: string;
  /** An expression whose value is part of the outcome. At top level the sandbox reports it as the value of the
   * block. */
  readonly value?: string;
  /** Whether the words of an error count, or only its name. */
  readonly messages?: boolean;
  /** The error that the standard asks for, before anything runs. */
  readonly refusedWith?: string;
  /** The places where it is known to differ, and why. */
  readonly known?: { readonly key: string; readonly places: readonly Place[] };
}

/** Whether it is a difference that the corpus lists. */
export function isKnown({ program, place }: Pick<Difference, "program" | "place">): boolean {
  return program.known?.places.includes(place) ?? false;
}

/** Where a program stands: directly in a module or block, or in a statement of braces there. */
export type Place = "top" | "braces";

export const PLACES: readonly Place[] = ["top", "braces"];

/** What a program did. */
export interface Outcome {
  /** What it printed; a value is the last line. */
  readonly printed: string;
  /** What it threw: the name of the error, "thrown" for any other value; "" if nothing. */
  readonly error: string;
  /** The name of its class, where that is another. */
  readonly maker?: string;
  readonly message: string;
  /** What the sandbox repaired in the text. */
  readonly repaired?: string | null;
}

/** One program in one place that had two outcomes. */
export interface Difference {
  readonly program: Program;
  readonly place: Place;
  readonly plain: Outcome;
  readonly sandbox: Outcome;
}

/** The text of a program in its place. `show` wraps the expression of `value`. */
export function textOf({ text, value }: Program, place: Place, show: (value: string) => string): string {
  const whole = value === undefined ? text : `${text}\n${show(value)}`;
  // The empty statement: `{ a }` alone would be an object.
  return place === "top" ? whole : `{;${whole}\n}`;
}

/** Whether the outcomes of both are the same for this program. */
export function isEqual(program: Program, plain: Outcome, sandbox: Outcome): boolean {
  if (plain.printed !== sandbox.printed) return false;
  // The sandbox calls an error by its class if that says more; each parser has its own words.
  if (plain.error !== sandbox.error && plain.maker !== sandbox.error) return false;
  if (!program.messages || plain.error === "SyntaxError") return true;
  // What a block should do instead, or the error's own properties, may follow.
  return plain.message === sandbox.message || /^ [({]/.test(sandbox.message.slice(plain.message.length)) &&
      sandbox.message.startsWith(plain.message);
}
