/** Makes a few tries of each family of `deno task faults`: docs/internals/faults.md. It tests the executable if one can
 * be made, since it starts faster. */
import assert from "node:assert/strict";
import { compiledLauncher, sourceLauncher } from "../e2e/_launcher.ts";
import { FAMILIES } from "./families/families.ts";
import { runFamily } from "./families/run_family.ts";

const compiled = await compiledLauncher();
const launcher = compiled.missing === "" ? compiled : await sourceLauncher();

for (const family of FAMILIES) {
  const missing = await family.missing();
  Deno.test({
    name: `nothing is lost, half, twice, hung or unclear: ${family.what}${missing && ` (skipped: ${missing})`}`,
    ignore: missing !== "",
    fn: async () => {
      await launcher.ready();
      const options = { launcher, tries: family.tries.quick, quick: true, seed: 1, atOnce: 2 };
      const { failed, faults } = await runFamily(family, options);
      const told = failed.map(({ seed, trail }) =>
        [`--family ${family.name} --seed ${seed} --quick`, ...trail].join("\n")
      );
      assert.equal(told.join("\n\n"), "");
      assert.ok(faults > 0, "a fault was put in");
    },
  });
}
