/** Programs that settings name, one by one; `deputy_test.ts` has all of them together. */
import assert from "node:assert/strict";
import { ATTACKS, prepare, ran } from "./_attacks.ts";
import { everything, history } from "./_everything.ts";
import { missing, repository } from "./_repository.ts";

const ignore = missing !== "";

for (const attack of ATTACKS) {
  Deno.test(`without precautions, git obeys: ${attack.name}`, { ignore }, async () => {
    await repository(async (there) => {
      await attack.set(there);
      assert.equal(ran(there), false);
      await attack.obey(there);
      assert.equal(ran(there), true);
    });
  });

  Deno.test(`git.* does not obey, even without the wall: ${attack.name}`, { ignore }, async () => {
    await repository(async (there) => {
      await attack.set(there);
      const results = await everything(there.bare, there);
      assert.equal(ran(there), false);
      assert.ok(results.some((result) => !(result instanceof Error)), String(results[0]));
    });
  });
}

for (const attack of ATTACKS) {
  Deno.test(
    `git.* does not obey as it changes history, even without the wall: ${attack.name}`,
    { ignore },
    async () => {
      await repository(async (there) => {
        await prepare(there);
        await attack.set(there);
        const results = await history(there.bare, there);
        assert.equal(ran(there), false);
        // Files with a filter cannot be stashed, and one that is missing cannot be merged.
        const least = /filter|fetched|protocol|submodule/.test(attack.name) ? 4 : 26;
        const done = results.filter((result) => !(result instanceof Error));
        assert.ok(done.length >= least, results.map(String).join("\n"));
      });
    },
  );
}
