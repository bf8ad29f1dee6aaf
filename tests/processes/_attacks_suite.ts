import assert from "node:assert/strict";
import type { ChildProgram } from "../../src/sandbox/launch/program.ts";
import type { Attack, Outcome } from "./_attack.ts";
import { ATTACKS } from "./_attacks.ts";
import { mayMake, place } from "./_place.ts";

/** Every attack behind the wall. */
export function attacksSuite(
  { name, missing, launcher }: {
    readonly name: string;
    readonly missing: string;
    readonly launcher: () => Promise<ChildProgram | undefined>;
  },
): void {
  for (const attack of ATTACKS) {
    for (const own of attack.own ? [false] : [false, true]) {
      const walls = own ? "in a network and file system of its own" : "without sockets";
      const title = `ProcessWall ${name}: a command ${walls} that ${attack.name} does not`;
      Deno.test(title, { ignore: missing !== "" || own && !mayMake }, async () => {
        const program = await launcher();
        await place(async (there) => {
          const outcome = await there.wall.spawn(there.workspace, ["/bin/sh", "-c", attack.command(there)], {
            timeoutMs: 20_000,
            ...(own ? { loopback: "one" } : {}),
          });
          assert.equal(attack.got(outcome, there), false, JSON.stringify(outcome));
          if (own) assert.equal((await there.wall.walls()).unix, true);
        }, program ? { launcher: program } : {});
      });
    }
  }
}

/** The same without the wall: an attack that does nothing then proves nothing. */
export function controlsSuite({ missing }: { readonly missing: string }): void {
  for (const attack of ATTACKS.filter(({ control }) => control)) {
    Deno.test(`without a wall: a command that ${attack.name} does`, { ignore: missing !== "" }, async () => {
      await place(async (there) => {
        assert.equal(attack.got(await unconfined(attack, { ...there }), there), true);
      });
    });
  }
}

async function unconfined(attack: Attack, there: Parameters<Attack["command"]>[0]): Promise<Outcome> {
  const { code, stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", attack.command(there)],
    cwd: there.workspace,
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}
