import { descendants } from "../../e2e/helpers/processes.ts";
import { type Actor, client, type Ongoing } from "./actor.ts";
import type { Expected } from "./expected.ts";
import { type Said, saidByRun, shownAs } from "./said.ts";
import type { Schedule } from "./schedule.ts";
import { type Meeting, requestOf, tokenOf } from "./token_model.ts";
import { viewOf } from "./view_of.ts";
import { signal, signalTo } from "./world.ts";

/** A kind of turn in a schedule. Each turn stores its expectations in its branch, and the schedule compares
 * afterwards. */
export type TurnOf = (schedule: Schedule, branch: Expected) => Promise<void>;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Held {
  readonly actor: Actor;
  readonly token: string;
  readonly parts: number;
  readonly meeting: Meeting;
  readonly ongoing: Ongoing;
  /** False if the turn ended before the model was called. */
  readonly asked: boolean;
}

/** Sends a request, and waits until the model gets the call for one of its parts. The reply to that call is held. */
async function held(
  schedule: Schedule,
  { branch, actor, leave }: { readonly branch: Expected; readonly actor: Actor; readonly leave?: AbortSignal },
): Promise<Held> {
  const { model, trial } = schedule.world;
  const turn = schedule.request();
  const part = 1 + trial.random.below(turn.parts);
  const meeting = model.meet(turn.token, part);
  const ongoing = actor.ask(branch.id, { ...turn, ...(leave ? { leave } : {}) });
  const asked = await Promise.race([meeting.asked.then(() => true), ongoing.said.then(() => false)]);
  trial.note(`   ${actor.name} asks ${turn.token} of ${turn.parts}${asked ? `, and waits for part ${part}` : ""}`);
  return { actor, ...turn, meeting, ongoing, asked };
}

async function plain(schedule: Schedule, branch: Expected): Promise<void> {
  const turn = schedule.request();
  const actor = schedule.actor();
  const said = await actor.ask(branch.id, turn).said;
  schedule.settle(branch, turn, said);
  const { trial } = schedule.world;
  if (said.how === "done" && trial.random.chance(0.5)) await again(schedule, { branch, turn, actor, first: said });
}

async function again(
  schedule: Schedule,
  { branch, turn, actor, first }: {
    readonly branch: Expected;
    readonly turn: { readonly token: string; readonly parts: number };
    readonly actor: Actor;
    readonly first: Said;
  },
): Promise<void> {
  if (!actor.again) return;
  const { trial } = schedule.world;
  const said = await actor.again(trial.random.pick(schedule.services)).ask(branch.id, turn).said;
  if (first.how === "done" && JSON.stringify(said) !== JSON.stringify(first)) {
    trial.found("unclear", `the same key had "${shownAs(first)}", and now "${shownAs(said)}"`);
  }
  if (said.how !== "refused") schedule.settle(branch, turn, said);
}

async function killed(schedule: Schedule, branch: Expected): Promise<void> {
  const { trial } = schedule.world;
  // No process sees the end of a process in another namespace, so its branch stays busy until its lease has run out.
  const actor = schedule.actor({ apart: false });
  const { meeting, ongoing, ...turn } = await held(schedule, { branch, actor });
  trial.faults++;
  const afterMs = trial.random.below(3) === 0 ? null : trial.random.below(80);
  if (afterMs !== null) meeting.release();
  await pause(afterMs ?? 0);
  trial.note(`   SIGKILL ${afterMs === null ? "while the model thinks" : `${afterMs} ms after its reply`}`);
  if (actor.service) await actor.service.end("SIGKILL");
  else signal(ongoing.running, "SIGKILL");
  meeting.release();
  const said = await ongoing.said;
  schedule.settle(branch, turn, said);
  if (!actor.service) return;
  await actor.service.start();
  await again(schedule, { branch, turn, actor, first: said });
}

async function cancelled(schedule: Schedule, branch: Expected): Promise<void> {
  const { meeting, ongoing, ...turn } = await held(schedule, { branch, actor: schedule.actor({ apart: false }) });
  schedule.world.trial.faults++;
  await ongoing.cancel();
  const said = await ongoing.said;
  meeting.release();
  schedule.settle(branch, turn, said);
}

/** The client leaves. The query of a stream continues without it. */
async function left(schedule: Schedule, branch: Expected): Promise<void> {
  const { trial } = schedule.world;
  const service = trial.random.pick(schedule.services);
  const leaving = new AbortController();
  const stream = trial.random.chance(0.5);
  const actor = client(service, { stream, key: null, whenBusy: "refuse" });
  const { meeting, ongoing, asked, ...turn } = await held(schedule, { branch, actor, leave: leaving.signal });
  trial.faults++;
  leaving.abort();
  const said = await ongoing.said;
  await pause(trial.random.below(30));
  meeting.release();
  await schedule.quiet(branch, service);
  schedule.settle(branch, turn, said);
  const { log } = await viewOf(branch.id, { world: schedule.world, service });
  const entries = log.filter((entry) => entry.startsWith(`${turn.token}.`));
  // A query continues without the client of its stream. The client of a call that waits for the result cancels it.
  if (asked && stream && entries.length < turn.parts) {
    trial.found("lost", `${turn.token} was left by its client, and has [${entries.join(" ")}]`);
  }
}

/** Asks in the same branch while a query runs. The second request is refused, or made to wait. */
async function beside(schedule: Schedule, branch: Expected): Promise<void> {
  const first = schedule.actor();
  const one = await held(schedule, { branch, actor: first });
  schedule.world.trial.faults++;
  if (one.asked) await schedule.checkRunning(branch, { token: one.token, ongoing: one.ongoing });
  await intrude(schedule, { branch, one });
}

async function intrude(
  schedule: Schedule,
  { branch, one, release }: { readonly branch: Expected; readonly one: Held; readonly release?: () => void },
): Promise<void> {
  const { trial } = schedule.world;
  const { actor } = one;
  const same = actor.again !== null && trial.random.chance(0.6);
  const anybody = !release && trial.random.chance(0.3) ? {} : { other: actor.service };
  const second = same && actor.again ? actor.again(trial.random.pick(schedule.services)) : schedule.actor(anybody);
  const turn = same ? one : schedule.request();
  const other = second.ask(branch.id, turn);
  // A waiting request gets some time, and the length of that time does not matter.
  const early = await Promise.race([other.said, pause(1000).then(() => null)]);
  if (same && early?.how === "interrupted") {
    trial.found("unclear", `${one.token} runs, and the same key has "${shownAs(early)}"`);
  }
  release?.();
  one.meeting.release();
  schedule.settle(branch, one, await one.ongoing.said);
  const said = await other.said;
  if (!same || said.how === "done") schedule.settle(branch, turn, said);
}

async function atOnce(schedule: Schedule, branch: Expected): Promise<void> {
  const first = schedule.actor();
  const both = [first, schedule.actor({ other: first.service })].map((actor) => ({ actor, turn: schedule.request() }));
  schedule.world.trial.faults++;
  const said = await Promise.all(both.map(({ actor, turn }) => actor.ask(branch.id, turn).said));
  for (const [n, { turn }] of both.entries()) schedule.settle(branch, turn, said[n]!);
}

async function stopped(schedule: Schedule, branch: Expected): Promise<void> {
  const actor = schedule.actor();
  const one = await held(schedule, { branch, actor });
  schedule.world.trial.faults++;
  const { running } = one.ongoing;
  const pids = [running.pid, ...descendants(running.pid).map(({ pid }) => pid)];
  const all = (name: "SIGSTOP" | "SIGCONT"): void => pids.forEach((pid) => signalTo(pid, name));
  if (one.asked) all("SIGSTOP");
  schedule.world.trial.note(`   SIGSTOP of ${pids.length} processes`);
  await intrude(schedule, { branch, one, release: () => all("SIGCONT") });
}

async function fork(schedule: Schedule, branch: Expected): Promise<void> {
  const { world } = schedule;
  const { random } = world.trial;
  const { queries } = await viewOf(branch.id, { world });
  const done = queries.filter(({ status }) => status === "done");
  if (done.length === 0) return world.trial.note("   nothing to fork");
  const { queryId, text } = random.pick(done);
  const by = random.pick(schedule.commands ? ["server", "command", "run --fork"] : ["server"]);
  world.trial.note(`   fork of ${branch.id.slice(-6)} after ${text}, by ${by}`);
  const begin = (id: string): Expected => {
    const made = branch.fork(id, tokenOf(text) ?? "");
    schedule.branches.push(made);
    return made;
  };
  if (by === "run --fork") {
    const turn = schedule.request();
    const said = saidByRun(await world.run(["run", "--json", "--fork", queryId, requestOf(turn.token, turn.parts)]));
    const { branches } = JSON.parse((await world.run(["conversations", "show", branch.id, "--json"])).stdout);
    return schedule.settle(begin(branches.at(-1).branchId), turn, said);
  }
  if (by === "server") {
    const made = await random.pick(schedule.services).read(`conversations/${branch.id}/fork`, { queryId });
    return await schedule.check(begin(made.branchId));
  }
  const { code, stdout, stderr } = await world.run(["conversations", "fork", queryId, "--json"]);
  if (code === 0) return await schedule.check(begin(JSON.parse(stdout).branchId));
  world.trial.found("unclear", `vis conversations fork ended with ${code}: ${stderr}`);
}

/** Runs the last query again in its place, if the branch has a query of its own. */
async function retried(schedule: Schedule, branch: Expected): Promise<void> {
  const { trial } = schedule.world;
  const own = branch.turns.slice(branch.inherited);
  const last = (await viewOf(branch.id, { world: schedule.world })).queries.at(-1);
  const turn = own.find(({ token }) => token === tokenOf(last?.text ?? ""));
  if (!last || !turn) return trial.note("   nothing to retry");
  const service = schedule.commands && trial.random.chance(0.5) ? null : trial.random.pick(schedule.services);
  trial.note(`   retry of ${turn.token} by ${service?.name ?? "command"}`);
  const said = service
    ? await trial.within("retry", service.retry(branch.id, last.queryId))
    : saidByRun(await schedule.world.run(["conversations", "retry", branch.id, "--json"]));
  trial.note(`   ${shownAs(said)}`);
  if (said.how === "refused") return;
  Object.assign(turn, { answer: null, kept: null });
  schedule.settle(branch, turn, said);
}

async function restarted(schedule: Schedule): Promise<void> {
  const service = schedule.world.trial.random.pick(schedule.services);
  const by = schedule.signals;
  schedule.world.trial.note(`   ${service.name} is ended by ${by} and started again`);
  await service.end(by);
  await service.start();
}

export type TurnName = keyof typeof TURNS;

export const TURNS = {
  plain,
  killed,
  cancelled,
  left,
  beside,
  "at once": atOnce,
  stopped,
  fork,
  retry: retried,
  restart: restarted,
} satisfies Readonly<Record<string, TurnOf>>;
