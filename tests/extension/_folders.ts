import { TrustList } from "../../src/extension/folder.ts";
import type { LoadFolderOptions } from "../../src/extension/loader.ts";
import { moduleReader, realmModuleReader } from "../../src/sandbox/modules/modules.ts";
import { dirname, join } from "node:path";

export async function write(folder: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
  return folder;
}

export function manifestOf(fields: object = {}): string {
  return JSON.stringify({ extensions: [{ namespace: "test.a", version: "1.0.0", entry: "mod.ts", ...fields }] });
}

/** Returns a module that defines test.a with a function `a.f`, after the text `head`. */
export function moduleOf(fields = "", head = ""): string {
  return `${head}
import { defineExtension, fn, z, type Extension } from "@vis/extension";
const spec: Extension = { namespace: "test.a", alias: { ns: "vis.ext.a", alias: "a" }, doc: "A.", version: "1.0.0",
  symbols: [fn("f", (_env, n: number) => n * 2, { doc: "Doubles.", args: z.tuple([z.number()]), returns: "number" })],
  ${fields} };
export default defineExtension(spec);`;
}

export function optionsIn(home: string): LoadFolderOptions {
  const trust = new TrustList(join(home, "trusted_extensions.json"));
  return { cache: join(home, "cache"), readModule: moduleReader(), readRealmModule: realmModuleReader(), trust };
}
