import { join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { rehearse } from "./_rehearse.ts";

const PACK = "program.js";

export interface PackOptions {
  readonly scripts: ReadonlyMap<string, string>;
  readonly own: string;
  readonly level: number;
  readonly writeEntry: (more: string) => Promise<void>;
  readonly embed: ((output: string) => Promise<void>) | null;
}

/** The modules that a rehearsal evaluates form `program.js`, with a code cache of only the code that the rehearsal
 * compiled. A process can hold all embedded files in memory, so all scripts are compressed. */
export async function packProgram(
  folder: string,
  { scripts, own, level, writeEntry, embed }: PackOptions,
): Promise<void> {
  const write = (name: string, parts: readonly string[]): Promise<void> =>
    Deno.writeTextFile(join(folder, name), `(define) => {\n${parts.join("")}}\n`);
  for (const [name, script] of scripts) await write(name, [script]);

  const evaluated = join(own, "evaluated.json"), cache = join(own, "program.cache");
  await writeEntry(`addEventListener("unload", () => {
    Deno.writeTextFileSync(${JSON.stringify(evaluated)}, JSON.stringify(modules.evaluated));
    Deno.writeFileSync(${JSON.stringify(cache)}, modules.codeCache());
  });`);
  const flags = ["--quiet", "--no-config", "--no-lock", "--no-check", "--unstable-worker-options"];
  await rehearse(Deno.execPath(), ["run", "-A", ...flags, join(folder, "main.js")]);
  const names: readonly string[] = JSON.parse(await Deno.readTextFile(evaluated));
  await write(PACK, names.map((name) => scripts.get(name) ?? ""));
  for (const name of scripts.keys()) if (names.includes(name) && name !== PACK) await Deno.remove(join(folder, name));
  for (const { name } of [...Deno.readDirSync(folder)]) {
    if (scripts.has(name)) await compress(folder, name, { own, level });
  }

  if (embed) {
    const output = join(own, "rehearsal");
    await embed(output);
    await rehearse(output, []);
    await Deno.copyFile(cache, join(folder, "program.cache"));
    await compress(folder, "program.cache", { own, level });
  }
  await writeEntry("");
}

async function compress(
  folder: string,
  name: string,
  { own, level }: Pick<PackOptions, "own" | "level">,
): Promise<void> {
  const path = join(folder, name);
  const content = await Deno.readFile(path);
  // With a known size, zstd unpacks directly to the final place, without a window of 8 MB.
  const options = { params: { [constants.ZSTD_c_compressionLevel]: level }, pledgedSrcSize: content.length };
  await Deno.writeFile(`${path}.zst`, zstdCompressSync(content, options));
  await Deno.rename(path, join(own, name));
}
