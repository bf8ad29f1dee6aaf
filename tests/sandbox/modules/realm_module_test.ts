import assert from "node:assert/strict";
import { Script } from "node:vm";
import { realmModuleReader } from "../../../src/sandbox/modules/modules.ts";

const read = realmModuleReader();
/** Returns the exports of a module, evaluated here in place of a realm. */
const evaluate = (source: string, path = "m.ts"): unknown => new Script(read(source, path)).runInThisContext();

Deno.test("realmModuleReader() named exports become one object without prototype", () => {
  const found = evaluate(`#!/usr/bin/env node
    export const pi: number = 3;
    export function area(r: number): number { return pi * r * r; }
    export class Point { constructor(readonly x: number) {} }
    const hidden = 1;
    export { hidden as shown, pi as "odd name" };
    export let count = 0;
    export function inc(): void { count++; }
    export enum Color { Red = 1 }
    export interface Gone {} // no value
    export type Also = string;
    // the end`) as Record<string, unknown> & { area(r: number): number; inc(): void };
  assert.equal(Object.getPrototypeOf(found), null);
  assert.deepEqual(Object.keys(found).sort(), ["Color", "Point", "area", "count", "inc", "odd name", "pi", "shown"]);
  assert.equal(found.area(2), 12);
  found.inc();
  assert.deepEqual([found["count"], found["shown"]], [1, 1]);
});

for (
  const [what, source] of [
    ["a named class", "export default class Money { static of() { return 7 } }"],
    ["a class without a name", "export default class { static of() { return 7 } }\n(1)"],
    ["an object", "const of = () => 7; export default { of }"],
    ["a name", "const money = { of: () => 7 }; export { money as default }"],
  ] as const
) {
  Deno.test(`realmModuleReader() a default export that is ${what} is the value itself`, () => {
    assert.equal((evaluate(source, "m.js") as { of(): number }).of(), 7);
  });
}

Deno.test("realmModuleReader() a default export can be a function, a value, or something falsy", () => {
  assert.equal((evaluate("export default function twice(n: number) { return n * 2 }") as (n: number) => number)(4), 8);
  assert.equal((evaluate("export default function (n) { return n * 2 }\n[1]", "m.js") as (n: number) => number)(4), 8);
  assert.equal(evaluate("export default 0", "m.mjs"), 0);
});

for (
  const [what, source, expected] of [
    ["imports", 'import { a } from "./a.ts"; export const b = a;', /it imports "\.\/a\.ts"; it must stand alone/],
    ["imports for nothing", 'import "node:fs"; export const b = 1;', /it imports "node:fs"/],
    ["exports from another", 'export * from "./a.ts";', /it imports "\.\/a\.ts"/],
    ["exports one of another", 'export { a } from "./a.ts";', /it imports "\.\/a\.ts"/],
    ["loads at run time", 'export const a = () => import("node:fs");', /it uses import\(\); it must stand alone/],
    ["asks where it is", "export const a = () => import.meta.url;", /it uses import\.meta/],
    ["waits", "export const a = await Promise.resolve(1);", /it waits at its top level/],
    ["exports nothing", "const a = 1;", /it exports nothing/],
    ["exports types alone", "export type A = string;", /it exports nothing/],
    ["has a default beside others", "export default 1; export const a = 2;", /a default beside others/],
    ["is cut off", "export function a( {", /./],
    ["would close its wrapping", "export const a = 1; })(); (function () {", /./],
    ["is too long", `export const a = "${"x".repeat(1 << 20)}";`, /the limit is 1048576/],
  ] as const
) {
  Deno.test(`realmModuleReader() refuses a module that ${what}`, () => {
    assert.throws(() => read(source, "m.ts"), expected);
  });
}
