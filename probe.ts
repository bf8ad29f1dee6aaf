import { startEngine } from "./tests/helpers/engine.ts";
import { replyJson as r } from "./tests/helpers/scripted_provider.ts";
import rlm from "./extensions/rlm/mod.ts";
import memo from "./extensions/memo/mod.ts";
const S: Record<string, string[]> = {
  r1: [r(["print('a'); [1,2,3]"]), r(["results.length + ' ' + JSON.stringify(results[0])"]), r([], { final: "done" })],
  r3: [
    r(["function rle(s){ return s.length > 1 ? rle(s.slice(1)) : s }\nString(rle)"]),
    r(["String(rle) + JSON.stringify([...String(rle)].map(c=>c.charCodeAt(0)).filter(c=>c>127)) + rle.name"]),
    r([], { final: "{{rle}}" }),
    r([], { final: "x" }),
  ],
  r4: [r(["const a=1"], { final: "{{count}} of {{#each items}}x{{/each}}" }), r([], { final: "ok" })],
  r5: [
    r(["nope()"], { final: "all fine" }),
    r(["nope()"], { final: "all fine" }),
    r(["nope()"], { final: "all fine" }),
  ],
  r6: [
    r([
      "const memo = new Map(); const history = [1]; const results = 5; const answer = 3; const vars = 2; const doc = 'd'; const shape='s'; const crypto = 1; const debug = 1; const web = 1;",
    ]),
    r(["[memo.has(1), history, results, answer, vars, doc, shape, crypto]"]),
    r([], { final: "x" }),
  ],
  r6b: [
    r([
      "const { open, close } = {open: 1, close: 2}; const process = 1; const module = 2; const require = 3; const global = 4; const fetch = 5",
    ]),
    r(["[open, close, process, fetch]"]),
    r([], { final: "x" }),
  ],
  r7: [r(["const n = 10562230626642n"], { final: "{{n}} ways" })],
  r10: Array(22).fill("I think the answer is 42."),
  r12: [r(["for (let i=0;i<400;i++) print('line ' + i + ' of the output')"]), r([], { final: "x" })],
  r13: [
    r(["const files = Array.from({length: 30}, (_, i) => ({path: 'src/file' + i + '.ts', text: 'x'.repeat(500)}))"]),
    r(["const rows = Array.from({length: 8}, (_, i) => ({name: 'n' + i, value: i, other: 'abc'}));\nrows"]),
    r([], { final: "x" }),
  ],
  r14: [
    r(["const t1 = [1,2,3].map(x=>x*2); print('tests: 5 passed, 1 failed')"]),
    r(["1"]),
    r(["2"]),
    r([], { final: "x" }),
  ],
  r17: [
    r(['throw new Error("x")\n({ a: 1 })']),
    r(["const p = Promise.resolve(5); print(p); p"]),
    r(["const s = 'a\nb'; s"]),
    r(["await doc(print)", "await doc(shape)", "await foo.bar()", "await vrs()"]),
    r([], { final: "x" }),
  ],
  r25: [
    r(["const b = 2;\nnope();"]),
    r(["const e = Object.assign(new Error('bad'), {code: 'E1', data: {a: 1}}); throw e"]),
    r(["const e2 = async () => [1,2]; e2().map(x => x); e2().length", "for (const p of (async () => [1])()) {}"]),
    r([], { final: "x" }),
  ],
  r29: [
    r(["const k = 1; k = 2; k"]),
    r(["total = 5", "for (i = 0; i < 3; i++) {}; i"]),
    r(["{ print(typeof k); }\nprint(k); const k = 7"]),
    r([], { final: "x" }),
  ],
  r30: [
    r(["Array.prototype.last = function () { return this[this.length-1] }; [1,2].last()"]),
    r(["[3].last()"]),
    r(["console.log('%s is %d', 'a', 5)", "new Promise(() => {})"]),
    r([], { final: "x" }),
  ],
  r32: [
    r([
      "enum A { X = 'a', Y = 'b'.length as any }; JSON.stringify(A)",
      "namespace N { export interface I {} }\nimport Q = N; 1",
      "function f(){return 1}\nfunction f(){return 2}\nf()",
      "var \\u088F = 1",
      "typeof SharedArrayBuffer",
    ]),
    r([], { final: "x" }),
  ],
};
const only = Deno.args[0]?.split(",");
for (const [name, replies] of Object.entries(S)) {
  if (only && !only.includes(name)) continue;
  await using e = await startEngine(replies, { extensions: [rlm, memo] as never });
  const t = await e.ask("do " + name).catch((x) => ({ answer: "THROWN " + x, status: "?" }) as never);
  console.log(
    `\n######## ${name}: ${e.provider.requests.length} calls → ${
      JSON.stringify({ ...t as any, usage: undefined }).slice(0, 700)
    }`,
  );
  for (let i = 1; i < Math.min(e.provider.requests.length, 5); i++) {
    console.log(`--- context ${i + 1} ---\n${e.context(i).slice(0, 2500)}`);
  }
}
