import type { Row } from "./run_family.ts";
import { tableOf } from "./table_of.ts";

export type Way = "source" | "compiled";

const TITLES: Readonly<Record<Way, string>> = { source: "From source", compiled: "Compiled" };

/** Returns docs/generated/faults.md with these rows in the table of one way of running. Other rows, and the other
 * table, are unchanged. */
export async function faultsPage(
  { way, rows, before }: { readonly way: Way; readonly rows: readonly Row[]; readonly before: string },
): Promise<string> {
  const old = await Deno.readTextFile(before).catch(() => "");
  const kept = (one: Way): string => old.split(`## ${TITLES[one]}\n`)[1]?.split("\n## ")[0]?.trim() ?? "";
  const sections = (["source", "compiled"] as const).flatMap((one) => {
    const text = one === way ? tableOf(rows, kept(one)) : kept(one);
    return text === "" ? [] : ["", `## ${TITLES[one]}`, "", text];
  });
  return [
    "# Results of injected faults",
    "",
    "<!-- Made by `deno task faults`. Do not edit. -->",
    "",
    "This page is for contributors to the store. Each table counts the findings of `bin/deno task faults`.\n[Faults](../internals/faults.md) describes the families and the kinds of findings.",
    ...sections,
    "",
  ].join("\n");
}
