import assert from "node:assert/strict";
import { ConfinedProcess } from "../../../src/processes/linux/confined_process.ts";

Deno.test(
  "a report that arrives after the end of the process kills nothing",
  { ignore: Deno.build.os !== "linux", sanitizeOps: true },
  async () => {
    const token = crypto.randomUUID();
    // The process ends at once. Another one keeps the pipe open, and writes the report when the first one is gone.
    const late = `while kill -0 $$ 2>&-; do sleep 0.01; done; echo "${token} left" >&2`;
    const script = `echo "${token} begun" >&2; (${late}) & exec true`;
    const confined = new ConfinedProcess(new Uint8Array(1), {
      launcher: { path: "/bin/sh", args: ["-c", script] },
      ...{ argv: ["true"], env: {}, whole: false, cwd: "/", onBegun: () => {}, token },
    });
    const { code } = await confined.run({});
    assert.equal(code, 0); // A timer that still kills fails the test.
  },
);
