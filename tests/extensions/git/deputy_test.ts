import assert from "node:assert/strict";
import { ATTACKS, clear, prepare, ran, TOO_MUCH } from "./_attacks.ts";
import { everything, history } from "./_everything.ts";
import { runs } from "../../helpers/long_part.ts";
import { missing, repository } from "./_repository.ts";

const ignore = missing !== "";

/** A setting that git does not obey without the wall needs no check behind it. The long part includes these settings
 * too. */
for (const where of (["bare", "env"] as const).slice(0, runs(1, 2))) {
  const name = where === "env" ? "behind the wall" : "without the wall";
  Deno.test(`git.* ${name} obeys no program of a repository that names all of them`, { ignore }, async () => {
    await repository(async (there) => {
      await prepare(there);
      for (const { set, name } of ATTACKS) if (!TOO_MUCH.test(name)) await set(there);
      await clear(there);
      const results = await everything(there[where], there);
      await history(there[where], there);
      assert.equal(ran(there), false);
      const refused = results.filter((result) => result instanceof Error).map(String);
      assert.ok(refused.every((text) => /filter/.test(text) || /nothing/.test(text)), refused.join("\n"));
      assert.ok(refused.length < results.length / 2, refused.join("\n"));
    });
  });
}
