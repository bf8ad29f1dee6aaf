import { descendants, survivors } from "../../e2e/helpers/processes.ts";
import type { Ran, Running } from "../../e2e/helpers/user.ts";
import { client, type Ongoing } from "../world/actor.ts";
import { Expected } from "../world/expected.ts";
import type { Family } from "./family.ts";
import { saidByRun } from "../world/said.ts";
import { Service } from "../world/service.ts";
import { requestOf } from "../world/token_model.ts";
import type { Trial } from "../world/trial.ts";
import { viewOf } from "../world/view_of.ts";
import { shortened, signal, signalTo, World } from "../world/world.ts";

const PARTS = 4;
const ENDS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const signals: Family = {
  name: "signals",
  what:
    "SIGINT, SIGTERM and SIGHUP, once or twice, SIGSTOP and SIGCONT, to `vis run` and `vis serve`, at random moments",
  tries: { full: 60, quick: 3 },
  missing: () => Promise.resolve(""),
  attempt: async (trial, launcher) => {
    await using world = await World.make(trial, launcher);
    world.model.extra = () => "await new Promise((resolve) => setTimeout(resolve, 10))";
    await [endedRun, endedServe, stoppedRun][trial.seed % 3]?.(world);
  },
};

/** The signal and its moment: soon after the start, while the model thinks, or soon after its reply. */
interface Blow {
  readonly name: typeof ENDS[number];
  readonly twice: boolean;
  readonly part: number;
  readonly afterMs: number | null;
}

function blowOf({ random }: Trial): Blow {
  return {
    name: random.pick(ENDS),
    twice: random.chance(0.4),
    part: 1 + random.below(PARTS),
    afterMs: random.chance(0.5) ? random.below(60) : null,
  };
}

/** Waits for the moment and sends the signal. Returns the processes that were below the program. */
async function strike(
  { trial, model }: World,
  { blow, token, over, running }: {
    readonly blow: Blow;
    readonly token: string;
    readonly over: Promise<unknown>;
    readonly running: () => Running;
  },
): Promise<ReturnType<typeof descendants>> {
  const { name, twice, part, afterMs } = blow;
  const meeting = model.meet(token, part);
  await Promise.race([meeting.asked, over]);
  if (afterMs !== null) {
    meeting.release();
    await pause(afterMs);
  }
  const below = descendants(running().pid);
  trial.note(`${name}${twice ? " twice" : ""}, part ${part}, ${afterMs ?? "before its"} ms after its reply`);
  if (signal(running(), name)) trial.faults++;
  if (twice) {
    await pause(trial.random.below(150));
    signal(running(), name);
  }
  return below;
}

async function endedRun(world: World): Promise<void> {
  const { trial } = world;
  const token = world.token();
  const running = world.start(["run", "--json", "--max-iterations", "20", requestOf(token, PARTS)]);
  if (trial.random.chance(0.2)) return await beforeItBegins(world, running);
  const blow = blowOf(trial);
  const below = await strike(world, { blow, token, over: running.over, running: () => running });
  const ran = await world.over(running, `vis run after ${blow.name}`);
  await checkLeft(world, { below, folders: !blow.twice });
  const said = saidByRun(ran);
  if (!blow.twice && said.how !== "done" && !(ran.code === 130 && said.how === "interrupted")) {
    trial.found("unclear", `vis run ended with ${endOf(ran)} at ${blow.name}: ${shortened(ran.stdout + ran.stderr)}`);
  }
  const branch = new Expected("", [turnOf(token, said.how === "done" ? said.answer : null)]);
  await checkStored(world, { branch, reason: blow.twice ? null : said.how === "done" ? "answered" : "cancelled" });
}

/** The model got no request yet, so the program ends with any output. */
async function beforeItBegins(world: World, running: Running): Promise<void> {
  const { trial } = world;
  const name = trial.random.pick(ENDS);
  const afterMs = trial.random.below(150);
  await pause(afterMs);
  trial.note(`${name} ${afterMs} ms after the start`);
  if (signal(running, name)) trial.faults++;
  const ran = await world.over(running, `vis run after ${name}`);
  const asked = world.user.mock.requests.length > 0;
  if (ran.code === 0 && !asked) {
    trial.found("lost", `vis run ended with 0, and asked nothing: ${shortened(ran.stdout)}`);
  }
  const next = saidByRun(await world.run(["run", "--json", "-c", requestOf(world.token(), 1)]));
  if (next.how !== "done") trial.found("unclear", `the next query: ${JSON.stringify(next)}`);
}

const turnOf = (token: string, answer: string | null) => ({ token, parts: PARTS, group: 0, answer, kept: null });
const endOf = ({ code, signal }: Ran): string => signal ?? String(code);

async function checkLeft(
  { trial, user }: World,
  { below, folders }: { readonly below: ReturnType<typeof descendants>; readonly folders: boolean },
): Promise<void> {
  const alive = await survivors(below);
  if (alive.length > 0) trial.found("hung", `${alive.length} processes below are left`);
  const names = await Array.fromAsync(Deno.readDir(user.temporary), ({ name }) => name);
  const left = names.filter((name) => name.startsWith("vis-"));
  if (folders && left.length > 0) trial.found("unclear", `folders are left: ${left.join(" ")}`);
}

async function checkStored(
  world: World,
  { branch, reason }: { readonly branch: Expected; readonly reason: string | null },
): Promise<void> {
  const { trial } = world;
  const listed = JSON.parse((await world.run(["conversations", "list", "--json"])).stdout);
  const id = listed[0]?.conversationId;
  if (!id) return trial.found("lost", "no conversation is stored");
  const view = await viewOf(id, { world });
  for (const { word, what } of branch.compare(view)) trial.found(word, what);
  const stored = view.queries[0]?.reason;
  if (reason !== null && stored !== reason) {
    trial.found("unclear", `the query is stored as ${stored}, not as ${reason}`);
  }
  const token = world.token();
  const said = saidByRun(await world.run(["run", "--json", "-c", requestOf(token, 1)]));
  const answer = said.how === "done" ? said.answer : null;
  if (answer === null) trial.found("lost", `the next query: ${JSON.stringify(said)}`);
  branch.turns.push({ token, parts: 1, group: 1, answer, kept: null });
  for (const { word, what } of branch.compare(await viewOf(id, { world }))) trial.found(word, what);
}

async function endedServe(world: World): Promise<void> {
  const { trial, user } = world;
  await Deno.mkdir(user.path("vis"));
  await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "server": { "shutdownMs": 300 } }');
  const service = new Service(world, "server");
  await service.start();
  const { branchId } = await service.read("conversations", { title: "Trial" });
  const token = world.token();
  const actor = client(service, { stream: trial.random.chance(0.5), key: null, whenBusy: "refuse" });
  const { running, said }: Ongoing = actor.ask(branchId, { token, parts: PARTS });
  const blow = blowOf(trial);
  const below = await strike(world, { blow, token, over: said, running: () => running });
  const { code, signal: by, stderr } = await world.over(running, `vis serve after ${blow.name}`);
  if (!blow.twice && code !== 0) {
    trial.found("unclear", `vis serve ended with ${by ?? code} at ${blow.name}: ${shortened(stderr)}`);
  }
  await checkLeft(world, { below, folders: !blow.twice });
  const came = await said;
  if (!blow.twice && came.how !== "done" && came.how !== "interrupted") {
    trial.found("unclear", `the client was told nothing at ${blow.name}: ${JSON.stringify(came)}`);
  }
  const answer = came.how === "done" ? came.answer : null;
  const reason = blow.twice || came.how === "gone" ? null : answer === null ? "cancelled" : "answered";
  await checkStored(world, { branch: new Expected(branchId, [turnOf(token, answer)]), reason });
}

/** Stops the program, its sandbox or both for a while. The result must be as without the stop. */
async function stoppedRun(world: World): Promise<void> {
  const { trial, model } = world;
  const { random } = trial;
  const token = world.token();
  const running = world.start(["run", "--json", "--max-iterations", "20", requestOf(token, PARTS)]);
  const stops = Array.from({ length: PARTS }, (_, n) => n + 1).filter(() => random.chance(0.6)).map(async (part) => {
    const [beforeMs, forMs] = [random.below(40), 50 + random.below(700)];
    const whom = random.pick(["program", "sandbox", "both"]);
    const meeting = model.meet(token, part);
    await Promise.race([meeting.asked, running.over]);
    meeting.release();
    await pause(beforeMs);
    const below = descendants(running.pid).map(({ pid }) => pid);
    const pids = [...(whom === "sandbox" ? [] : [running.pid]), ...(whom === "program" ? [] : below)];
    trial.note(`SIGSTOP of ${whom} ${beforeMs} ms after the reply of part ${part}, for ${forMs} ms`);
    trial.faults += pids.filter((pid) => signalTo(pid, "SIGSTOP")).length > 0 ? 1 : 0;
    await pause(forMs);
    for (const pid of pids) signalTo(pid, "SIGCONT");
  });
  const ran = await world.over(running, "vis run after SIGCONT");
  await Promise.all(stops);
  const said = saidByRun(ran);
  if (said.how !== "done") return trial.found("lost", `the query did not survive: ${JSON.stringify(said)}`);
  await checkStored(world, { branch: new Expected("", [turnOf(token, said.answer)]), reason: "answered" });
}
