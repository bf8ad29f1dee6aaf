/** Maps the folders of a recording to the ones used in its replay. */
export class PathMap {
  readonly #pairs: readonly (readonly [recorded: string, played: string])[];

  constructor(pairs: readonly (readonly [recorded: string, played: string])[] = []) {
    this.#pairs = pairs.filter(([recorded, played]) => recorded !== played && isFolder(recorded) && isFolder(played));
  }

  /** Replaces recorded paths in a text with those of the replay. */
  toPlayed(text: string): string {
    return this.#pairs.reduce((all, [recorded, played]) => moved(all, recorded, played), text);
  }

  /** Replaces paths of the replay in a text with the recorded ones. */
  toRecorded(text: string): string {
    return this.#pairs.reduce((all, [recorded, played]) => moved(all, played, recorded), text);
  }
}

/** Excludes the root, which is part of every path. */
function isFolder(path: string): boolean {
  return /[^\\/]/.test(path);
}

/** A name that is longer in front or at the end belongs to another path. */
function moved(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  const literal = from.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const path = new RegExp(`(?<![\\p{L}\\p{N}_.\\-])${literal}(?![\\p{L}\\p{N}_\\-]|\\.[\\p{L}\\p{N}_])`, "gu");
  return text.replace(path, () => to);
}
