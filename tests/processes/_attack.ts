import type { Place } from "./_place.ts";

/** What came of a command, confined or not. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
}

export interface Attack {
  readonly name: string;
  readonly command: (place: Place) => string;
  /** Whether it had its effect. */
  readonly got: (outcome: Outcome, place: Place) => boolean;
  /** Whether it works without the wall on every machine. */
  readonly control: boolean;
  /** Harmless in a network and file system of its own, and so allowed there. */
  readonly own: boolean;
}

/** An attack whose effect is looked for afterwards. */
export const attack = (
  name: string,
  command: (place: Place) => string,
  got: Attack["got"],
  { control = true, own = false } = {},
): Attack => ({ name, command, got, control, own });

export const printed = ({ stdout }: Outcome): boolean => stdout.includes("got it");
export const perl = (code: string): string => `/usr/bin/perl -e '${code}'`;
