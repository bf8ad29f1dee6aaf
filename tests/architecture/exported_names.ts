const EXPORT = /^export (?:abstract |async )*(?:class|interface|type|enum|const|let|function\*?) +([\w$]+)/gm;

/** Names that more than one file exports, each with these files. A name stands for one thing in the whole program, so
 * that whoever reads or searches for it is never led to another thing. */
export function sharedNames(files: ReadonlyMap<string, string>): readonly string[] {
  const places = new Map<string, string[]>();
  for (const [path, text] of files) {
    for (const [, name = ""] of text.matchAll(EXPORT)) places.set(name, [...places.get(name) ?? [], path]);
  }
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(", ")}`);
}
