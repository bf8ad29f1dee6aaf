/** What the user's own git runs after commands: nothing that they planted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ProcessWall } from "../../src/processes/process_wall.ts";
import { mayMake, missing } from "./_place.ts";
import { asUser, LAYOUTS, type Planted, planted, planting, PLANTS, uses, WORKS } from "./_planting.ts";

const hasGit = missing === "" && await Deno.stat("/usr/bin/git").then(() => true, () => false);
const ignore = !mayMake || !hasGit;

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== null;
  } catch {
    return false;
  }
}

function wallOf({ root }: Planted): ProcessWall {
  return new ProcessWall({
    private: { home: join(root, "home"), visHome: join(root, "home/.vis") },
    read: [],
    network: false,
    env: { PATH: "/usr/bin:/bin" },
  });
}

async function plants(layout: string, tried: readonly string[]): Promise<boolean> {
  let found = false;
  await planted(layout, async (place) => {
    const before = await asUser(FACTS, place);
    await wallOf(place).spawn(place.workspace, ["/bin/sh", "-c", planting(tried, place)]);
    await asUser(uses(place.tops), place);
    found = exists(place.witness);
    assert.equal(await asUser(FACTS, place), before);
  });
  return found;
}

const FACTS = "git rev-parse --git-dir; git config --list --show-origin";

for (const layout of Object.keys(LAYOUTS)) {
  Deno.test(`a command plants nothing that git runs later in a workspace with ${layout}`, { ignore }, async () => {
    if (!await plants(layout, Object.values(PLANTS))) return;
    for (const [name, plant] of Object.entries(PLANTS)) {
      assert.equal(await plants(layout, [plant]), false, `a command that ${name}`);
    }
    assert.fail("a command that tries all");
  });

  Deno.test(`without a wall, a command plants something in a workspace with ${layout}`, { ignore }, async () => {
    await planted(layout, async (place) => {
      await asUser(planting([PLANTS[WORKS[layout] ?? ""] ?? ""], place), place);
      await asUser(uses(place.tops), place);
      assert.equal(exists(place.witness), true);
    });
  });
}
