/** Folders of a recording and those that stand for them where it is played again. */
export class PathMap {
  readonly #pairs: readonly (readonly [recorded: string, played: string])[];

  constructor(pairs: readonly (readonly [recorded: string, played: string])[] = []) {
    this.#pairs = pairs.filter(([recorded, played]) => recorded !== played && isFolder(recorded) && isFolder(played));
  }

  /** A recorded text with the paths of this place. */
  toPlayed(text: string): string {
    return this.#pairs.reduce((all, [recorded, played]) => moved(all, recorded, played), text);
  }

  /** A text of this place with the recorded paths. */
  toRecorded(text: string): string {
    return this.#pairs.reduce((all, [recorded, played]) => moved(all, played, recorded), text);
  }
}

/** The root is a part of every path. */
function isFolder(path: string): boolean {
  return /[^\\/]/.test(path);
}

/** A name that goes on before or behind it belongs to another path. */
function moved(text: string, from: string, to: string): string {
  if (!text.includes(from)) return text;
  const literal = from.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const path = new RegExp(`(?<![\\p{L}\\p{N}_.\\-])${literal}(?![\\p{L}\\p{N}_\\-]|\\.[\\p{L}\\p{N}_])`, "gu");
  return text.replace(path, () => to);
}
