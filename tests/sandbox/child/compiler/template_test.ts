import assert from "node:assert/strict";
import { render } from "../../../../src/sandbox/child/compiler/template.ts";
import { realmValues } from "../../../../src/sandbox/child/view/template_values.ts";

const ran: string[] = [];
const SCOPE: Record<string, unknown> = {
  n: 7,
  big: 10562230626642n,
  bigs: [1n, 2n],
  zero: 0,
  text: 'a <b> & "c"',
  empty: "",
  hits: [{ path: "a.ts", line: 1 }, { path: "b.ts", line: 2 }],
  names: ["x", "y"],
  none: [],
  user: { name: "Ann", tags: new Set(["p", "q"]), address: { city: "Ulm" } },
  map: new Map([["k", "v"]]),
  rows: [{ a: "1\n2", "b|c": "x|y" }, { d: [{ k: 1 }, new Date(Date.UTC(2020, 0, 1))] }],
  mixed: [1, { k: "v" }, [[1, 2], null]],
  fn: () => ran.push("fn"),
  object: {
    a: 1,
    f: () => ran.push("f"),
    get g() {
      ran.push("g");
      return 1;
    },
  },
  undef: undefined,
  nothing: null,
  line: "2.1.3\n",
  lines: "a\nb\n",
  $answer: "before",
};
const show = (template: string, json = false) =>
  render(template, { json, values: realmValues({ lookup: (name) => SCOPE[name], names: () => Object.keys(SCOPE) }) });

const SHOWN: readonly (readonly [template: string, text: string, from: "variable" | "template" | "literal"])[] = [
  ["n", "7", "variable"],
  ["  text\n", 'a <b> & "c"', "variable"],
  ["names", "x, y", "variable"],
  ["$answer", "before", "variable"],
  ["user", "name: Ann, tags: (p, q), address: (city: Ulm)", "variable"],
  ["hits", "| path | line |\n| --- | --- |\n| a.ts | 1 |\n| b.ts | 2 |", "variable"],
  [
    "{{n}} hits:{{hits}}in all",
    "7 hits:\n\n| path | line |\n| --- | --- |\n| a.ts | 1 |\n| b.ts | 2 |\n\nin all",
    "template",
  ],
  [
    "{{rows}}",
    "| a | b\\|c | d |\n| --- | --- | --- |\n| 1 2 | x\\|y |  |\n|  |  | (k: 1), 2020-01-01T00:00:00.000Z |\n\n",
    "template",
  ],
  ["{{mixed}}", "- 1\n- k: v\n- (1, 2), none\n\n", "template"],
  ["map {{map}}", "map k: v", "template"],
  ["{{n}} hits", "7 hits", "template"],
  ["**{{line}}** and {{line}}", "**2.1.3** and 2.1.3", "template"],
  ["It said {{lines}}.", "It said a\nb.", "template"],
  ["{{line}}\nend", "2.1.3\n\nend", "template"],
  ["x {{line}}{{lines}}", "x 2.1.3\na\nb\n", "template"],
  ["{{text}} {{{text}}} {{&text}}", `${SCOPE.text} ${SCOPE.text} ${SCOPE.text}`, "template"],
  ["{{user.name}} in {{user.address.city}}", "Ann in Ulm", "template"],
  ["{{hits.length}}/{{names.length}}/{{text.length}}/{{map.k}}/{{map.size}}", "2/2/11/v/1", "template"],
  ["{{hits.0.path}}", "a.ts", "template"],
  ["{{#hits}}{{path}}:{{line}} {{/hits}}", "a.ts:1 b.ts:2 ", "template"],
  ["{{#names}}<{{.}}>{{/names}}{{^none}}empty{{/none}}", "<x><y>empty", "template"],
  ["{{#user}}{{name}} {{n}} {{missing}}{{/user}}", "Ann 7 ", "template"],
  ["{{#user.tags}}{{.}}{{/user.tags}}", "pq", "template"],
  ["{{#zero}}no{{/zero}}{{^zero}}yes{{/zero}}", "yes", "template"],
  ["{{#user.missing}}no{{/user.missing}}{{n}}", "7", "template"],
  ["{{! a comment }}{{n}}", "7", "template"],
  ["{{names}} {{object}}", "x, y { a: 1, f: [Function: f], g: [Getter] }", "template"],
  ["plain text", "plain text", "literal"],
  ["nobody", "nobody", "literal"],
  ["<div style={{ color: 'red' }}></div>", "<div style={{ color: 'red' }}></div>", "literal"],
  ["write `{{ title }}` there", "write `{{ title }}` there", "literal"],
  ["```vue\n<h1>{{ title }}</h1>\n```\n", "```vue\n<h1>{{ title }}</h1>\n```\n", "literal"],
  ["key: ${{ secrets.KEY }}", "key: ${{ secrets.KEY }}", "literal"],
  ["{{big}} ways, {{bigs}}", "10562230626642 ways, 1, 2", "template"],
  ["big", "10562230626642", "variable"],
  ["{{ .Values.x }} {{- if .y }}", "{{ .Values.x }} {{- if .y }}", "literal"],
  ["x^{{2}}", "x^{{2}}", "literal"],
  ["{{}}", "{{}}", "literal"],
  ["{{", "{{", "literal"],
  ["", "", "literal"],
];

Deno.test("render() variables, templates and text that only looks like one", () => {
  for (const [template, text, from] of SHOWN) assert.deepEqual(show(template), { ok: true, from, text }, template);
  assert.deepEqual(ran, []);
});

class Point {
  x = 1;
}

const AS_JSON: readonly (readonly [template: string, value: unknown])[] = [
  ['{"packages": {{hits}}}', { packages: SCOPE.hits }],
  ['{"names": {{names}}, "none": {{none}}, "n": {{n}}}', { names: ["x", "y"], none: [], n: 7 }],
  ['{"u": {{user}}, "m": {{map}}}', {
    u: { name: "Ann", tags: ["p", "q"], address: { city: "Ulm" } },
    m: { k: "v" },
  }],
  ["rows", [{ a: "1\n2", "b|c": "x|y" }, { d: [{ k: 1 }, "2020-01-01T00:00:00.000Z"] }]],
  ["{{mixed}}", [1, { k: "v" }, [[1, 2], null]]],
  ['[{{#hits}}"{{path}}",{{/hits}}{{point}}]', ["a.ts", "b.ts", { x: 1, s: 'é"', on: true }]],
];

Deno.test("render() writes lists and objects as JSON if the answer must be JSON", () => {
  SCOPE.point = Object.assign(new Point(), { s: 'é"', on: true, absent: undefined, toJSON: undefined });
  for (const [template, value] of AS_JSON) {
    const shown = show(template, true);
    assert.deepEqual(shown.ok ? JSON.parse(shown.text) : shown, value, template);
  }
  const shown = show("{{object}}", true);
  assert.equal(shown.ok && shown.text, "{ a: 1, f: [Function: f], g: [Getter] }");
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  SCOPE.cyclic = cyclic;
  assert.match(JSON.stringify(show("{{cyclic}}", true)), /Circular/);
  assert.deepEqual(ran, []);
});

const REFUSED: readonly (readonly [template: string, reason: RegExp])[] = [
  ["{{n}} {{unknown}}", /\{\{unknown\}\} names no variable/],
  [
    "{{count}} of {{total}}",
    /^\{\{count\}\} names no variable; \{\{total\}\} names no variable\. \(put literal braces /,
  ],
  ["{{ name }}", /\{\{name\}\} names no variable \(names is one\)/],
  ["{{#each items}}x{{/each}}", /\{\{#each items\}\} is not Mustache: \{\{#list\}\}/],
  ["{{n}} {{user.nickname}}", /\{\{user.nickname\}\} does not exist: user has name, tags, address$/],
  ["{{hits.path}}", /\{\{hits.path\}\} does not exist: hits is a list of 2$/],
  ["{{n}} {{ n | upper }}", /\{\{n \| upper\}\} is an expression: compute it in code/],
  ["{{n * 2}} and {{unknown}}", /\{\{n \* 2\}\} is an expression.*; \{\{unknown\}\} names no variable/],
  [
    "{{n}}{{#nope}}x{{/nope}}",
    /^\{\{#nope\}\} names no variable \(none is one\): declare nope in code, or remove the section$/,
  ],
  ["{{fn}}", /is a function/],
  ["{{n}}{{#fn}}x{{/fn}}", /function/],
  ["{{undef}}", /is undefined/],
  ["{{n}}{{nothing}}", /is null/],
  ["undef", /undef is undefined/],
  ["{{n}}{{> part}}", /is a partial/],
  ["{{#hits}}{{path}}", /Unclosed section/],
  ["{{n}}{{#hits}}", /Unclosed section/],
  ["{{object.g}}", /does not exist: object has a, f, g/],
  ["{{user.constructor}}", /does not exist/],
  ["{{user.__proto__.x}}", /does not exist/],
];

Deno.test("render() refuses with the name that is at fault, and runs nothing", () => {
  for (const [template, reason] of REFUSED) {
    const report = show(template);
    assert.ok(!report.ok, template);
    assert.match(report.reason, reason, template);
  }
  assert.deepEqual(ran, []);
});

Deno.test("render() is bounded", () => {
  const big = Array.from({ length: 100_000 }, () => "x".repeat(100));
  const scope: Record<string, unknown> = { big, n: 1 };
  const values = realmValues({ lookup: (name) => scope[name], names: () => ["big", "n"] });
  const options = { values, json: false };
  const report = render("{{#big}}{{.}}{{/big}}", options);
  assert.ok(!report.ok && /more than 1048576 characters/.test(report.reason));
  const nested = render("{{#big}}{{#big}}{{#big}}{{/big}}{{/big}}{{/big}}", options);
  assert.ok(!nested.ok && /1000000 parts/.test(nested.reason));
});
