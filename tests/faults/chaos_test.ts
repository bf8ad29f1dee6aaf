/** A short form of `deno task chaos`: two nodes fail in turn while clients talk to them. It tests the executable if one
 * can be made, because its runtime names the failures of a socket differently. */
import assert from "node:assert/strict";
import { compiledLauncher, sourceLauncher } from "../e2e/_launcher.ts";
import { postgresTests } from "../helpers/postgres.ts";
import { chaos } from "./chaos/chaos.ts";

const test = await postgresTests({ settings: ["max_connections = 200", "synchronous_commit = on"] });

test("whatever happens to nodes, each request is answered once and in order", async (postgres) => {
  const size = { nodes: 2, conversations: 8, requests: 4, atOnce: 4, seed: 1 };
  const compiled = await compiledLauncher();
  const launcher = compiled.missing === "" ? compiled : await sourceLauncher();
  const report = await chaos({ launcher, postgres, ...size });
  assert.deepEqual(report.invariants.filter(({ violations }) => violations.length > 0), []);
}, { sanitizeOps: false, sanitizeResources: false });
