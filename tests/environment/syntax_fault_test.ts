import assert from "node:assert/strict";
import { sourceFault } from "../../src/environment/syntax_fault.ts";

Deno.test("sourceFault() finds names declared twice and an empty JSON file, and no fault in valid files", async () => {
  const twice = (name: string, line = 1) => ({ line, message: `Identifier '${name}' has already been declared` });
  const faults: readonly (readonly [string, string, object])[] = [
    ["a.ts", "let a: number;\nlet a;", twice("a", 2)],
    ["a.js", "let a; let a;", twice("a")],
    ["a.jsx", "const x = <a></a>; let x;", twice("x")],
    ["a.tsx", "const x = <a></b>;", { line: 1, message: "Expected </a>, found </b>" }],
    ["a.jsx", "const x = <a></b>;", { line: 1, message: "Expected </a>, found </b>" }],
    ["a.js", "const x = <a>\n</b>;", { line: 2, message: "Expected </a>, found </b>" }],
    ["a.tsx", "const x = <A<T> b={<i/>}>{c\n}</A.b>;", { line: 2, message: "Expected </A>, found </A.b>" }],
    ["a.tsx", "const x = <a><></b></a>;", { line: 1, message: "Expected </>, found </b>" }],
    ["a.tsx", "const x = <a:b></a>;", { line: 1, message: "Expected </a:b>, found </a>" }],
    ["a.tsx", "const x = <a:b-c></a:b-d>;", { line: 1, message: "Expected </a:b-c>, found </a:b-d>" }],
    ["a.tsx", "const x = <a:b-c/>;\nconst y = <a:b-/>", { line: 2, message: "Unexpected token" }],
    ["a.tsx", "const x = <a:b-c d:e-f={\n1-}/>;", { line: 2, message: 'Unexpected token, expected ";"' }],
    ["a.json", "", { line: 1, message: "an empty file is not JSON" }],
    ["a.json", " \n", { line: 1, message: "an empty file is not JSON" }],
  ];
  for (const [path, text, fault] of faults) assert.deepEqual(await sourceFault(path, text), fault, text);
  const right: readonly (readonly [string, string])[] = [
    ["a.jsonc", ""],
    ["a.ts", ""],
    ["a.js", "function f() {} function f() {}"],
    ["a.ts", "function f(a: string): void; function f(a: any) {}"],
    ["a.ts", "interface A {} interface A {} export enum B { C } export enum B { D } class E {} namespace E {}"],
    ["a.ts", 'import { A } from "x"; interface A {} const a = 1; type a = 2;'],
    ["a.ts", "@d class A { @d b; } let c; { let c; }"],
    ["a.tsx", "const x = <a.b>{1}</a.b>; var y; var y;"],
    ["a.tsx", "const f = <T,>(n: T) => <A.b.c d='</e>' {...f}>{'</i>'} <j-k/><>{/* </p> */}</></ A . b.c>;"],
    ["a.tsx", "const x = <a b=<c/>>{d < 1 ? <e<f>/> : <g></g>}</a>;"],
    ["a.tsx", "const x = <a:b-c/>;"],
    ["a.jsx", "const x = <a-a:b-c-d e--f:g--h='i' j:k-l={m} n:o-p/>;"],
    ["a.js", "const x = <a:b-c>{d ? e:f-g : h}</a:b-c>;"],
    ["a.tsx", "let a = b ? c:d-1; a = b ? c:d--; a = b ? c:d-- -e; a = b ? c:d - -e; a = b ? c:d-/e-f/g;"],
    ["a.jsx", "// @flow\nconst x = (a: number) => <a:b c><d><e/></d></a:b>;"],
  ];
  for (const [path, text] of right) assert.equal(await sourceFault(path, text), null, text);
});
