import { basename, join } from "node:path";
import testingTypes from "../../../docs/extensions/vis-extension-testing.d.ts" with { type: "text" };
import types from "../../../docs/generated/vis-extension.d.ts" with { type: "text" };
import { fileFault, UsageError } from "../../domain/errors.ts";

/** The version whose types an editor loads; `z` of `@vis/extension` is the one in the program. */
const ZOD = "npm:zod@4.6.7";

/** What an extension imports: the file with its types in a new folder, and its source here. */
export const TYPE_FILES = {
  "@vis/extension": {
    file: "vis-extension.d.ts",
    text: types,
    source: "../../../docs/generated/vis-extension.d.ts",
  },
  "@vis/extension/testing": {
    file: "vis-extension-testing.d.ts",
    text: testingTypes,
    source: "../../../docs/extensions/vis-extension-testing.d.ts",
  },
  "zod": { file: ZOD, text: null, source: ZOD },
} as const;

/** Writes a working extension with its checks, and types for editors; resolves with the folder. */
export async function newExtension(folder: string): Promise<string> {
  const name = basename(folder);
  if (!/^[a-z][a-z0-9]{0,40}$/.test(name)) {
    throw new UsageError(`Cannot create extension ${name}: a name has up to 41 lower-case letters and digits`);
  }
  try {
    await Deno.mkdir(folder);
  } catch (error) {
    throw new UsageError(`Cannot create extension ${name}: ${fileFault(error)}`);
  }
  for (const [file, text] of Object.entries(filesOf(name))) await Deno.writeTextFile(join(folder, file), text);
  return folder;
}

function filesOf(name: string): Readonly<Record<string, string>> {
  const namespace = `my.${name}`;
  const manifest = { extensions: [{ namespace, version: "0.1.0", entry: "mod.ts", requires: [], allow: {} }] };
  const checks = [{ call: `${name}.hello`, args: ["Ada"], result: "Hello, Ada" }, {
    call: `${name}.hello`,
    args: [""],
    error: "Cannot call",
  }];
  const imports = Object.entries(TYPE_FILES).map(([one, { file, text }]) => [one, text === null ? file : `./${file}`]);
  const editor = { imports: Object.fromEntries(imports) };
  return {
    ...Object.fromEntries(Object.values(TYPE_FILES).flatMap(({ file, text }) => text === null ? [] : [[file, text]])),
    "deno.json": `${JSON.stringify(editor, null, 2)}\n`,
    "vis.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "checks.json": `${JSON.stringify(checks, null, 2)}\n`,
    "mod.ts": `import { defineExtension, fn, z } from "@vis/extension";

export default defineExtension({
  namespace: "${namespace}",
  alias: { ns: "vis.ext.${name}", alias: "${name}" },
  doc: "Greets people.",
  version: "0.1.0",
  prompt: "Greetings.",
  symbols: [
    fn("hello", (_env, who: string) => \`Hello, \${who}\`, {
      doc: "A greeting.",
      args: z.tuple([z.string().min(1).describe("who")]),
      returns: "string",
      examples: ['await ${name}.hello("Ada")'],
    }),
  ],
});
`,
    "mod_test.ts": `import assert from "node:assert/strict";
import { test, testExtension } from "@vis/extension/testing";
import ${name} from "./mod.ts";

test("${name}.hello() greets by name", async () => {
  const tested = await testExtension(${name});
  assert.equal(await tested.call("${name}.hello", "Ada"), "Hello, Ada");
  await assert.rejects(tested.call("${name}.hello", ""), /Cannot call ${name}.hello/);
});
`,
  };
}
