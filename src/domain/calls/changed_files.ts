const MAX_FILES = 200, SHOWN = 8;

/** The files that a query changed, with the lines that its changes added and removed. */
export class ChangedFiles {
  readonly #files = new Map<string, { added: number; removed: number }>();

  /** Counts one change, a unified diff. */
  add(diff: string): void {
    const path = changedPath(diff);
    const known = path === null ? undefined : this.#files.get(path);
    if (path === null || !known && this.#files.size >= MAX_FILES) return;
    const { added, removed } = known ?? { added: 0, removed: 0 };
    const lines = diff.split("\n").filter((line) => !/^(?:---|\+\+\+) /.test(line));
    const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
    this.#files.delete(path); // the last one changed is shown first
    this.#files.set(path, { added: added + count("+"), removed: removed + count("-") });
  }

  /** `2 files changed +13 −1 (src/a.ts, b.md)`; "" if nothing was changed. */
  get total(): string {
    if (this.#files.size === 0) return "";
    const sum = (key: "added" | "removed"): number => [...this.#files.values()].reduce((all, one) => all + one[key], 0);
    const names = [...this.#files.keys()].reverse().slice(0, SHOWN);
    const more = this.#files.size - names.length;
    const list = [...names, ...more > 0 ? [`${more} more`] : []].join(", ");
    const files = this.#files.size === 1 ? "1 file" : `${this.#files.size} files`;
    return `${files} changed +${sum("added")} −${sum("removed")} (${list})`;
  }

  /** `src/a.ts +3 −1, b.md +10 −0`; "" if nothing was changed. */
  get line(): string {
    const shown = [...this.#files].reverse().slice(0, SHOWN).map(([path, { added, removed }]) =>
      `${path} +${added} −${removed}`
    );
    const more = this.#files.size - shown.length;
    return [...shown, ...more > 0 ? [`${more} more`] : []].join(", ");
  }
}

/** The file that a unified diff changes; null if it names none. */
export function changedPath(diff: string): string | null {
  const binary = /^Binary file (.*) (?:removed|replaced)$/m.exec(diff)?.[1];
  const [, before = "", after = ""] = /^--- (.*)\n\+\+\+ (.*)$/m.exec(diff) ?? [];
  const named = after === "" || after === "/dev/null" ? before : after;
  return binary ?? (named === "" ? null : named.replace(/^[ab]\//, ""));
}
