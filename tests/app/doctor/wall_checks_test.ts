import assert from "node:assert/strict";
import { wallChecks } from "../../../src/app/doctor/walls.ts";
import type { WallProbe } from "../../../src/sandbox/host/probe_walls.ts";

const PROBES: readonly WallProbe[] = (["realm", "permissions", "process", "kernel"] as const).map((wall, at) => ({
  wall,
  holds: at < 2,
  found: {
    text: at < 2 ? "holds" : "process limits, Landlock, system call filter: not on darwin",
    fix: "It needs Linux",
  },
}));
const states = (os: typeof Deno.build.os, require: Parameters<typeof wallChecks>[1]["require"] = []) =>
  wallChecks(PROBES, { require, os }).map(({ state }) => state).join(" ");

Deno.test("wallChecks() reports no fault for walls that the system lacks, unless they are required", () => {
  assert.equal(states("darwin"), "ok ok warn warn");
  assert.equal(states("windows"), "ok ok warn warn");
  assert.equal(states("linux"), "ok ok fail warn");
  assert.equal(states("darwin", ["kernel", "realm"]), "ok ok warn fail");
  const [, , , kernel] = wallChecks(PROBES, { require: ["kernel"], os: "windows" });
  assert.equal(kernel?.fix, "It needs Linux; sandbox.require names it, so no block runs");
});
