import { join } from "node:path";
import type { Family } from "./family.ts";
import { saidByRun } from "../world/said.ts";
import { requestOf } from "../world/token_model.ts";
import { shortened, World } from "../world/world.ts";

const FLIPS = 10;
const QUICK_FLIPS = 2;
const READS = [["vars", "log", "last", "size", "large", "--json"], ["conversations", "show", "--json"]] as const;

/** A bit of the database is flipped. The program continues, or refuses the file as damaged. Cells other than values may
 * differ, which is noted. `pages` has many more flips, which only the store reads. */
export const flips: Family = {
  name: "flips",
  what: "a flipped bit in the database before `vis vars`, `vis conversations show` and `vis run -c` read the database",
  tries: { full: 20, quick: 1 },
  missing: () => Promise.resolve(""),
  attempt: async (trial, launcher) => {
    await using world = await World.make(trial, launcher);
    const { id, path, sound } = await filled(world);
    const reads = READS.map((args) => args[0] === "vars" ? [...args, "--conversation", id] : [...args, id]);
    const texts: string[] = [];
    for (const args of reads) texts.push((await world.run(args)).stdout);
    for (let n = 0; n < (trial.quick ? QUICK_FLIPS : FLIPS); n++) {
      const bytes = new Uint8Array(sound);
      const offset = trial.random.below(bytes.length);
      bytes[offset] = (bytes[offset] ?? 0) ^ 1 << trial.random.below(8);
      await Deno.writeFile(path, bytes);
      for (const end of ["-wal", "-shm"]) await Deno.remove(`${path}${end}`).catch(() => {});
      trial.note(`byte ${offset} of ${bytes.length}, in page ${1 + Math.floor(offset / 4096)}`);
      trial.faults++;
      for (const [at, args] of reads.entries()) await checkRead(world, { args, sound: texts[at] ?? "" });
      await checkRun(world, id);
    }
  },
};

const TURNS = 4;

async function filled(world: World) {
  world.model.extra = (token) => {
    return `var large = (typeof large === "undefined" ? "" : large) + ${JSON.stringify(token)}.repeat(40_000)
var rows = Array.from({ length: 300 }, (_, n) => ({ n, text: "row " + n + " of ${token}" }))`;
  };
  let id = "";
  for (let turn = 0; turn < TURNS; turn++) {
    const where = id === "" ? [] : ["--conversation", id];
    const { stdout } = await world.run(["run", "--json", ...where, requestOf(world.token(), 2)]);
    id = JSON.parse(stdout).conversationId;
  }
  world.model.extra = () => "";
  const path = join(world.user.path("vis"), "vis.db");
  const wal = await Deno.stat(`${path}-wal`).then(({ size }) => size, () => 0);
  if (wal > 0) throw new Error("The database has a log beside it, whose pages count");
  return { id, path, sound: await Deno.readFile(path) };
}

async function checkRead(
  world: World,
  { args, sound }: { readonly args: readonly string[]; readonly sound: string },
): Promise<void> {
  const { code, stdout, stderr } = await world.run(args);
  if (code === 0 && stdout === sound) return;
  const what = `vis ${args[0]} ended with ${code}`;
  if (code === 0) return world.trial.note(`${what} and something else: ${differing(sound, stdout)}`);
  checkRefused(world, { what, code, text: stderr + stdout });
}

/** The error must report that the database is damaged, and name a remedy. */
function checkRefused(
  { trial }: World,
  { what, code, text }: { readonly what: string; readonly code: number | string; readonly text: string },
): void {
  if (code === 3 && /damaged/.test(text) && /vis db/.test(text)) return;
  trial.found("unclear", `${what}: ${shortened(text)}`);
}

/** The next turn uses the data that it finds. */
async function checkRun(world: World, id: string): Promise<void> {
  const token = world.token();
  const ran = await world.run(["run", "--json", "--conversation", id, requestOf(token, 1)]);
  const said = saidByRun(ran);
  const what = `vis run ended with ${ran.signal ?? ran.code}`;
  if (said.how !== "done") return checkRefused(world, { what, code: ran.code, text: ran.stderr + ran.stdout });
  const size = 2 * TURNS + 1;
  if (!new RegExp(`^${token}\\.1-\\d+ of ${size}$`).test(said.answer)) {
    world.trial.note(`${what} and answered "${said.answer}", not with ${size} entries`);
  }
}

function differing(sound: string, other: string): string {
  const at = [...sound].findIndex((char, n) => char !== other[n]);
  return `${shortened(sound.slice(Math.max(0, at - 40), at + 60))} is ${
    shortened(other.slice(Math.max(0, at - 40), at + 60))
  }`;
}
