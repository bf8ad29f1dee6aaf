import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedNames } from "./exported_names.ts";
import { sourcesOf } from "./import_graph.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

Deno.test("no exported name has two meanings", async () => {
  const files = new Map<string, string>();
  for (const folder of ["src/", "extensions/"]) {
    for (const path of await sourcesOf(ROOT, folder)) files.set(path, await Deno.readTextFile(join(ROOT, path)));
  }
  assert.ok(files.size > 100, "the sources are read");
  assert.deepEqual(sharedNames(files), []);
});

Deno.test("sharedNames() knows every kind of export, and omits private and re-exported names", () => {
  const of = (...texts: string[]) => sharedNames(new Map(texts.map((text, at) => [`${at}.ts`, text])));
  for (const kind of ["class", "abstract class", "interface", "type", "const", "function", "async function*"]) {
    assert.deepEqual(of(`export ${kind} Place`, "export interface Place {}"), ["Place: 0.ts, 1.ts"], kind);
  }
  assert.deepEqual(of("interface Place {}", "export interface Place {}"), []);
  assert.deepEqual(of('export type { Place } from "./1.ts";', "export interface Place {}"), []);
  assert.deepEqual(of("export interface Place {}", "export interface Places {}"), []);
});
