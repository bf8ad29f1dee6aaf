import type { ProgramNetwork } from "../../src/sandbox/exec/refused_calls.ts";
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
  /** The networks of commands in which Vis allows the attack. In a private network, the attack is harmless. */
  readonly allowedIn: readonly ProgramNetwork[];
}

export const attack = (
  name: string,
  command: (place: Place) => string,
  got: Attack["got"],
  { control = true, allowedIn = [] }: Partial<Pick<Attack, "control" | "allowedIn">> = {},
): Attack => ({ name, command, got, control, allowedIn });

export const printed = ({ stdout }: Outcome): boolean => stdout.includes("got it");
export const perl = (code: string): string => `/usr/bin/perl -e '${code}'`;
