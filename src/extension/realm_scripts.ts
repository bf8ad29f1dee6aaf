import { messageOf } from "../domain/errors.ts";
import type { Extension } from "./spec.ts";
import type { NormalExtension } from "./validate_extension.ts";

/** Maps the names of `modules` to scripts, on an extension whose files are known. An author cannot set this key. */
export const REALM_SCRIPTS: unique symbol = Symbol("realm scripts");

/** Turns a module's text into a script; throws Error with the reason if that is impossible. */
export type ReadRealmModule = (source: string, path: string) => string;

/** Returns the extension with its modules read. `textOf` returns the text of a file beside its entry, or null if it is
 * missing. Throws Error that names extension and module. */
export function withScripts(
  extension: NormalExtension,
  { textOf, read }: { readonly textOf: (path: string) => string | null; readonly read: ReadRealmModule },
): NormalExtension {
  const { namespace, modules = {} } = extension;
  const scripts = Object.entries(modules).map(([name, path]) => {
    const fail = (why: string): Error => new Error(`Cannot use extension ${namespace}: modules.${name}: ${why}`);
    const text = textOf(path);
    if (text === null) throw fail(`${path} is not in its folder`);
    try {
      return [name, read(text, path)] as const;
    } catch (error) {
      throw fail(messageOf(error));
    }
  });
  return realmScripts(extension, Object.fromEntries(scripts));
}

/** Returns the extension with scripts generated when the program was built. */
export function realmScripts(
  extension: NormalExtension,
  scripts: Readonly<Record<string, string>>,
): NormalExtension {
  return { ...extension, [REALM_SCRIPTS]: scripts };
}

/** Throws Error if an extension names modules but was not loaded from a folder. */
export function scriptsOf(extension: Extension): Readonly<Record<string, string>> {
  const { namespace, modules = {} } = extension;
  const scripts: Readonly<Record<string, string>> = Reflect.get(extension, REALM_SCRIPTS) ?? {};
  const absent = Object.keys(modules).find((name) => !Object.hasOwn(scripts, name));
  if (absent === undefined) return scripts;
  throw new Error(`Cannot register extension ${namespace}: modules.${absent} is a file, load its folder (env.load)`);
}
