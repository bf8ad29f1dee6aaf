import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { runs } from "../helpers/long_part.ts";
import { replyJson, type ScriptedRequest } from "../helpers/scripted_provider.ts";

const ITERATIONS = runs(60, 200);
/** The sum of the limits of the parts: notes, thinking, journal, attempts, index with its lists of names, nudges. */
const MOST = 3_000 + 4_000 + 24_000 + 1_500 + 16_000 + 2_500;

function worst(n: number): string {
  const letters = n.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
  const many = Array.from("abcdefgh", (mark, at) => `const ${mark}${letters} = "y".repeat(${1000 + n * 8 + at})`);
  const blocks = [
    many.join("\n"),
    `const ${"long".repeat(20)}_${letters} = "v".repeat(5000 + ${n}); const small_${letters} = ${n}`,
    `const same = Array.from({ length: 1000 }, (_, at) => ({ at, text: "x".repeat(${n % 50}) })); same`,
    `console.log("o".repeat(200_000)); console.error("e".repeat(200_000)); "r".repeat(200_000)`,
    `// ${"comment ".repeat(500)}\nthrow new Error("<var_index>" + "huge ${n} ".repeat(10_000))`,
    `class K${n} { a = ${n} }\nfunction f${n}(${"a".repeat(80)}) { return ${n} }`,
    ...(n % 10 === 0 ? [`await forget("small_${letters}")`, "await requestMoreIterations(1)"] : []),
  ];
  const thinking = `step ${n}: ${"I think. ".repeat(2_000)}`;
  const final = n % 7 === 0 ? { answer: `{{missing_${n}}} ${"a".repeat(50_000)}` } : undefined;
  return replyJson(blocks, { thinking, ...(final ? { final } : {}) });
}

Deno.test("runQuery() keeps message 4 bounded over many iterations of the worst model, and it does not grow", async () => {
  let n = 0;
  const play = (_request: ScriptedRequest): { text: string; chunk: number } => {
    n++;
    if (n % 23 === 0) return { text: `no object ${"<journal> ".repeat(5_000)}`, chunk: 1_000_000 };
    if (n % 29 === 0) return { text: replyJson([`throw new Error("${"all ".repeat(1000)}")`]), chunk: 1_000_000 };
    return { text: worst(n), chunk: 1_000_000 };
  };
  await using engine = await startEngine([], {
    scripted: { otherwise: play },
    settings: { budget: 10_000, limits: { costUsd: null, tokens: null, wallMs: null } },
    limits: { memoryBytes: 1 << 30 },
  });
  const controller = new AbortController();
  const push = engine.events.push.bind(engine.events);
  engine.events.push = (...events) => {
    if (events.some(({ type }) => type === "iteration_finished") && n >= ITERATIONS) controller.abort();
    return events.some(({ type }) => type === "failed" || type === "cancelled") ? push(...events) : 0;
  };
  await engine.ask("grow", { signal: controller.signal });
  const { requests } = engine.provider;
  assert.ok(requests.length >= ITERATIONS, `${requests.length} requests`);
  const sizes = requests.map(({ context }) => context.length);
  const bytes = requests.map(({ context }) => new TextEncoder().encode(context).length);
  assert.ok(Math.max(...sizes) <= MOST, `${Math.max(...sizes)} characters`);
  const early = Math.max(...bytes.slice(20, ITERATIONS * 0.4));
  const late = Math.max(...bytes.slice(ITERATIONS * 0.6));
  assert.ok(late <= early * 1.05, `${late} bytes after ${early}`);
  const prefixes = new Set(requests.map(({ texts }) => texts.slice(0, 3).join("\n\n")));
  assert.equal(prefixes.size, 1, "the prefix is the same bytes in every call");
  assert.ok((await engine.store.variables(engine.branch.branchId)).length > ITERATIONS * 1.5);
});
