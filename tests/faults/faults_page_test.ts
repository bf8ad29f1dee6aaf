import assert from "node:assert/strict";
import { join } from "node:path";
import { withFolder } from "../helpers/with_folder.ts";
import { FAMILIES } from "./families/families.ts";
import { faultsPage } from "./families/faults_page.ts";
import type { Row } from "./families/run_family.ts";

const PAGE = new URL("../../docs/generated/faults.md", import.meta.url);

function row(lost: number, missing = ""): Row {
  const counts = { lost, half: 0, twice: 0, hung: 0, unclear: 0 };
  return { family: "kills", what: "kills", missing, tries: 3, faults: 9, counts, failed: [], seconds: 1 };
}

function numbersOf(page: string): readonly (readonly number[])[] {
  const rows = page.split("\n").filter((line) => line.startsWith("|") && !/^\| (family|-)/.test(line));
  return rows.map((line) => line.split("|").slice(5, -1).map(Number));
}

Deno.test("faultsPage() has the table of this run and keeps the table of the other way", () =>
  withFolder(async (folder) => {
    const before = join(folder, "faults.md");
    await Deno.writeTextFile(before, await faultsPage({ way: "compiled", rows: [row(1)], before }));
    await Deno.writeTextFile(
      before,
      await faultsPage({ way: "source", rows: [row(0), { ...row(0, "no disk"), family: "disks" }], before }),
    );
    const page = await Deno.readTextFile(before);
    assert.match(page, /## From source[\s\S]*not tried: no disk[\s\S]*## Compiled/);
    assert.deepEqual(numbersOf(page), [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]]);
  }));

Deno.test("faultsPage() keeps the rows of families that were not tried now", () =>
  withFolder(async (folder) => {
    const before = join(folder, "faults.md");
    const write = async (...rows: readonly Row[]) =>
      await Deno.writeTextFile(before, await faultsPage({ way: "source", rows, before }));
    await write(row(1), { ...row(2), family: "disks" });
    await write({ ...row(0), family: "disks" });
    await write({ ...row(3), family: "flips" });
    const page = await Deno.readTextFile(before);
    assert.deepEqual(numbersOf(page).map(([lost]) => lost), [1, 0, 3]);
    assert.match(page, /kills[^\n]*\n\| disks[^\n]*\n\| flips/);
  }));

const made = await Deno.stat(PAGE).then(() => true, () => false);
Deno.test({
  name: `docs/generated/faults.md has each family, and nothing but 0${made ? "" : " (skipped: it was not made yet)"}`,
  ignore: !made,
  fn: async () => {
    const page = await Deno.readTextFile(PAGE);
    for (const { name, what } of FAMILIES) assert.ok(page.includes(`| ${name} `) && page.includes(what), name);
    assert.deepEqual(numbersOf(page).flat().filter((number) => number !== 0), []);
  },
});
