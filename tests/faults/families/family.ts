import type { Launcher } from "../../e2e/_launcher.ts";
import type { Trial } from "../world/trial.ts";

export interface Family {
  readonly name: string;
  readonly what: string;
  readonly tries: { readonly full: number; readonly quick: number };
  /** Returns the reason why the family cannot be tried here; "" if it can. */
  missing(): Promise<string>;
  /** Makes one try. The seed determines everything in it, and the trial records its findings. */
  attempt(trial: Trial, launcher: Launcher): Promise<void>;
}
