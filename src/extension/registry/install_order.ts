import type { NormalExtension } from "../validate_extension.ts";

/** Sorts required extensions first and otherwise keeps the order. Throws Error that names the chain if a requirement is
 * missing or circular. */
export function installOrder(extensions: readonly NormalExtension[]): readonly NormalExtension[] {
  const known = new Map(extensions.map((extension) => [extension.namespace, extension]));
  const done = new Set<NormalExtension>();
  const visit = (extension: NormalExtension, chain: readonly string[]): void => {
    if (done.has(extension)) return;
    const path = [...chain, extension.namespace];
    if (chain.includes(extension.namespace)) {
      const circle = path.slice(path.indexOf(extension.namespace)).join(" → ");
      throw new Error(`Cannot install extension ${extension.namespace}: circular requires: ${circle}`);
    }
    for (const name of extension.requires) {
      const required = known.get(name);
      if (!required) {
        throw new Error(`Cannot install extension ${path[0]}: missing requirement: ${[...path, name].join(" → ")}`);
      }
      visit(required, path);
    }
    done.add(extension);
  };
  for (const extension of extensions) visit(extension, []);
  return [...done];
}
