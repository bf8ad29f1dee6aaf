import { checkBranch } from "../world/check_answered.ts";
import { Expected } from "../world/expected.ts";
import type { Family } from "./family.ts";
import { type Said, saidByRun, shownAs } from "../world/said.ts";
import { Tmpfs } from "../world/tmpfs.ts";
import { requestOf } from "../world/token_model.ts";
import { shortened, World } from "../world/world.ts";

const ROOM = "size=256m,nr_inodes=100000";

/** The folder of Vis is on a disk of its own that gets full, has no inodes or is read-only, and recovers afterwards. */
export const disks: Family = {
  name: "disks",
  what: "a disk that becomes full, is full from the start, has no inodes, or is read-only",
  tries: { full: 24, quick: 2 },
  missing: () => Tmpfs.missing(),
  attempt: async (trial, launcher) => {
    await using world = await World.make(trial, launcher);
    await [getsFull, fullAtFirst, noInodes, readOnly][trial.seed % 4]?.(world);
  },
};

/** Returns text that cannot be compressed. */
function noise(chars: number): (token: string, part: number) => string {
  return (_token, part) =>
    `const text${part} = ((seed) => Array.from({ length: ${chars} }, () => {
  seed = seed * 48271 % 2147483647
  return String.fromCharCode(33 + (seed >> 8) % 90)
}).join(""))(${part} + 7)`;
}

async function ask(world: World, { parts, more = [] }: { readonly parts: number; readonly more?: readonly string[] }) {
  const token = world.token();
  const args = ["run", "--json", "--max-iterations", "40", ...more, requestOf(token, parts)];
  const ran = await world.run(args);
  const said = saidByRun(ran);
  world.trial.note(`${token} of ${parts}: ${ran.code} ${shownAs(said)}`);
  return { token, parts, ran, said, turn: { token, parts, group: 0, answer: answerOf(said), kept: null } };
}

const answerOf = (said: Said): string | null => said.how === "done" ? said.answer : null;

/** A query that failed must give its reason, in these words. It ends with 3, as for an unusable database. */
function checkSaid(world: World, { ran, said, words }: Pick<Asked, "ran" | "said"> & { readonly words: RegExp }): void {
  if (said.how === "done") return;
  const text = ran.stderr + ran.stdout;
  if (ran.code !== 3) {
    world.trial.found("unclear", `it ended with ${ran.signal ?? ran.code}, not with 3: ${shortened(text)}`);
  }
  if (!words.test(text) || /report this|had before|go on with/i.test(text)) {
    world.trial.found("unclear", `it does not say what is wrong: ${shortened(text)}`);
  }
}

type Asked = Awaited<ReturnType<typeof ask>>;

/** After room is available again, the stored rows exist, and the conversation continues. */
async function checkAfter(world: World, before: readonly Asked[]): Promise<void> {
  const { trial } = world;
  const listed = JSON.parse((await world.run(["conversations", "list", "--json"])).stdout);
  const next = await ask(world, { parts: 1, more: listed.length > 0 ? ["-c"] : [] });
  if (next.said.how !== "done") return trial.found("lost", `the next query: ${JSON.stringify(next.said)}`);
  const { code, stdout } = await world.run(["db", "check"]);
  if (code !== 0) trial.found("half", `vis db check ended with ${code}: ${shortened(stdout)}`);
  const turns = [...before, next].map(({ turn }, group) => ({ ...turn, group }));
  await checkBranch(world, { id: JSON.parse(next.ran.stdout).conversationId, branch: new Expected("", turns) });
}

async function getsFull(world: World): Promise<void> {
  const { random } = world.trial;
  const kib = 1500 + random.below(4000);
  await using disk = await Tmpfs.mount(world.user.path("vis"), `size=${kib}k`);
  world.model.extra = noise(200_000 + random.below(500_000));
  world.trial.note(`a disk of ${kib} KiB`);
  world.trial.faults++;
  const asked = await ask(world, { parts: 12 });
  checkSaid(world, { ...asked, words: /disk is full|no space/i });
  world.model.extra = () => "";
  await disk.remount(ROOM);
  await checkAfter(world, [asked]);
}

async function fullAtFirst(world: World): Promise<void> {
  const kib = 4 * (2 + world.trial.random.below(120));
  await using disk = await Tmpfs.mount(world.user.path("vis"), `size=${kib}k`);
  await refusedAtFirst(world, { disk, what: `a disk of ${kib} KiB`, words: /disk is full|no space/i });
}

async function noInodes(world: World): Promise<void> {
  const inodes = 1 + world.trial.random.below(5);
  await using disk = await Tmpfs.mount(world.user.path("vis"), `size=64m,nr_inodes=${inodes}`);
  await refusedAtFirst(world, { disk, what: `${inodes} inodes`, words: /inode|disk is full|no space|no room/i });
}

async function refusedAtFirst(
  world: World,
  { disk, what, words }: { readonly disk: Tmpfs; readonly what: string; readonly words: RegExp },
): Promise<void> {
  world.trial.note(what);
  world.trial.faults++;
  const asked = await ask(world, { parts: 2 });
  checkSaid(world, { ...asked, words });
  await disk.remount(ROOM);
  await checkAfter(world, asked.said.how === "done" ? [asked] : []);
}

async function readOnly(world: World): Promise<void> {
  await using disk = await Tmpfs.mount(world.user.path("vis"), ROOM);
  const first = await ask(world, { parts: 2 });
  await disk.remount("ro");
  world.trial.note("read-only");
  world.trial.faults++;
  const before = world.user.mock.requests.length;
  const refused = await ask(world, { parts: 1, more: ["-c"] });
  if (refused.said.how === "done") world.trial.found("lost", "it answers, and can store nothing");
  checkSaid(world, { ...refused, words: /read-only|reading only/i });
  if (world.user.mock.requests.length > before) {
    world.trial.found("unclear", "it asked the model, and can store nothing");
  }
  await disk.remount("rw");
  await checkAfter(world, [first]);
}
