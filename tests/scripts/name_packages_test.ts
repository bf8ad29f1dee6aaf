import assert from "node:assert/strict";
import { namePackages } from "../../scripts/name_packages.ts";

const HOME = "../../../home/some one/.cache/deno/npm/registry.example.org";

Deno.test("namePackages() names the package in place of a folder of this machine", () => {
  assert.equal(
    namePackages(`// ${HOME}/kysely/0.29.9/dist/npm/a.js\nlet a;\n// ${HOME}/@x/y/1.0.0-rc.1/b.js\n`),
    "// npm:kysely@0.29.9/dist/npm/a.js\nlet a;\n// npm:@x/y@1.0.0-rc.1/b.js\n",
  );
  assert.equal(
    namePackages(`var c = __commonJS({\n  "${HOME}/c/1.1.1/c.js"(exports, module) {\n`),
    'var c = __commonJS({\n  "npm:c@1.1.1/c.js"(exports, module) {\n',
  );
  assert.equal(namePackages("// .deno/npm/registry.example.org/c/1.1.1/c.js"), "// npm:c@1.1.1/c.js");
});

Deno.test("namePackages() changes no code and no other comment", () => {
  for (
    const code of [`f("${HOME}/c/1.1.1/c.js")`, `  "${HOME}/c/1.1.1/c.js",`, "// src/npm/a.ts", "// see npm/a/b/c"]
  ) {
    assert.equal(namePackages(code), code);
  }
});
