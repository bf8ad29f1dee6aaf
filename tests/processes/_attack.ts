import type { Place } from "./_place.ts";

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
}

export interface Attack {
  readonly name: string;
  readonly command: (place: Place) => string;
  readonly got: (outcome: Outcome, place: Place) => boolean;
  /** Whether the attack works without the wall on every machine. */
  readonly control: boolean;
  /** Whether the attack is harmless in its own network and file system, and so allowed there. */
  readonly own: boolean;
}

export const attack = (
  name: string,
  command: (place: Place) => string,
  got: Attack["got"],
  { control = true, own = false } = {},
): Attack => ({ name, command, got, control, own });

export const printed = ({ stdout }: Outcome): boolean => stdout.includes("got it");
export const perl = (code: string): string => `/usr/bin/perl -e '${code}'`;
