import assert from "node:assert/strict";
import * as path from "node:path";
import vm from "node:vm";
import { moduleScript } from "../../../scripts/executable/module_script.ts";

interface Made {
  readonly name: string;
  readonly imports: readonly string[];
  readonly evaluate: (load: (name: string) => unknown, url: string, ...imports: readonly unknown[]) => unknown;
}

function made(code: string): Made {
  const found: Made[] = [];
  const define = (name: string, imports: readonly string[], evaluate: Made["evaluate"]): void => {
    found.push({ name, imports, evaluate });
  };
  new vm.Script(`(define) => {\n${moduleScript("m.js", code)}}`).runInThisContext()(define);
  const [first] = found;
  assert.ok(first && found.length === 1);
  return first;
}

function exportsOf(code: string, ...imports: readonly unknown[]): Readonly<Record<string, unknown>> {
  const value = made(code).evaluate((name) => `loaded ${name}`, "file:///m.js", ...imports);
  return { ...Object(value) };
}

Deno.test("moduleScript() passes imports in their order and returns exports under their names", () => {
  const code = 'import{a as b,default as c}from"./one.js";import"./two.js";import*as d from"./three.js";\n' +
    "var e=[b,c,d];function f(){return e}\nexport{e as default,f,f as g};";
  assert.deepEqual(made(code).imports, ["./one.js", "./two.js", "./three.js"]);
  const { default: e, f, g } = exportsOf(code, { a: 1, default: 2 }, {}, "all");
  assert.deepEqual(e, [1, 2, "all"]);
  assert.equal(f, g);
});

Deno.test("moduleScript() takes Node's modules as they are", () => {
  const code = 'import all,{join}from"node:path";import*as whole from"node:path";export{all,join,whole};';
  assert.deepEqual(exportsOf(code, path, path), { all: path, join: path.join, whole: path });
});

Deno.test("moduleScript() keeps the features of modules: import(), import.meta, await, strict mode", async () => {
  const code = 'var a=import("./later.js"),b=import.meta.url,c=import.meta.main,d=(function(){return this})();\n' +
    "export{a,b,c,d};";
  const found = exportsOf(code);
  assert.deepEqual(found, { a: "loaded ./later.js", b: "file:///m.js", c: false, d: undefined });
  const awaited = made("var a=await Promise.resolve(1);export{a};").evaluate(() => null, "");
  assert.ok(awaited instanceof Promise);
  assert.deepEqual({ ...await awaited }, { a: 1 });
  assert.ok(!(made("async function a(){await 1}export{a};").evaluate(() => null, "") instanceof Promise));
});

Deno.test("moduleScript() escapes characters beyond ASCII, except where a template would see it", () => {
  const plain = moduleScript("m.js", 'var ä="é😀",b=/[–]/u.test("–");export{ä as a,b};');
  assert.match(plain, /^[\0-\x7f]*$/);
  assert.deepEqual(exportsOf('var ä="é😀",b=/[–]/u.test("–");export{ä as a,b};'), { a: "é😀", b: true });
  assert.deepEqual(exportsOf("var a=String.raw`–`;export{a};"), { a: "–" });
});

Deno.test("moduleScript() refuses exports that could change later, and syntax that the bundler does not write", () => {
  for (
    const code of [
      "var a;function f(){a=1}export{a};",
      "var a=0;var f=()=>a++;export{a};",
      "var a;function f(o){({x:a}=o)}export{a};",
      "export var a=1;",
      'export*from"./x.js";',
      'export{a}from"./x.js";',
      "var a=import.meta.dirname;",
      "var __load=1;",
    ]
  ) assert.throws(() => moduleScript("m.js", code), /^Error: Cannot make a script of m\.js: /, code);
  assert.deepEqual(exportsOf("var a;a=1;var b={};function f(){b.a=2;let c;c=1}export{a};"), { a: 1 });
});
