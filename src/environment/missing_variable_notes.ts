import type { VariableImage } from "../domain/query/variable.ts";
import { declaringLine } from "../domain/text/declaring_line.ts";
import type { MissingVariable } from "./sandbox_session.ts";

const MAX_STATEMENT = 120;

/** Notes for the model on variables that were not restored. Each is reported once, until it has a new version. */
export class MissingVariableNotes {
  readonly #notes: string[] = [];
  readonly #reported = new Set<string>();

  /** `codeOf` returns the block that defined a variable. */
  add(lost: readonly MissingVariable[], codeOf: (name: string) => string): void {
    for (const one of lost) {
      if (this.#reported.has(one.name)) continue;
      this.#reported.add(one.name);
      const { name, reason, statement } = one;
      this.#notes.push(
        `Variable ${name} could not be restored: ${reason}${madeBy(statement || declaringLine(codeOf(name), name))}`,
      );
    }
  }

  defined(name: string): void {
    this.#reported.delete(name);
  }

  /** Those since the last call. */
  take(): readonly string[] {
    return this.#notes.splice(0);
  }
}

/** Why a version cannot be made current again. */
export function notRestored({ name, kind, source }: VariableImage, reason: string): string {
  return `Cannot restore ${name}: ${reason}${madeBy(kind === "lost" ? source : "")}`;
}

function madeBy(code: string): string {
  const line = code.replace(/\s+/g, " ").slice(0, MAX_STATEMENT);
  return line ? `; made by: ${line}` : "";
}
