/** The script has 12 iterations in three queries, with many kinds of effects that a kill can interrupt. */
import type { VariableSource } from "../../src/environment/input_variables.ts";
import { replyJson } from "./scripted_provider.ts";

export interface KillStep {
  readonly blocks: readonly string[];
  readonly final?: string;
}

const BIG = "'0123456789'.repeat(9_000)";

export const STEPS: readonly KillStep[] = [
  {
    blocks: [
      "// Rows of the report\nlet rows = [{ name: 'a', n: 1 }]; let total = 0",
      "function sum(list: { n: number }[]) { return list.reduce((all, { n }) => all + n, 0) }\nconst twice = (n: number) => sum(rows) * n",
      "class Account { constructor(public owner: string, public balance = 0) {} add(n: number) { this.balance += n; return this } }\nconst account = new Account('Ann', 10)",
    ],
  },
  {
    blocks: [
      "rows.push({ name: 'b', n: 2 }); total = sum(rows)",
      "(await fs.writeFile('two.txt', 'total ' + total)).path",
    ],
  },
  { blocks: ["const hold = ((n) => () => n)(7)", "const tmp = [1, 2, 3]; let note = 'v1'"] },
  { blocks: ["note = 'v2'", "account.add(5)"], final: "laid {{total}}" },

  { blocks: ["note = 'v3'; let big = " + BIG, "await forget('tmp')"] },
  { blocks: ["throw new Error('planned ' + total)"] },
  {
    blocks: [
      "const child = await rlm.run('CHILD count the rows', { vars: ['rows'] })",
      "const asked = await rlm.ask('ASK a name')",
    ],
  },
  {
    blocks: ["await restoreVar('note', 1)", "await restoreVar('tmp'); rows.push({ name: 'c', n: tmp.length })"],
    final: "{{total}} {{missing}}",
  },
  { blocks: ["total = sum(rows)", "big += 'end'"], final: "second {{total}}" },

  {
    blocks: [
      "const text = await fs.readFile('two.txt')",
      "account.add(1)",
      "(await fs.writeFile('three.txt', text + ' ' + rows.length)).path",
    ],
  },
  { blocks: ["const log = (await varHistory('note')).map((version) => version.value).join()"] },
  {
    blocks: [
      "const all = [rows.length, total, account instanceof Account, account.balance, twice(2), note, tmp.join('+'), log, child, asked, big.length, context.length].join(' ')",
    ],
    final: "{{all}}",
  },
];

export const REQUESTS: readonly { readonly text: string; readonly first: number }[] = [
  { text: "Lay the ground", first: 1 },
  { text: "Build on it", first: 5 },
  { text: "Sum it up", first: 10 },
];

export const CONTEXT = "the words of the report\n".repeat(100);

export function contextSource(): VariableSource {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new TextEncoder().encode(CONTEXT));
  }
  return { label: "words.txt", json: false, pieces: pieces() };
}

export const CALL = { input: 100, output: 10 };

export function thinkingOf(step: number): string {
  return `step ${step}`;
}

export function stepOf(thinking: string): number | null {
  const found = /^step (\d+)$/.exec(thinking);
  return found ? Number(found[1]) : null;
}

export function replyOf(step: number, blocks = STEPS[step - 1]?.blocks ?? []): string {
  const final = STEPS[step - 1]?.final;
  return replyJson(blocks, { thinking: thinkingOf(step), ...(final === undefined ? {} : { final }) });
}

export function replyBelow(request: string): string | null {
  if (request.includes("ASK a name")) return "Ann";
  if (!request.includes("CHILD count")) return null;
  return replyJson("const counted = rows.length", { thinking: "below", final: "{{counted}}" });
}
