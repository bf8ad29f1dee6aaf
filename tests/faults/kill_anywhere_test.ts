/** Kills a conversation of 12 iterations at every step and sub-step. The conversation continues from its database
 * alone, and must be the same as without a kill: docs/internals/database.md, "After an interruption". */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { buildSandbox } from "../helpers/sandbox.ts";
import type { KillPoint } from "../helpers/kill_point.ts";
import { type Picture, pictureOf } from "../helpers/conversation_picture.ts";
import { type CachedScript, cachedScript } from "./_cached_script.ts";
import { inPlace, type Place } from "./_place.ts";

const MAIN = fileURLToPath(new URL("./killable_main.ts", import.meta.url));
const ALL = Array.from({ length: 12 }, (_, at) => at + 1);
const ODD = ALL.filter((step) => step % 2 === 1);
const EVEN = ALL.filter((step) => step % 2 === 0);
const AT_ONCE = 2;

const OUTCOMES = "executed executed executed final executed failed executed refused final executed executed final"
  .split(" ");

interface Chain {
  readonly name: string;
  readonly points: readonly KillPoint[];
  /** The number of replies that are kept in rows of interrupted iterations. The other replies were lost, or never
   * arrived. */
  readonly kept: number;
}

const at = (site: string, steps: readonly number[] = ALL, more: Partial<KillPoint> = {}): KillPoint[] =>
  steps.map((step) => ({ step, site, ...more }));

/** Returns the method that stores the end of a step. An accepted answer is stored with the end of its query. */
const endOf = (step: number): string => OUTCOMES[step - 1] === "final" ? "endQuery" : "endIteration";

/** `before` and `after` of a step's last transaction occur when the next step is due. */
const CHAINS: readonly Chain[] = [
  { name: "request sent", points: at("request", ODD), kept: 0 },
  { name: "in the middle of a reply, the sandbox too", points: at("half", EVEN, { child: true }), kept: 0 },
  { name: "reply complete", points: [...at("reply", [1, 3, 5]), ...at("usage", [7, 9, 11])], kept: 0 },
  {
    name: "before and within the transaction of the row",
    points: [...at("before beginIteration", [1, 4, 8]), ...at("within beginIteration", [9, 10, 12], { nth: 3 })],
    kept: 0,
  },
  {
    name: "within the transaction of the first row, which has the given input",
    points: [1, 3, 4, 5, 6, 7, 8, 9].map((nth) => ({ step: 1, site: "within beginIteration", nth })),
    kept: 0,
  },
  { name: "row begun", points: at("after beginIteration"), kept: 12 },
  {
    name: "a block is sent before the row is stored",
    points: at("block_started 0", [1, 2, 6, 7, 8, 10]),
    kept: 0,
  },
  {
    name: "a later block is started",
    points: [
      ...at("block_started 1", [1, 2, 3, 4, 5]),
      ...at("block_started 1", [7, 8, 9]),
      ...at("block_started 2", [10]),
    ],
    kept: 9,
  },
  {
    name: "a host call waits, the sandbox too",
    points: [...at("host_call start", [2, 5, 7, 8, 10, 11], { child: true })],
    kept: 6,
  },
  { name: "a host call has had its effect", points: at("host_call end", [2, 5, 7, 8, 10, 11]), kept: 6 },
  {
    name: "a sub-query runs",
    points: [
      ...at("after createChildBranch", [7]),
      ...at("child request", [7]),
      ...at("after beginQuery", [7], { nth: 2 }),
      ...at("child block_finished 0", [7], { child: true }),
      ...at("child iteration_finished", [7]),
      ...at("before endQuery", [7]),
      ...at("after endQuery", [7]),
      ...at("child request", [7], { nth: 2 }),
      ...at("before recordSubCall", [7]),
      ...at("after recordSubCall", [7]),
    ],
    kept: 10,
  },
  { name: "a block has finished", points: at("block_finished 0", [...ODD, 12]), kept: 7 },
  {
    name: "before the end is stored, the sandbox too",
    points: EVEN.flatMap((step) => at(`before ${endOf(step)}`, [step], { child: true })),
    kept: 6,
  },
  {
    name: "within the transaction of the end",
    points: [1, 2, 5, 8, 9, 12].map((step, n) => ({ step, site: `within ${endOf(step)}`, nth: 2 + 3 * n })),
    kept: 6,
  },
  {
    name: "the next call is sent before the end is stored, the sandbox too",
    points: at("request before the end", [1, 2, 5, 6, 7, 8, 10], { child: true }),
    kept: 7,
  },
  { name: "the end is stored", points: at("after endIteration", [1, 3, 5, 8, 10, 11]), kept: 0 },
  { name: "the iteration is told", points: at("iteration_finished", ODD), kept: 0 },
  {
    name: "answer accepted, query begun and ended",
    points: [
      ...at("before beginQuery", [1]),
      ...at("within beginQuery", [1], { nth: 2 }),
      ...at("after beginQuery", [1]),
      ...at("started", [1]),
      ...at("answer_delta", [5]),
      // The end of the query is stored together with the end of the last iteration.
      ...at("before endQuery", [9]),
      ...at("within endQuery", [12], { nth: 20 }),
    ],
    kept: 2,
  },
  { name: "the query's end is stored", points: [...at("after endQuery", [4, 9]), ...at("final", [13])], kept: 0 },
];

async function played(
  program: CachedScript,
  { path, workspace }: Place,
  point: KillPoint | null,
): Promise<Deno.CommandOutput> {
  const args = [...program.args, path, workspace, point ? JSON.stringify(point) : ""];
  return await new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "piped" }).output();
}

async function endsWell(program: CachedScript, place: Place): Promise<void> {
  const { code, signal, stderr } = await played(program, place, null);
  assert.deepEqual([code, signal], [0, null], new TextDecoder().decode(stderr));
}

async function killedAlong(program: CachedScript, chain: Chain, whole: Picture): Promise<void> {
  await inPlace(async (place) => {
    for (const point of chain.points) {
      const { signal, stderr } = await played(program, place, point);
      const what = `${JSON.stringify(point)}: ${new TextDecoder().decode(stderr)}`;
      assert.equal(signal, "SIGKILL", what);
    }
    await endsWell(program, place);
    const { picture, cuts } = await pictureOf(place);
    assert.deepEqual(picture, whole);
    assert.equal(cuts.kept, chain.kept, "replies that were paid for and kept");
  });
}

Deno.test("a conversation killed at any point continues as without the kill", async (t) => {
  await buildSandbox();
  await using program = await cachedScript(MAIN);
  const points = CHAINS.flatMap((chain) => chain.points);
  assert.ok(points.length >= 60, `${points.length} kill points`);
  let whole: Picture | null = null;
  await inPlace(async (place) => {
    await endsWell(program, place);
    const { picture, cuts } = await pictureOf(place);
    assert.deepEqual(cuts, { kept: 0, queries: 0 });
    assert.deepEqual(picture.outcomes, OUTCOMES);
    assert.deepEqual(picture.spent, { calls: 14, iterations: 12 });
    whole = picture;
  });
  const only = Deno.env.get("VIS_KILL_CHAIN");
  const queue = CHAINS.filter(({ name }) => !only || name.includes(only));
  const worker = async (): Promise<void> => {
    for (let chain = queue.shift(); chain; chain = queue.shift()) {
      const next = chain;
      const options = { sanitizeOps: false, sanitizeResources: false, sanitizeExit: false };
      await t.step({
        name: `${next.points.length} times: ${next.name}`,
        fn: async () => {
          assert.ok(whole);
          await killedAlong(program, next, whole);
        },
        ...options,
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
});
