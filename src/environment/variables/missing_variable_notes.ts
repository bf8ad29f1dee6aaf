import { missingVariableNote } from "./missing_variable_note.ts";
import type { MissingVariable } from "../sandbox/sandbox_session.ts";

/** Notes for the model on variables that were not restored. Each is reported once, until it has a new version. */
export class MissingVariableNotes {
  readonly #notes: string[] = [];
  readonly #told = new Set<string>();

  /** `codeOf` returns the block that defined a variable. */
  add(lost: readonly MissingVariable[], codeOf: (name: string) => string): void {
    for (const one of lost) {
      if (this.#told.has(one.name)) continue;
      this.#told.add(one.name);
      this.#notes.push(missingVariableNote(one, codeOf(one.name)));
    }
  }

  defined(name: string): void {
    this.#told.delete(name);
  }

  /** Those since the last call. */
  take(): readonly string[] {
    return this.#notes.splice(0);
  }
}
