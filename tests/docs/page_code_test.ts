import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "acorn";
import { transform } from "sucrase";
import { filesOf } from "../architecture/import_graph.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** An example is a module, the rest of an object or the items of a list. */
const FORMS: readonly ((code: string) => string)[] = [
  (code) => code,
  (code) => `void { ${code} };`,
  (code) => `void [ ${code} ];`,
];

function faultOf(code: string): string | null {
  const faults = FORMS.map((form) => {
    try {
      const { code: script } = transform(form(code), { transforms: ["typescript", "jsx"], disableESTransforms: true });
      parse(script, { ecmaVersion: "latest", sourceType: "module", allowAwaitOutsideFunction: true });
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  });
  return faults.includes(null) ? null : faults[0] ?? null;
}

Deno.test("examples in TypeScript and JSON on the pages have no syntax error", async () => {
  const pages = (await filesOf(ROOT, "docs/")).filter((path) => /\.md$/.test(path) && !/\/generated\//.test(path));
  const found: string[] = [];
  let seen = 0;
  for (const page of ["README.md", ...pages]) {
    const text = await Deno.readTextFile(join(ROOT, page));
    for (const [, kind = "", code = ""] of text.matchAll(/^ *```(tsx?|jsonc?)\n([^]*?)^ *```$/gm)) {
      seen++;
      const fault = faultOf(kind.startsWith("json") && /^\s*[{[]/.test(code) ? `void ${code}` : code);
      if (fault !== null) found.push(`${page}: ${fault}: ${code.slice(0, 60)}`);
    }
  }
  assert.ok(seen > 40, "the examples are found");
  assert.deepEqual(found, []);
});

Deno.test("faultOf() finds a string without an end", () => {
  assert.notEqual(faultOf('names.join("\n")'), null);
  assert.equal(faultOf('names.join("\\n")'), null);
});
