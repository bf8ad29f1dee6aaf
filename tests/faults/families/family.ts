import type { Launcher } from "../../e2e/_launcher.ts";
import type { Trial } from "../world/trial.ts";

/** One kind of fault, tried again and again. */
export interface Family {
  readonly name: string;
  /** What is tried, in a few words for the table. */
  readonly what: string;
  /** Tries of a full run and of a quick one. */
  readonly tries: { readonly full: number; readonly quick: number };
  /** Why it cannot be tried here, "" where it can. */
  missing(): Promise<string>;
  /** One try; everything in it follows from the seed. What it finds is noted in the trial. */
  attempt(trial: Trial, launcher: Launcher): Promise<void>;
}
