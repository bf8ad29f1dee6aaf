import { messageOf } from "../domain/kit/message_of.ts";
import type { Extension } from "./spec.ts";
import type { NormalExtension } from "./validate_extension.ts";

/** Names of `modules` to scripts, on an extension whose files are known. Not a key that an author could set. */
export const REALM_SCRIPTS: unique symbol = Symbol("realm scripts");

/** Makes a script of a module's text; throws Error that says why it cannot be one. */
export type ReadRealmModule = (source: string, path: string) => string;

/** The extension with its modules read: `textOf` gives the text of a file beside its entry, null where there is none.
 * Throws Error that names extension and module. */
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

/** The extension with scripts that were made when the program was built. */
export function realmScripts(
  extension: NormalExtension,
  scripts: Readonly<Record<string, string>>,
): NormalExtension {
  return { ...extension, [REALM_SCRIPTS]: scripts };
}

/** Throws Error for an extension that names modules and was not loaded out of a folder. */
export function scriptsOf(extension: Extension): Readonly<Record<string, string>> {
  const { namespace, modules = {} } = extension;
  const scripts: Readonly<Record<string, string>> = Reflect.get(extension, REALM_SCRIPTS) ?? {};
  const absent = Object.keys(modules).find((name) => !Object.hasOwn(scripts, name));
  if (absent === undefined) return scripts;
  throw new Error(`Cannot register extension ${namespace}: modules.${absent} is a file, load its folder (env.load)`);
}
