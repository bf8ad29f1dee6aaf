import type { MockReply } from "../../helpers/wires/openai_mock.ts";
import { checkAnswered } from "../world/check_answered.ts";
import type { Family } from "./family.ts";
import { saidByRun, shownAs } from "../world/said.ts";
import { Service } from "../world/service.ts";
import { requestOf } from "../world/token_model.ts";
import { shortened, World } from "../world/world.ts";

const PARTS = 30;
const QUICK_PARTS = 6;
/** A complete reply takes seconds, and more on a busy machine. */
const SOON_MS = 60_000;
const OUTAGE_MS = 60_000;

export const providerFaults: Family = {
  name: "providers",
  what: "resets, cut and invalid streams, error events, 429 and 5xx over 30 iterations; endless replies; outages",
  tries: { full: 32, quick: 2 },
  missing: () => Promise.resolve(""),
  attempt: async (trial, launcher) => {
    await using world = await World.make(trial, launcher);
    // Every other try of a full run is a fault that occurs alone.
    const alone = ALONE[Math.floor(trial.seed / 2) % ALONE.length];
    if (trial.seed % 2 === 1 || trial.quick || !alone) await mixture(world);
    else {
      trial.note(alone.name);
      trial.faults++;
      await alone(world);
    }
  },
};

/** A query survives these faults. `text` is the intended reply. */
const PASSING: Readonly<Record<string, (text: string) => MockReply>> = {
  "reset in the middle": (text) => ({ text, fault: "cut" }),
  "stream ends early": (text) => ({ text, fault: "ends_early" }),
  "bad JSON in the stream": (text) => ({ text, fault: "garbage_chunk" }),
  "error event": (text) => ({ text, fault: "error_chunk" }),
  "no finish reason": (text) => ({ text, fault: "no_finish" }),
  "not streamed": (text) => ({ text, fault: "not_streamed" }),
  "empty stream": () => ({ fault: "empty" }),
  // With a fence, so that two of these replies in a row are no answer.
  "prose": () => ({ text: "I shall look into it:\n```sh\nls\n```" }),
  "half an object": () => ({ text: '{"thinking": "and then' }),
  "null": () => ({ text: "null" }),
  "429, retry after 0": () => ({ status: 429, headers: { "retry-after": "0" } }),
  "429, retry after 1": () => ({ status: 429, headers: { "retry-after": "1" } }),
  "429": () => ({ status: 429 }),
  "500": () => ({ status: 500 }),
  "502": () => ({ status: 502, body: "<html>Bad gateway</html>" }),
  "503": () => ({ status: 503 }),
  "529": () => ({ status: 529 }),
};

async function mixture(world: World): Promise<void> {
  const { trial, model } = world;
  const { random } = trial;
  const parts = trial.quick ? QUICK_PARTS : PARTS;
  const token = world.token();
  const due = new Map<number, string[]>();
  model.fault = (_token, part) => {
    const names = due.get(part) ??
      Array.from({ length: random.chance(trial.quick ? 0.8 : 0.35) ? 1 + random.below(2) : 0 }, () => {
        return random.pick(Object.keys(PASSING));
      });
    due.set(part, names);
    const name = names.shift();
    if (name === undefined) return null;
    trial.faults++;
    trial.note(`part ${part}: ${name}`);
    return PASSING[name]?.(model.reply(token, { part, parts })) ?? null;
  };
  const ran = await world.run(["run", "--json", "--max-iterations", "100", requestOf(token, parts)]);
  await checkAnswered(world, { ran, token, parts });
}

/** Runs a query of three parts whose second reply is replaced, once or as long as `while` returns true. */
async function second(
  world: World,
  { reply, lasts = () => false, limitMs }: {
    readonly reply: MockReply;
    readonly lasts?: () => boolean;
    readonly limitMs?: number;
  },
): Promise<{ readonly stderr: string }> {
  const token = world.token();
  let met = false;
  world.model.fault = (_token, part) => {
    if (part !== 2 || met && !lasts()) return null;
    met = true;
    return reply;
  };
  const running = world.start(["run", "--json", "--max-iterations", "20", requestOf(token, 3)]);
  await world.trial.within("vis run", running.over, limitMs);
  const ran = await world.over(running, "vis run");
  await checkAnswered(world, { ran, token, parts: 3 });
  return ran;
}

const ENDLESS: MockReply = { text: "a word ".repeat(9_000), chunk: 63_000, fault: "endless" };

async function openAfterStop(world: World): Promise<void> {
  const token = world.token();
  world.model.fault = (_token, part) => {
    return { text: world.model.reply(token, { part, parts: 2 }), fault: "stays_open", usage: null };
  };
  const running = world.start(["run", "--json", requestOf(token, 2)]);
  await world.trial.within("a reply that was whole, on an open connection,", running.over, SOON_MS);
  await checkAnswered(world, { ran: await world.over(running, "vis run"), token, parts: 2 });
}

/** Makes an outage of a minute, which must be shown. */
async function outage(world: World, status: number): Promise<void> {
  let begun = 0;
  const lasts = (): boolean => performance.now() - (begun ||= performance.now()) < OUTAGE_MS;
  const { stderr } = await second(world, { reply: { status }, lasts, limitMs: 5 * OUTAGE_MS });
  if (/again|retr|wait/i.test(stderr)) return;
  world.trial.found("unclear", `nothing said that it waits: ${shortened(stderr)}`);
}

async function lengthEnds(world: World): Promise<void> {
  await second(world, { reply: { text: '{"thinking": "on and on', finish: "length" } });
  const shown = world.user.mock.requests.some(({ context }) => /length|longest|cut off|too long/i.test(context));
  if (!shown) world.trial.found("unclear", "the model was not told that its reply met the limit of its length");
}

/** A message about a reply that is too large has one of these words. */
const TOO_LARGE = /large|long|limit|bytes|MB|MiB/i;
const LARGE_CHARS = 12_000_000;

const LARGE: Readonly<Record<string, () => string>> = {
  thinking: () => JSON.stringify({ thinking: "y".repeat(LARGE_CHARS) }),
  answer: () => JSON.stringify({ final: { answer: "y ".repeat(LARGE_CHARS / 2) } }),
  code: () => JSON.stringify({ code: [{ expr: `const text = "${"y".repeat(LARGE_CHARS)}"` }] }),
  prose: () => "words and words ".repeat(LARGE_CHARS / 16),
  braces: () => '{"a":'.repeat(LARGE_CHARS / 5),
};

/** A reply of this size may end its query, and never the server. */
async function onServer(world: World, replies: Readonly<Record<string, () => MockReply>>): Promise<void> {
  const { trial, model } = world;
  const service = new Service(world, "server");
  await service.start();
  const { branchId } = await service.read("conversations", { title: "Trial" });
  for (const [what, reply] of Object.entries(replies)) {
    let met = false;
    model.fault = () => met ? null : (met = true, reply());
    const first = await trial.within(what, service.send(branchId, { token: world.token(), parts: 1 }));
    trial.note(`${what}: ${shownAs(first).slice(0, 300)}`);
    if (first.how === "gone") return trial.found("lost", `the server ended with ${what}`);
    if (first.how === "failed" && !TOO_LARGE.test(first.text)) {
      trial.found("unclear", `of ${what} it says "${first.text}"`);
    }
    const next = await trial.within("the next query", service.send(branchId, { token: world.token(), parts: 1 }));
    if (next.how !== "done") return trial.found("lost", `the query after ${what}: ${JSON.stringify(next)}`);
  }
  await service.end("SIGTERM");
}

/** An endless reply may end its query, with a sentence about it. */
async function endlessOnRun(world: World): Promise<void> {
  const { trial, model } = world;
  const token = world.token();
  let met = false;
  model.fault = (_token, part) => part !== 2 || met ? null : (met = true, ENDLESS);
  const ran = await world.run(["run", "--json", "--max-iterations", "20", requestOf(token, 3)]);
  const said = saidByRun(ran);
  if (said.how === "done") return await checkAnswered(world, { ran, token, parts: 3 });
  if (ran.code !== 1) {
    return trial.found("lost", `vis run ended with ${ran.signal ?? ran.code}: ${shortened(ran.stderr)}`);
  }
  if (!TOO_LARGE.test(ran.stdout)) {
    trial.found("unclear", `of an endless reply it says ${JSON.stringify(said)}`);
  }
}

const ALONE: readonly ((world: World) => Promise<void>)[] = [
  endlessOnRun,
  function largeRepliesOnServer(world) {
    const replies = Object.entries(LARGE).map(([what, text]) => {
      return [`12 MB of ${what}`, () => ({ text: text(), chunk: 4_000 })] as const;
    });
    return onServer(world, Object.fromEntries(replies));
  },
  function endlessReplyOnServer(world) {
    return onServer(world, { "an endless reply": () => ENDLESS });
  },
  openAfterStop,
  async function silence(world) {
    await second(world, { reply: { text: "a word ".repeat(100), fault: "silence" } });
  },
  function outageOf503(world) {
    return outage(world, 503);
  },
  function outageOf429(world) {
    return outage(world, 429);
  },
  lengthEnds,
];
