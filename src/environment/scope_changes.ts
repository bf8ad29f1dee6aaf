/* What changes in the variables of a conversation besides new versions: which leave the scope, come back, or could not be
 * restored. */

import { declaringLine, type VariableImage } from "../domain/query/variable.ts";
import type { RunReport } from "../sandbox/sandbox.ts";
import type { MissingVariable } from "./sandbox_session.ts";
import type { VariableIndex } from "./variable_index.ts";

interface RestoredImage {
  readonly image: VariableImage;
  /** Whether it is not the newest version. */
  readonly older: boolean;
}

export interface ScopesNow {
  readonly forgotten: readonly string[];
  readonly live: readonly string[];
}

/** What left the scope and what came back since the last stored iteration. Stored with that iteration in one
 * transaction, so an iteration that is cut changes no scope. */
export class ScopeChanges {
  readonly #index: VariableIndex;
  readonly #forgotten = new Set<string>();
  readonly #live = new Set<string>();
  /** What the running block restored, and whether it was out of scope before. */
  readonly #restored = new Map<string, RestoredImage & { readonly forgotten: boolean }>();

  constructor(index: VariableIndex) {
    this.#index = index;
  }

  get forgotten(): ReadonlySet<string> {
    return this.#forgotten;
  }

  get now(): ScopesNow {
    return { forgotten: [...this.#forgotten], live: [...this.#live] };
  }

  forget(name: string): void {
    this.#restored.delete(name);
    this.#live.delete(name);
    this.#forgotten.add(name);
    this.#index.setScope(name, "forgotten");
  }

  /** A block created a version of it. */
  defined(name: string): void {
    this.#forgotten.delete(name);
  }

  /** The running block made a version current again. */
  restore(name: string, restored: RestoredImage): void {
    this.#restored.set(name, { ...restored, forgotten: this.#index.get(name)?.scope === "forgotten" });
    this.#index.setScope(name, "live");
  }

  /** What the finished block restored and did not change. Empty if its child ended during the block. */
  takeRestored({ saved, result }: RunReport): readonly RestoredImage[] {
    const killed = result.outcome === "killed" || result.outcome === "memory";
    const again: RestoredImage[] = [];
    for (const [name, restored] of this.#restored) {
      if (killed) {
        if (restored.forgotten) this.#index.setScope(name, "forgotten");
        continue;
      }
      this.#forgotten.delete(name);
      this.#live.add(name);
      if (!saved.some((image) => image.name === name)) again.push(restored);
    }
    this.#restored.clear();
    return again;
  }

  /** These changes are stored; changes made in the meantime remain to be stored. */
  stored({ forgotten, live }: ScopesNow): void {
    for (const name of forgotten) this.#forgotten.delete(name);
    for (const name of live) this.#live.delete(name);
  }

  clear(): void {
    this.#forgotten.clear();
    this.#live.clear();
  }
}

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
