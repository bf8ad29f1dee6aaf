import type { AgentTask } from "../agent_task.ts";
import { fixing } from "./_fixing.ts";

export const BUG_TASKS: readonly AgentTask[] = [
  fixing("fixing/off-by-one", {
    request:
      "In src/pages.ts the last page is lost when it is not full, and page 1 shows the entries of page 2. Fix it; pages are counted from 1.",
    files: {
      "src/pages.ts": `export function pageCount(total: number, size: number): number {
  return Math.floor(total / size);
}

export function pageOf<T>(items: readonly T[], page: number, size: number): T[] {
  return items.slice(page * size, page * size + size);
}
`,
    },
    fixed: {
      "src/pages.ts": `export function pageCount(total: number, size: number): number {
  return Math.ceil(total / size);
}

export function pageOf<T>(items: readonly T[], page: number, size: number): T[] {
  return items.slice((page - 1) * size, page * size);
}
`,
    },
    test: `import { pageCount, pageOf } from "@/src/pages.ts";
same([pageCount(0, 5), pageCount(5, 5), pageCount(6, 5)], [0, 1, 2]);
same([pageOf([1, 2, 3, 4, 5], 1, 2), pageOf([1, 2, 3, 4, 5], 3, 2), pageOf([1], 2, 2)], [[1, 2], [5], []]);`,
  }),
  fixing("fixing/shared-default", {
    request:
      "Two baskets made with newBasket() in src/basket.ts share their items, and adding to one changes the other. Fix it without changing what the functions are called or return.",
    files: {
      "src/basket.ts": `const EMPTY = { items: [] as string[], total: 0 };

export function newBasket() {
  return { ...EMPTY };
}

export function add(basket: { items: string[]; total: number }, item: string, cents: number) {
  basket.items.push(item);
  basket.total += cents;
  return basket;
}
`,
    },
    fixed: {
      "src/basket.ts": `export function newBasket() {
  return { items: [] as string[], total: 0 };
}

export function add(basket: { items: string[]; total: number }, item: string, cents: number) {
  basket.items.push(item);
  basket.total += cents;
  return basket;
}
`,
    },
    test: `import { add, newBasket } from "@/src/basket.ts";
const [one, two] = [newBasket(), newBasket()];
add(one, "tea", 300);
same([one, two], [{ items: ["tea"], total: 300 }, { items: [], total: 0 }]);
same(add(two, "milk", 90) === two, true);`,
  }),
  fixing("fixing/number-sort", {
    request:
      "median in src/stats.ts is wrong for [10, 9, 1], and it changes the order of the array it is given. Fix both. The median of an empty array is NaN.",
    files: {
      "src/stats.ts": `export function median(values: number[]): number {
  values.sort();
  return values[Math.floor(values.length / 2)]!;
}
`,
    },
    fixed: {
      "src/stats.ts": `export function median(values: number[]): number {
  if (values.length === 0) return NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(half)]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
`,
    },
    tempting: {
      "src/stats.ts": `export function median(values: number[]): number {
  values.sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? NaN;
}
`,
    },
    test: `import { median } from "@/src/stats.ts";
const given = [10, 9, 1];
same([median(given), given], [9, [10, 9, 1]]);
same([median([1, 2, 3, 10]), median([100, 20]), Number.isNaN(median([]))], [2.5, 60, true]);`,
  }),
  fixing("fixing/lost-await", {
    request:
      "saveAll in src/save.ts returns before the entries are saved, and a save that fails goes unnoticed. It must save them one after the other, stop at the first failure and pass that error on.",
    files: {
      "src/save.ts": `export type Save = (entry: string) => Promise<void>;

export async function saveAll(entries: string[], save: Save): Promise<number> {
  let saved = 0;
  entries.forEach(async (entry) => {
    await save(entry);
    saved++;
  });
  return saved;
}
`,
    },
    fixed: {
      "src/save.ts": `export type Save = (entry: string) => Promise<void>;

export async function saveAll(entries: string[], save: Save): Promise<number> {
  for (const entry of entries) await save(entry);
  return entries.length;
}
`,
    },
    tempting: {
      "src/save.ts": `export type Save = (entry: string) => Promise<void>;

export async function saveAll(entries: string[], save: Save): Promise<number> {
  await Promise.all(entries.map((entry) => save(entry)));
  return entries.length;
}
`,
    },
    test: `import { saveAll } from "@/src/save.ts";
const seen = [];
const save = async (entry) => {
  seen.push("+" + entry);
  await new Promise((done) => setTimeout(done, 2));
  if (entry === "c") throw new Error("full");
  seen.push("-" + entry);
};
same([await saveAll(["a", "b"], save), seen], [2, ["+a", "-a", "+b", "-b"]]);
let failed = "";
await saveAll(["c", "d"], save).catch((error) => failed = error.message);
same([failed, seen.slice(4)], ["full", ["+c"]]);`,
  }),
  fixing("fixing/csv-quotes", {
    request:
      "parseLine in src/csv.ts splits quoted fields that hold commas and keeps the quotes. Make it follow the usual rules: a field in double quotes may hold commas, and two double quotes inside it are one.",
    files: {
      "src/csv.ts": `export function parseLine(line: string): string[] {
  return line.split(",");
}
`,
      "src/report.ts": `import { parseLine } from "./csv.ts";

export function columns(text: string): number[] {
  return text.split("\\n").map((line) => parseLine(line).length);
}
`,
    },
    fixed: {
      "src/csv.ts": `export function parseLine(line: string): string[] {
  const fields: string[] = [];
  let field = "", quoted = false;
  for (let at = 0; at < line.length; at++) {
    const sign = line[at];
    if (sign === '"' && quoted && line[at + 1] === '"') {
      field += '"';
      at++;
    } else if (sign === '"') quoted = !quoted;
    else if (sign === "," && !quoted) {
      fields.push(field);
      field = "";
    } else field += sign;
  }
  return [...fields, field];
}
`,
    },
    tempting: {
      "src/csv.ts": `export function parseLine(line: string): string[] {
  return (line.match(/("[^"]*"|[^,]+)/g) ?? []).map((field) => field.replaceAll('"', ""));
}
`,
    },
    test: `import { parseLine } from "@/src/csv.ts";
import { columns } from "@/src/report.ts";
same(parseLine('a,"b,c",d'), ["a", "b,c", "d"]);
same(parseLine('"say ""hi""",,x'), ['say "hi"', "", "x"]);
same([parseLine(""), columns('1,2\\n"1,2"')], [[""], [2, 1]]);`,
  }),
  fixing("fixing/stale-cache", {
    request:
      "The cache in src/cache.ts never forgets: it must keep at most the given number of keys and drop the one that was used longest ago. Reading a key counts as using it, and a stored undefined is a value too.",
    files: {
      "src/cache.ts": `export class Cache<T> {
  #values = new Map<string, T>();

  constructor(readonly most: number) {}

  get(key: string, make: () => T): T {
    const found = this.#values.get(key);
    if (found) return found;
    const made = make();
    this.#values.set(key, made);
    return made;
  }

  get size(): number {
    return this.#values.size;
  }
}
`,
    },
    fixed: {
      "src/cache.ts": `export class Cache<T> {
  #values = new Map<string, T>();

  constructor(readonly most: number) {}

  get(key: string, make: () => T): T {
    const value = this.#values.has(key) ? this.#values.get(key) as T : make();
    this.#values.delete(key);
    this.#values.set(key, value);
    const [oldest] = this.#values.keys();
    if (this.#values.size > this.most) this.#values.delete(oldest!);
    return value;
  }

  get size(): number {
    return this.#values.size;
  }
}
`,
    },
    test: `import { Cache } from "@/src/cache.ts";
const cache = new Cache(2);
let made = 0;
const read = (key, value) => cache.get(key, () => { made++; return value; });
read("a", 1); read("b", 0); read("a", 1); read("c", 3);
same([cache.size, made], [2, 3]);
read("a", 1);
same(made, 3);
read("b", 0); read("b", 0);
same(made, 4);
read("u", undefined); read("u", undefined);
same(made, 5);`,
  }),
];
