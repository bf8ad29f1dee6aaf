import assert from "node:assert/strict";
import { join } from "node:path";
import { until } from "../helpers/until.ts";
import type { Attack, Outcome } from "./_attack.ts";
import { ATTACKS, REPOSITORY } from "./_attacks.ts";
import { mayMake, type Owner, type Place, place } from "./_place.ts";

/** The ways in which commands run. They differ in their resources and in namespaces of the machine. The user may have
 * started Vis inside the repository, all of which the command may then change. */
const WAYS = [
  { name: "without sockets", network: "none", namespaces: true, inside: false },
  { name: "in a network of its own", network: "private", namespaces: true, inside: false },
  { name: "with the network", network: "internet", namespaces: true, inside: false },
  { name: "without namespaces", network: "none", namespaces: false, inside: false },
  { name: "of a folder inside the repository", network: "none", namespaces: true, inside: true },
] as const;

async function spawned(
  there: Place,
  command: string,
  { way: { network, inside }, timeoutMs }: { readonly way: typeof WAYS[number]; readonly timeoutMs: number },
): Promise<Outcome> {
  const { workspace } = there, folder = inside ? join(workspace, ".git-folder") : workspace;
  await Deno.mkdir(folder, { recursive: true });
  return await there.wall.spawn(folder, ["/bin/sh", "-c", command], {
    timeoutMs,
    ...(network === "private" ? { loopback: "one" } : {}),
    ...(network === "internet" ? { network: true } : {}),
    ...(inside ? { root: workspace, cwd: workspace, write: [workspace] } : {}),
  });
}

function repelled(attacks: readonly Attack[], { network, namespaces }: typeof WAYS[number]): readonly Attack[] {
  return attacks.filter((attack) =>
    !attack.allowedIn.includes(network) && (namespaces || !REPOSITORY.includes(attack))
  );
}

export function attacksSuite({ missing }: { readonly missing: string }): void {
  for (const attack of ATTACKS) {
    for (const way of WAYS.filter((way) => repelled([attack], way).length > 0)) {
      const { namespaces } = way;
      const title = `LinuxWall: a command ${way.name} that ${attack.name} does not`;
      Deno.test(title, { ignore: missing !== "" || namespaces && !mayMake }, async () => {
        await place(async (there) => {
          const outcome = await spawned(there, attack.command(there), { way, timeoutMs: 20_000 });
          assert.equal(attack.got(outcome, there), false, JSON.stringify(outcome));
          assert.equal((await there.wall.walls()).whole, namespaces);
        }, { namespaces });
      });
    }
  }
}

/** Tries every attack in as few commands as possible. `attacksSuite` tries them one by one. */
export function attacksTogetherSuite(
  { missing, timeoutMs, owner = null }: {
    readonly missing: string;
    readonly timeoutMs: number;
    readonly owner?: Owner | null;
  },
): void {
  const others = ATTACKS.filter((attack) => !REPOSITORY.includes(attack));
  for (const way of WAYS) {
    const { namespaces } = way;
    for (const attacks of [repelled(others, way), ...repelled(REPOSITORY, way).map((attack) => [attack])]) {
      const what = attacks.length > 1 ? `that try ${attacks.length} attacks in turn do` : `that ${attacks[0]?.name} do`;
      const title = `LinuxWall: commands ${way.name}${titleOf(owner)} ${what} nothing`;
      Deno.test(title, { ignore: missing !== "" || namespaces && !mayMake }, async () => {
        await place(async (there) => {
          const outcome = await spawned(there, inTurn(attacks, there), { way, timeoutMs });
          const outputs = outcome.stdout.split(MARK);
          assert.equal(outputs.length, attacks.length + 1, JSON.stringify(outcome));
          const got = attacks.filter((attack, at) => attack.got({ code: 0, stdout: outputs[at] ?? "" }, there));
          assert.deepEqual(got.map(({ name }) => name), []);
        }, { namespaces, owner });
      });
    }
  }
}

const MARK = "\n== the next attack ==\n";
/** Removes the traces of an attack from the workspace before the next one. The folder inside stays. */
const CLEAN = "find . -mindepth 1 ! -path './.git*' ! -path './.vis*' ! -name link -delete";

function inTurn(attacks: readonly Attack[], there: Place): string {
  return attacks.map((attack) => `(\n${attack.command(there)}\n)\n${CLEAN}\nprintf '${MARK}'\n`).join("");
}

/** Without the wall, only root can do this if Vis belongs to root. */
const ONLY_ROOT: readonly string[] = [
  "reads Vis's environment",
  "goes by the folder of another process",
  "gives a file to another user",
];

/** Tries the same attacks without the wall, because an attack without an effect there proves nothing. */
export function controlsSuite(
  { missing, owner = null }: { readonly missing: string; readonly owner?: Owner | null },
): void {
  const wanted = ATTACKS.filter(({ name, control }) => control && (owner === null || !ONLY_ROOT.includes(name)));
  for (const attack of wanted) {
    const title = `without a wall: a command${titleOf(owner)} that ${attack.name} does`;
    Deno.test(title, { ignore: missing !== "" }, async () => {
      await place(async (there) => {
        const outcome = await unconfined(attack, { there, owner });
        // On a busy machine, a process that stays may begin its program after the command has ended.
        await until(() => attack.got(outcome, there), () => JSON.stringify(outcome));
      }, { owner });
    });
  }
}

function titleOf(owner: Owner | null): string {
  return owner === null ? "" : " with the id of a workspace's owner";
}

async function unconfined(
  attack: Attack,
  { there, owner }: { readonly there: Place; readonly owner: Owner | null },
): Promise<Outcome> {
  const { code, stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", attack.command(there)],
    cwd: there.workspace,
    stdin: "null",
    ...owner ?? {},
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}
