import assert from "node:assert/strict";
import type { SandboxTestOptions } from "../../../src/sandbox/host/open_sandbox.ts";
import { testSandbox } from "../../helpers/sandbox.ts";
import { claimed, type Column, COLUMNS, isControl, runColumn, type Way } from "./table.ts";

const linux = Deno.build.os === "linux";

export interface AttacksSuiteOptions {
  readonly way: Way;
  readonly program?: NonNullable<SandboxTestOptions["program"]>;
  readonly missing: string;
  readonly ready: () => Promise<void>;
  /** The walls that are tried alone, all by default. */
  readonly alone?: readonly Column[];
}

const ALONE = COLUMNS.filter((one) => one !== "none" && one !== "all");

/** Tests the whole list: each attack works without walls, each wall alone stops the attacks of its claims, and all
 * walls together stop all attacks. */
export function attacksSuite({ way, program, missing, ready, alone = ALONE }: AttacksSuiteOptions): void {
  const options = program ? { program } : {};
  const test = (name: string, fn: (t: Deno.TestContext) => Promise<void>): void =>
    Deno.test({ name: `${name} [${way}]${missing && `: ${missing}`}`, ignore: !linux || missing !== "", fn });

  test("without walls the attacks work, so that the list proves something", async () => {
    await ready();
    const failed: string[] = [];
    await runColumn("none", {
      ...options,
      wanted: (attack) => isControl(attack, way),
      onAttempt: ({ name }, { reached, met }) => {
        if (reached.length === 0) failed.push(`${name} (${met})`);
      },
    });
    assert.deepEqual(failed, []);
  });

  for (const column of alone) {
    test(`${column} alone stops every attack that it claims to`, async () => {
      await ready();
      const through: string[] = [];
      let tried = 0;
      await runColumn(column, {
        ...options,
        wanted: (attack) => claimed(attack, column, way),
        onAttempt: ({ name }, { reached, met }) => {
          tried++;
          if (reached.length > 0) through.push(`${name}: ${reached.join(", ")} (${met})`);
        },
      });
      assert.ok(tried > 0);
      assert.deepEqual(through, []);
    });
  }

  test("no attack of the list reaches a target through all walls, or harms the child", async (t) => {
    await ready();
    await using neighbour = await testSandbox();
    await neighbour.run("let n = 1");
    await runColumn("all", {
      ...options,
      wanted: () => true,
      onAttempt: async ({ name }, { reached }) => {
        await t.step(name, () => assert.deepEqual(reached, []));
      },
    });
    assert.equal(await neighbour.show("n + 1"), "2");
  });
}
