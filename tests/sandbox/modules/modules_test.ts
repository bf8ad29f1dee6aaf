import assert from "node:assert/strict";
import { undefinedNames } from "../../../src/sandbox/modules/modules.ts";

const names = (code: string): readonly string[] => undefinedNames(code).map(({ name, line }) => `${name} ${line}`);

Deno.test("undefinedNames() finds names that neither the module nor the platform defines", () => {
  assert.deepEqual(names("const a = 1;\nfunction f() {\n  return a + abut + fetch;\n}"), ["abut 3"]);
  assert.deepEqual(names('import a, { b as c, d } from "x"; import * as e from "y"; [a, c, d, e, b];'), ["b 1"]);
  assert.deepEqual(names('const a = 1; export { a as z }; export { q } from "x"; export * from "y";'), []);
  assert.deepEqual(names("export default class A { static #b = gone; m() { return A; } }"), ["gone 1"]);
  assert.deepEqual(names("export default { a: one, b() { return two; } };"), ["one 1", "two 1"]);
  assert.deepEqual(names("export const f = ({ a, b: [c] = later }) => a + c; export function later() {}"), []);
  assert.deepEqual(names("later(); var x = x; function later() { label: for (const one of []) break label; }"), []);
  assert.deepEqual(names("typeof window === 'undefined' || console.log(undefined, globalThis, Deno)"), []);
  assert.deepEqual(names("try { a } catch (e) { e } new.target ?? import.meta; ".replace("new.target ?? ", "")), [
    "a 1",
  ]);
});
