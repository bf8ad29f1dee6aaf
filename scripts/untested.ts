/** The list is a report, not a check, because another test may cover a file without a mirrored test. */
import { join } from "node:path";
import { ROOT } from "./_project.ts";

const DEFINES = /\bfunction\b|=>|\bclass\b/;

async function filesOf(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(join(ROOT, folder))).catch(() => []);
  const found = await Promise.all(
    entries.map(({ name, isDirectory }) => isDirectory ? filesOf(`${folder}/${name}`) : [`${folder}/${name}`]),
  );
  return found.flat().filter((path) => path.endsWith(".ts")).sort();
}

function mirrorsOf(path: string): string[] {
  const mirror = `tests/${path.replace(/^src\//, "").replace(/\.ts$/, "_test.ts")}`;
  return [mirror, mirror.replace(/\/_([^/]+)$/, "/$1")];
}

const tests = new Set(await filesOf("tests"));
for (const path of [...await filesOf("src"), ...await filesOf("extensions")]) {
  if (mirrorsOf(path).some((mirror) => tests.has(mirror))) continue;
  if (DEFINES.test(await Deno.readTextFile(join(ROOT, path)))) console.log(path);
}
