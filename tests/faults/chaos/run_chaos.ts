/** `deno task chaos`: several nodes on one PostgreSQL server are killed, stopped and cut off while clients talk to them;
 * prints what happened and exits with 1 if anything was lost, repeated, out of order or left behind.
 *
 *     deno task chaos                                     3 nodes, 200 conversations of 10 requests, from source
 *     deno task chaos --compiled                          the executable
 *     deno task chaos --conversations 20 --seed 17        a shorter run
 */
import { parseArgs } from "node:util";
import { compiledLauncher, sourceLauncher } from "../../e2e/_launcher.ts";
import { chaos } from "./chaos.ts";
import { noPostgres, startPostgres } from "../../helpers/postgres.ts";

const { values } = parseArgs({
  options: {
    compiled: { type: "boolean", default: false },
    nodes: { type: "string", default: "3" },
    conversations: { type: "string", default: "200" },
    requests: { type: "string", default: "10" },
    "at-once": { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
  },
});
if (noPostgres !== "") throw new Error(`Cannot start: ${noPostgres}`);
const begun = performance.now();
const report = await chaos({
  launcher: values.compiled ? await compiledLauncher() : await sourceLauncher(),
  postgres: await startPostgres({ settings: ["max_connections = 200", "synchronous_commit = on"] }),
  nodes: Number(values.nodes),
  conversations: Number(values.conversations),
  requests: Number(values.requests),
  atOnce: Number(values["at-once"]),
  seed: Number(values.seed),
});
const { findings, faults, ...counts } = report;
console.table({ ...counts, seconds: Math.round((performance.now() - begun) / 1000), ...faults });
for (const finding of findings) console.log(`!! ${finding}`);
console.log(findings.length === 0 ? "Nothing was lost, repeated or left behind" : `${findings.length} findings`);
Deno.exit(findings.length === 0 ? 0 : 1);
