import { join } from "node:path";
import { ROOT } from "./_project.ts";

export const CONFORMANCE_PACKAGES: readonly string[] = ["@gerhobbelt/test262@3.0.0-4", "test262-parser-tests@0.0.5"];

export async function fetchPackage(given: string): Promise<string> {
  const [, name, version] = /^((?:@[\w.-]+\/)?[\w.-]+)@([\w.+-]+)$/.exec(given) ?? [];
  if (name === undefined || version === undefined) {
    throw new Error(`Cannot fetch ${given}: it does not have the form name@version`);
  }
  const work = join(ROOT, "build/conformance", `${name}@${version}`.replaceAll("/", "+"));
  const folder = join(work, "node_modules", name);
  if (await Deno.stat(join(folder, "package.json")).then(() => true, () => false)) return await Deno.realPath(folder);
  await Deno.mkdir(work, { recursive: true });
  await Deno.writeTextFile(join(work, "package.json"), JSON.stringify({ dependencies: { [name]: version } }));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--no-lock", "--node-modules-dir=auto"],
    cwd: work,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`Cannot fetch ${given}: ${new TextDecoder().decode(stderr).trim()}`);
  return await Deno.realPath(folder);
}
