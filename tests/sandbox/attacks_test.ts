import assert from "node:assert/strict";
import type { SandboxTestOptions } from "../../src/sandbox/host.ts";
import { isAlive, type TestSandbox, testSandbox } from "../helpers/sandbox.ts";
import { type Attack, ATTACKS } from "./attack_list.ts";
import { AttackTargets } from "./attack_targets.ts";

type Walls = NonNullable<SandboxTestOptions["walls"]>;

const NO_WALLS: Walls = { realm: false, permissions: false, limits: false, landlock: false, seccomp: false };
const linux = Deno.build.os === "linux" && Deno.build.arch === "x86_64";

/** Opens a child with the targets in its scope; a new one after each that an attack has ended. */
class Attacker {
  readonly #targets: AttackTargets;
  readonly #walls: Walls | undefined;
  readonly #handed: unknown[] = [];
  #box: TestSandbox | null = null;

  constructor(targets: AttackTargets, walls?: Walls) {
    this.#targets = targets;
    this.#walls = walls;
  }

  /** What the attack reached. */
  async run({ name, code, dirty }: Attack): Promise<string[]> {
    if (!this.#box || this.#box.sandbox.ended) this.#box = await this.#open();
    const box = this.#box;
    const head = "const got = (x) => { host(x) }; const import_ = globalThis.__import ?? ((x) => import_.no);\n";
    await box.run(`${head}${code}`, { deadlineMs: 1000 });
    if (!box.sandbox.ended) {
      await box.run("if (typeof leak !== 'undefined') host(String(leak?.readTextFileSync?.(T.secret)))");
    }
    const reached = await this.#targets.reached(this.#handed.splice(0));
    if (/signal|FFI/.test(name) && await this.#targets.signalled()) reached.push("signal");
    if (dirty) await box.sandbox.close();
    return reached;
  }

  async close(): Promise<void> {
    await this.#box?.sandbox.close();
  }

  async #open(): Promise<TestSandbox> {
    const box = await testSandbox({
      functions: {
        host: ({ args: [text] }) => void this.#handed.push(text),
        "fs.readFile": () => ({ text: "nothing" }),
        "fs.fail": () => Promise.reject(new Error("no")),
      },
      constants: {},
      limits: { memoryBytes: 1 << 30 },
      ...(this.#walls ? { test: { walls: this.#walls } } : {}),
    });
    await box.sandbox.bind("T", this.#targets.facts, { user: true });
    return box;
  }
}

Deno.test({
  name: "no attack of the list reaches anything through all walls",
  ignore: !linux,
  async fn(t) {
    const targets = await AttackTargets.open();
    const attacker = new Attacker(targets);
    try {
      for (const attack of ATTACKS) {
        await t.step(attack.name, async () => assert.deepEqual(await attacker.run(attack), []));
      }
      assert.equal(isAlive(targets.facts.victim), true);
      assert.equal(isAlive(Deno.pid), true);
    } finally {
      await attacker.close();
      await targets.close();
    }
  },
});

/** What reaches something although one wall alone must stop it. */
async function through(walls: Walls): Promise<string[]> {
  const targets = await AttackTargets.open();
  const attacker = new Attacker(targets, walls);
  const found: string[] = [];
  try {
    for (const attack of ATTACKS.filter(({ control }) => control)) {
      const reached = await attacker.run(attack);
      if (reached.length > 0) found.push(`${attack.name}: ${reached.join(", ")}`);
    }
  } finally {
    await attacker.close();
    await targets.close();
  }
  return found;
}

const ALONE: Readonly<Record<string, Walls>> = {
  "the realm": { ...NO_WALLS, realm: true },
  "the permissions": { ...NO_WALLS, permissions: true },
  "the kernel wall": { ...NO_WALLS, limits: true, landlock: true, seccomp: true },
};
for (const [wall, walls] of Object.entries(ALONE)) {
  Deno.test({
    name: `${wall} alone stops every attack that works without walls`,
    ignore: !linux,
    fn: async () => assert.deepEqual(await through(walls), []),
  });
}

Deno.test({
  name: "without walls the attacks work, so that the list proves something",
  ignore: !linux,
  async fn() {
    const targets = await AttackTargets.open();
    const attacker = new Attacker(targets, NO_WALLS);
    const failed: string[] = [];
    try {
      for (const attack of ATTACKS.filter(({ control }) => control)) {
        if ((await attacker.run(attack)).length === 0) failed.push(attack.name);
      }
    } finally {
      await attacker.close();
      await targets.close();
    }
    assert.deepEqual(failed, []);
  },
});
