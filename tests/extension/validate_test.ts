import assert from "node:assert/strict";
import { defineExtension, type Extension, fn, validate, value, z } from "../../src/extension/mod.ts";
import { sample, twice, VIEW } from "./_sample.ts";

function messageOf(spec: unknown): string {
  try {
    validate(spec as Extension);
  } catch (error) {
    assert.ok(error instanceof TypeError);
    return error.message;
  }
  return assert.fail("it was taken");
}

Deno.test("validate() fills in optional keys and makes the prompt a function", async () => {
  const normal = validate(sample({ prompt: "Hello" }));
  assert.equal(await normal.prompt(VIEW), "Hello");
  assert.equal(await normal.activate(VIEW), true);
  assert.deepEqual([normal.requires, normal.symbols], [[], []]);
  assert.equal(normal.group, normal.subgroup);
  assert.equal(await validate(sample()).prompt(VIEW), "");
});

Deno.test("validate() accepts its own result", () => {
  const once = validate(sample({ symbols: [twice(() => 1), value("max", { deep: [1] }, { doc: "Max." })] }));
  assert.deepEqual(validate(once), once);
});

Deno.test("validate() adds a setting to an extension that must be switched on", () => {
  assert.deepEqual(validate(sample({ onByDefault: false })).config?.parse({}), { enabled: false });
  const config = z.strictObject({ enabled: z.boolean().default(true) });
  assert.equal(validate(sample({ onByDefault: false, config })).config, config);
  assert.equal(validate(sample()).config, undefined);
});

Deno.test("defineExtension() validates", () => {
  assert.throws(() => defineExtension(sample({ doc: "" })), {
    message: "Cannot use extension test.sample: doc must not be blank",
  });
  assert.equal(defineExtension(sample()).namespace, "test.sample");
});

const tuple = z.tuple([]);
const func = (fields: object): unknown => ({
  ...fn("find", () => 1, { doc: "Finds.", args: tuple, returns: "x" }),
  ...fields,
});
const REFUSED: readonly (readonly [string, object, RegExp])[] = [
  ["a namespace with a space", { namespace: "a b" }, /extension a b: namespace must look like "com\.acme\.search"/],
  ["no namespace", { namespace: undefined }, /extension without a namespace: namespace is missing/],
  ["no alias", { alias: undefined }, /test\.sample: alias is missing/],
  ["half an alias", { alias: { ns: "vis.ext.a" } }, /alias\.alias is missing/],
  ["an alias that is no identifier", { alias: { ns: "vis.ext.a", alias: "a-b" } }, /alias\.alias must look like/],
  [
    "an alias that the sandbox uses",
    { alias: { ns: "vis.ext.a", alias: "results" } },
    /alias\.alias is a reserved word or a name of the sandbox/,
  ],
  ["a blank doc", { doc: "  " }, /doc must not be blank/],
  ["a version that is none", { version: "1" }, /version must look like "1\.0\.0"/],
  ["requires that is no list", { requires: "x" }, /requires must be a list of strings/],
  ["requires that names itself", { requires: ["test.sample"] }, /requires names the extension itself/],
  ["a misspelled key", { promt: "x" }, /promt is not a known key/],
  ["a prompt that is a number", { prompt: 3 }, /prompt must be a string or a function/],
  ["a symbol without doc", { symbols: [func({ doc: undefined })] }, /symbols\.find\.doc is missing/],
  ["args that are no tuple", { symbols: [func({ args: z.string() })] }, /symbols\.find\.args must be a zod tuple/],
  ["a function that is none", { symbols: [func({ fn: "x" })] }, /symbols\.find\.fn must be a function/],
  ["a hook that is none", { symbols: [func({ onError: 1 })] }, /symbols\.find\.onError must be a function/],
  ["a misspelled hook", { symbols: [func({ onerror: () => 1 })] }, /symbols\.find\.onerror is not a known key/],
  ["a symbol of no kind", { symbols: [{ name: "x" }] }, /symbols\.x/],
  ["a symbol twice", { symbols: [func({}), func({})] }, /symbols\.find is defined twice/],
  ["a symbol that makes the alias a promise", { symbols: [func({ name: "then" })] }, /symbols\.then is a name/],
  ["a constant without value", { symbols: [{ kind: "value", name: "v", doc: "V." }] }, /symbols\.v\.value/],
  ["a grant that does not exist", { allow: { run: ["ls"] } }, /allow\.run is not a known key/],
  ["a grant of ffi", { allow: { ffi: ["/"] } }, /allow\.ffi is not a known key/],
  [
    "a global that does not exist",
    { globals: ["WebSocket"] },
    /globals\.WebSocket does not exist; choose one of fetch,.* Deno\.writeTextFile, Deno\.writeFile, Deno\.env\.get/,
  ],
  [
    "a global that every object has",
    { globals: ["toString"] },
    /globals\.toString does not exist; choose one of fetch,.* Deno\.writeTextFile, Deno\.writeFile, Deno\.env\.get/,
  ],
  ["a global without its grant", { globals: ["fetch"] }, /globals\.fetch needs allow\.net, which is empty/],
  [
    "a global with another grant",
    { globals: ["Deno.writeFile", "Deno.stat"], allow: { read: ["x"] } },
    /globals\.Deno\.writeFile needs allow\.write/,
  ],
  [
    "a grant without a global",
    { allow: { env: ["KEY"] } },
    /allow\.env has no effect without one of these globals: Deno\.env\.get/,
  ],
  [
    "a host name",
    { globals: ["fetch"], allow: { net: ["api.acme.com:443"] } },
    /allow\.net has an invalid entry, because Vis cannot grant net api\.acme\.com:443: the lookup .* in the main process$/,
  ],
  [
    "a variable that is none",
    { globals: ["Deno.env.get"], allow: { env: ["A=B"] } },
    /allow\.env\.A=B is not the name of a variable/,
  ],
  ["a config that is no schema", { config: {} }, /config must be a zod type/],
  [
    "a command with blanks",
    { cli: [{ name: "a b", doc: "A.", run: () => 0 }] },
    /cli\.a b\.name must look like "reindex"/,
  ],
  ["a command that does nothing", { cli: [{ name: "a", doc: "A." }] }, /cli\.a\.run/],
  [
    "args of a command that are no object",
    { cli: [{ name: "a", doc: "A.", args: tuple, run: () => 0 }] },
    /cli\.a\.args/,
  ],
  [
    "a command twice",
    { cli: [1, 2].map(() => ({ name: "a", doc: "A.", run: () => 0 })) },
    /cli\.a is defined twice/,
  ],
  ["modules that are a list", { modules: ["./a.ts"] }, /modules must be names with paths/],
  ["a module without a name", { modules: { "a-b": "./a.ts" } }, /modules\.a-b must be a name like "stats"/],
  [
    "a module that takes a name of ours",
    { modules: { results: "./a.ts" } },
    /modules\.results is a reserved word or the name of a global/,
  ],
  [
    "a module that takes a name of the platform",
    { modules: { Map: "./a.ts" } },
    /modules\.Map is a reserved word or the name of a global/,
  ],
  ["a module that takes its own alias", { modules: { sample: "./a.ts" } }, /modules\.sample has the name of the alias/],
  [
    "a module that climbs",
    { modules: { a: "./b/../../a.ts" } },
    /modules\.a is .*, but must be the path of a script in its folder/,
  ],
  [
    "a module elsewhere",
    { modules: { a: "/etc/a.ts" } },
    /modules\.a is .*, but must be the path of a script in its folder/,
  ],
  [
    "a module on the network",
    { modules: { a: "https://a.example/a.ts" } },
    /modules\.a is .*, but must be the path of a script in its folder/,
  ],
  [
    "a module that is no code",
    { modules: { a: "./a.wasm" } },
    /modules\.a is .*, but must be the path of a script in its folder/,
  ],
  [
    "a module beside many",
    { modules: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`m${at}`, "./a.ts"])) },
    /modules has 51 names, and the limit is 50/,
  ],
  ["an activate that is none", { activate: true }, /activate must be a function/],
  ["a nudge that is none", { nudge: "x" }, /nudge must be a function/],
  ["a group that is blank", { group: " " }, /group must not be blank/],
  ["a shown below zero", { shown: -1 }, /shown/],
  ["a part for reading that is false", { readOnly: false }, /readOnly must be true or \{symbols/],
  ["a part for reading without a prompt", { readOnly: { symbols: [] } }, /readOnly/],
  [
    "a part for reading with a symbol that is none",
    { readOnly: { symbols: ["put"], prompt: "" } },
    /readOnly\.symbols names put/,
  ],
  ["half an example", { example: { thinking: "x" } }, /example\.code/],
  ["a doctor that is none", { doctor: [] }, /doctor must be a function/],
  ["an onByDefault that is a word", { onByDefault: "yes" }, /onByDefault/],
];

for (const [what, fields, expected] of REFUSED) {
  Deno.test(`validate() refuses ${what} and names the key`, () =>
    assert.match(messageOf({ ...sample(), ...fields }), expected));
}

for (const nothing of [null, undefined, 7, "x", []]) {
  Deno.test(`validate() refuses ${JSON.stringify(nothing)}`, () =>
    assert.match(messageOf(nothing), /without a namespace/));
}
