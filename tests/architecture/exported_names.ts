const EXPORT = /^export (?:abstract |async )*(?:class|interface|type|enum|const|let|function\*?) +([\w$]+)/gm;

/** Returns the names that several files export, each with these files. A name has one meaning in the whole program, so
 * that a search for it finds one thing. */
export function sharedNames(files: ReadonlyMap<string, string>): readonly string[] {
  const places = new Map<string, string[]>();
  for (const [path, text] of files) {
    for (const [, name = ""] of text.matchAll(EXPORT)) places.set(name, [...places.get(name) ?? [], path]);
  }
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(", ")}`);
}
