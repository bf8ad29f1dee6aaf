import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";
import { run } from "../../scripts/_run.ts";
import { moduleScript } from "../../scripts/executable/module_script.ts";

/** Keeps the compiled code of the first process that ends without a signal. */
const LOADER = `import { ProgramModules } from "../../scripts/executable/program_modules.ts";
const file = (name) => new URL(name, import.meta.url);
const modules = new ProgramModules(import.meta.resolve("./"), { read: (name) => Deno.readFileSync(file(name)) });
addEventListener("unload", () => {
  try {
    Deno.writeFileSync(file("program.cache"), modules.codeCache(), { createNew: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
});
await modules.load("./program.js");
`;

export interface CachedScript extends AsyncDisposable {
  readonly args: readonly string[];
}

/** Makes a program of the tests one script with a code cache, as in the executable. A start then takes less processor
 * time than from its modules. */
export async function cachedScript(main: string): Promise<CachedScript> {
  // The program finds the sandbox's bundles from a folder next to them.
  const folder = await Deno.makeTempDir({ dir: join(ROOT, "build"), prefix: ".script-" });
  const remove = (): Promise<void> => Deno.remove(folder, { recursive: true });
  const bundle = join(folder, "bundle.js"), loader = join(folder, "main.js");
  try {
    const { code, stderr } = await run(["bundle", "--quiet", "-o", bundle, main], { cwd: ROOT });
    if (code !== 0) throw new Error(`Cannot bundle ${main}: ${stderr.trim()}`);
    const script = moduleScript("program.js", await Deno.readTextFile(bundle));
    await Deno.writeTextFile(join(folder, "program.js"), `(define) => {\n${script}}\n`);
    await Deno.writeTextFile(loader, LOADER);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    args: ["run", "-A", "--no-check", "--no-config", "--no-lock", "--quiet", loader],
    [Symbol.asyncDispose]: remove,
  };
}
