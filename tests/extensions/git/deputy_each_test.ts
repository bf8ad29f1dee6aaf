/** Tries the programs that settings name, one by one. `deputy_test.ts` tries all of them together. */
import assert from "node:assert/strict";
import { ATTACKS, clear, prepare, ran, TOO_MUCH } from "./_attacks.ts";
import { everything, history } from "./_everything.ts";
import { missing, repository, STARTS } from "./_repository.ts";

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
        // Files with a filter cannot be stashed, and a missing file cannot be merged.
        const least = /filter|fetched|protocol|submodule/.test(attack.name) ? 4 : 26;
        const done = results.filter((result) => !(result instanceof Error));
        assert.ok(done.length >= least, results.map(String).join("\n"));
      });
    },
  );
}

for (const start of STARTS.slice(1)) {
  Deno.test(
    `in a ${start}, git.* does not obey programs that settings name, all or one by one`,
    { ignore },
    async () => {
      for (
        const attacks of [ATTACKS.filter(({ name }) => !TOO_MUCH.test(name)), ...ATTACKS.map((attack) => [attack])]
      ) {
        await repository(async (there) => {
          const name = attacks.map((attack) => attack.name).join();
          await prepare(there);
          for (const attack of attacks) await attack.set(there);
          await clear(there);
          const results = [...await everything(there.bare, there), ...await history(there.bare, there)];
          assert.equal(ran(there), false, name);
          const done = results.filter((result) => !(result instanceof Error));
          assert.ok(done.length > results.length / 4, `${name}\n${results.map(String).join("\n")}`);
        }, { start });
      }
    },
  );
}
