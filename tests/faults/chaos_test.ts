/** A short form of `deno task chaos`: two nodes fail in turn while clients talk to them. */
import assert from "node:assert/strict";
import { sourceLauncher } from "../e2e/_launcher.ts";
import { noPostgres, startPostgres } from "../helpers/postgres.ts";
import { chaos } from "./chaos/chaos.ts";

const postgres = noPostgres === ""
  ? await startPostgres({ settings: ["max_connections = 200", "synchronous_commit = on"] })
  : null;

Deno.test({
  name: `whatever happens to nodes, each request is answered once and in order${noPostgres && `: ${noPostgres}`}`,
  ignore: postgres === null,
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    if (postgres === null) return;
    const size = { nodes: 2, conversations: 8, requests: 4, atOnce: 4, seed: 1 };
    const report = await chaos({ launcher: await sourceLauncher(), postgres, ...size });
    assert.deepEqual(report.invariants.filter(({ violations }) => violations.length > 0), []);
  },
});
