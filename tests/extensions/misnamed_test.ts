import assert from "node:assert/strict";
import { type Extension, z } from "@vis/extension";
import { shipped } from "../../extensions/index.ts";

Deno.test("an extension suggests the names that its results have", async () => {
  let checked = 0;
  for (const load of Object.values(shipped)) {
    const { alias: { alias }, symbols = [] }: Extension = (await load()).default;
    for (const symbol of symbols) {
      if (symbol.kind !== "function") continue;
      for (const [name, instead] of Object.entries(symbol.misnamed ?? {})) {
        const [part = "", inner] = name.split(".");
        if (/[( ]|length/.test(instead) || inner !== undefined && !symbol.returns.includes(`${part}: {`)) continue;
        const keys = new Set(symbol.returns.match(/\w+/g));
        for (const key of instead.match(/[A-Za-z]+/g) ?? []) {
          assert.ok(keys.has(key), `${alias}.${symbol.name}: ${name} → ${instead}`);
        }
        checked++;
      }
    }
  }
  assert.ok(checked > 100);
});

Deno.test("texts of extensions and pages call functions with as many arguments as these take", async () => {
  const root = new URL("../../", import.meta.url).pathname;
  const counts = await argumentCounts();
  let checked = 0;
  for (const path of [...filesBelow(`${root}extensions`, ".ts"), ...filesBelow(`${root}docs`, ".md")]) {
    const text = Deno.readTextFileSync(path);
    for (const { 0: start, 1: name = "", index } of text.matchAll(/(?<![\w.$])([a-z]\w*\.[a-zA-Z]+)\(/g)) {
      const count = counts.get(name), args = argumentsAt(text, index + start.length);
      if (count === undefined || args.some((one) => one.includes(".join("))) continue;
      const { least, most } = count;
      assert.ok(
        args.length >= least && args.length <= most,
        `${path}: ${name} takes ${least} to ${most}, not ${args.length}`,
      );
      checked++;
    }
  }
  assert.ok(checked > 100, `${checked}`);
});

async function argumentCounts(): Promise<ReadonlyMap<string, Readonly<Record<"least" | "most", number>>>> {
  const extensions: readonly Extension[] = await Promise.all(
    Object.values(shipped).map(async (load) => (await load()).default),
  );
  return new Map(extensions.flatMap(({ alias: { alias }, symbols = [] }) =>
    symbols.flatMap((symbol) => {
      if (symbol.kind !== "function" || !(symbol.args instanceof z.ZodTuple)) return [];
      const items: readonly z.core.$ZodType[] = symbol.args.def.items;
      const least = items.filter((item) => !z.safeParse(item, undefined).success).length;
      return [[`${alias}.${symbol.name}`, { least, most: items.length }] as const];
    })
  ));
}

function* filesBelow(folder: string, ending: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* filesBelow(`${folder}/${name}`, ending);
    else if (name.endsWith(ending) && name !== "realm.ts") yield `${folder}/${name}`;
  }
}

function argumentsAt(text: string, from: number): readonly string[] {
  const args = [""];
  for (let at = from, depth = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char) && --depth < 0) break;
    if (char === "," && depth === 0) args.push("");
    else args[args.length - 1] += char;
  }
  return args.filter((one) => one.trim() !== "");
}
