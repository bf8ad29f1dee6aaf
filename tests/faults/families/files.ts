import { join } from "node:path";
import { client } from "../world/actor.ts";
import { checkBranch } from "../world/check_answered.ts";
import { Expected } from "../world/expected.ts";
import type { Family } from "./family.ts";
import { type Said, saidByRun, shownAs } from "../world/said.ts";
import type { Launcher } from "../../e2e/_launcher.ts";
import { Service } from "../world/service.ts";
import { requestOf } from "../world/token_model.ts";
import { shortened, World } from "../world/world.ts";

interface Harm {
  readonly name: string;
  do(world: World): Promise<void>;
  undo?(world: World): Promise<void>;
}

const FILES = ["vis.db", "vis.db-wal", "vis.db-shm"];

async function move(from: string, to: string): Promise<void> {
  for (const file of FILES) {
    await Deno.rename(join(from, file), join(to, file)).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}

const home = ({ user }: World): string => user.path("vis");
const aside = ({ user }: World): string => user.path("aside");

const HARMS: readonly Harm[] = [
  {
    name: "the database is removed",
    do: async (world) => {
      for (const file of FILES) await Deno.remove(join(home(world), file)).catch(() => {});
    },
  },
  {
    name: "the database is renamed",
    do: async (world) => {
      await Deno.mkdir(aside(world));
      await move(home(world), aside(world));
    },
    undo: (world) => move(aside(world), home(world)),
  },
  {
    name: "the database is replaced",
    do: async (world) => {
      await Deno.mkdir(aside(world));
      await move(home(world), aside(world));
      await Deno.rename(world.user.path("other.db"), join(home(world), "vis.db"));
    },
    undo: async (world) => {
      for (const file of FILES) await Deno.remove(join(home(world), file)).catch(() => {});
      await move(aside(world), home(world));
    },
  },
  {
    name: "the folder is removed",
    do: (world) => Deno.remove(home(world), { recursive: true }),
  },
  {
    name: "the folder is renamed",
    do: (world) => Deno.rename(home(world), aside(world)),
    undo: async (world) => {
      await Deno.remove(home(world), { recursive: true }).catch(() => {});
      await Deno.rename(aside(world), home(world));
    },
  },
];

export const files: Family = {
  name: "files",
  what: "a removed, renamed or replaced database or folder while `vis run` or `vis serve` works; a bad `TMPDIR`",
  tries: { full: 24, quick: 2 },
  missing: () => Promise.resolve(""),
  attempt: async (trial, launcher) => {
    await using world = await World.make(trial, launcher);
    trial.faults++;
    const kind = trial.seed % (2 * HARMS.length + 2);
    const harm = HARMS[kind % HARMS.length];
    if (kind >= 2 * HARMS.length || !harm) await temporary(world, launcher);
    else if (kind < HARMS.length) await harmedRun(world, harm);
    else await harmedServe(world, harm);
  },
};

async function prepare(world: World): Promise<{ readonly id: string; readonly branch: Expected }> {
  const token = world.token();
  const ran = await world.run(["run", "--json", requestOf(token, 2)]);
  const said = saidByRun(ran);
  if (said.how !== "done") throw new Error(`No conversation: ${JSON.stringify(ran)}`);
  await world.run(["run", "--db", world.user.path("other.db"), "--json", requestOf("other", 1)]);
  const turn = { token, parts: 2, group: 0, answer: said.answer, kept: null };
  return { id: JSON.parse(ran.stdout).conversationId, branch: new Expected("", [turn]) };
}

/** Every reported success must be stored. A failure must name the file. */
function checkSaid(
  world: World,
  { said, code, text }: { readonly said: Said; readonly code: number; readonly text: string },
): void {
  const { trial } = world;
  trial.note(`${code} ${shownAs(said)}`);
  if (said.how === "done") return trial.found("lost", `it was answered with ${code}, and is stored nowhere`);
  if (said.how === "interrupted") trial.found("unclear", `nobody interrupted it: ${shownAs(said)}`);
  // A server that has opened the present file finds no conversation in it.
  if (!/database|vis\.db|cannot find conversation/i.test(text)) {
    trial.found("unclear", `it does not name the database: ${shortened(text)}`);
  }
}

async function harmedRun(world: World, harm: Harm): Promise<void> {
  const { trial, model } = world;
  const { id, branch } = await prepare(world);
  const [token, parts] = [world.token(), 3];
  const meeting = model.meet(token, 1 + trial.random.below(parts));
  const running = world.start(["run", "--json", "--conversation", id, requestOf(token, parts)]);
  await Promise.race([meeting.asked, running.over]);
  trial.note(harm.name);
  await harm.do(world);
  meeting.release();
  const ran = await world.over(running, "vis run");
  checkSaid(world, { said: saidByRun(ran), code: ran.code, text: ran.stdout + ran.stderr });
  branch.turns.push({ token, parts, group: 1, answer: null, kept: null });
  await checkAfter(world, { harm, id, branch });
}

async function harmedServe(world: World, harm: Harm): Promise<void> {
  const { trial, model } = world;
  const { id, branch } = await prepare(world);
  const service = new Service(world, "server");
  await service.start();
  const [token, parts] = [world.token(), 3];
  const meeting = model.meet(token, 1 + trial.random.below(parts));
  const actor = client(service, { stream: trial.random.chance(0.5), key: null, whenBusy: "refuse" });
  const { said } = actor.ask(id, { token, parts });
  await Promise.race([meeting.asked, said]);
  trial.note(`serve: ${harm.name}`);
  await harm.do(world);
  meeting.release();
  const came = await said;
  checkSaid(world, { said: came, code: 200, text: JSON.stringify(came) });
  branch.turns.push({ token, parts, group: 1, answer: null, kept: null });
  const after = world.token();
  const next = await actor.ask(id, { token: after, parts: 1 }).said;
  checkSaid(world, { said: next, code: 200, text: JSON.stringify(next) });
  branch.turns.push({ token: after, parts: 1, group: 2, answer: null, kept: null });
  await service.end("SIGTERM");
  await checkAfter(world, { harm, id, branch });
}

/** With the original files, all former data is there. Without them, the program begins with new files. */
async function checkAfter(
  world: World,
  { harm, id, branch }: { readonly harm: Harm; readonly id: string; readonly branch: Expected },
): Promise<void> {
  await harm.undo?.(world);
  const { code, stdout } = await world.run(["run", "--json", requestOf(world.token(), 1)]);
  if (code !== 0) world.trial.found("unclear", `the next query ended with ${code}: ${shortened(stdout)}`);
  const check = await world.run(["db", "check"]);
  if (check.code !== 0) world.trial.found("half", `vis db check ended with ${check.code}: ${shortened(check.stdout)}`);
  if (harm.undo) await checkBranch(world, { id, branch });
}

const TEMPORARY: Readonly<Record<string, string>> = {
  missing: "/nowhere/to/be/found",
  "a file": "/etc/hostname",
  relative: "tmp of mine",
  "not to be written": "/proc",
};

/** The runtime of the executable prints this for a relative path, before any code of Vis runs: docs/guide/start.md. */
const OF_RUNTIME = /Could not convert path to URL/;

/** If no temporary file can be made, the program reports it before it pays for a reply, or works without one. */
async function temporary(world: World, { name }: Launcher): Promise<void> {
  const { trial, user } = world;
  const kind = trial.random.pick(Object.keys(TEMPORARY));
  await Deno.mkdir(join(user.workspace, "tmp of mine"));
  trial.note(`TMPDIR: ${kind}`);
  const env = { TMPDIR: TEMPORARY[kind] ?? "" };
  const ran = await trial.within("vis run", world.start(["run", "--json", requestOf(world.token(), 2)], { env }).over);
  if (name === "compiled" && kind === "relative" && ran.code === 1 && OF_RUNTIME.test(ran.stderr)) return;
  world.checkText("vis run", ran);
  const said = saidByRun(ran);
  trial.note(`${ran.code} ${shownAs(said)}`);
  if (said.how === "done") return;
  const paid = user.mock.requests.length;
  if (paid > 0) trial.found("unclear", `it was paid for ${paid} replies, and ended with ${shownAs(said)}`);
  if (!/TMPDIR|temporary/i.test(ran.stdout + ran.stderr)) {
    trial.found("unclear", `it does not name TMPDIR: ${shortened(ran.stdout + ran.stderr)}`);
  }
}
