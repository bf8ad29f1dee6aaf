/** A place in a file, as it was and as it is. */
export interface EditedText {
  readonly path: string;
  /** 1-based; where the place begins now. */
  readonly line: number;
  /** Null for a new file. */
  readonly before: string | null;
  readonly after: string;
}

/** The places that a unified diff of one file changes. */
export function editedTexts(diff: string): readonly EditedText[] {
  const [head = "", ...hunks] = diff.split(/^(?=@@ )/m);
  const [, before = "", after = ""] = /^--- (.*)\n\+\+\+ (.*)$/m.exec(head) ?? [];
  const path = (after === "/dev/null" ? before : after).replace(/^[ab]\//, "");
  if (path === "") return [];
  return hunks.map((hunk) => {
    const [place = "", ...lines] = hunk.replace(/\n$/, "").split("\n");
    const line = Math.max(1, Number(/\+(\d+)/.exec(place)?.[1] ?? 1));
    const kept = (sign: string): string =>
      lines.filter((one) => one.startsWith(sign) || one.startsWith(" ")).map((one) => `${one.slice(1)}\n`).join("");
    return { path, line, before: before === "/dev/null" ? null : kept("-"), after: kept("+") };
  });
}
