import assert from "node:assert/strict";
import type { CheckResult } from "../../../../src/channels/channel.ts";
import { doctorCommand } from "../../../../src/channels/cli/commands/doctor.ts";
import { Cancelled } from "../../../../src/domain/errors.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const CHECKS: readonly CheckResult[] = [
  { name: "runtime", state: "ok", found: "deno 2", fix: "" },
  { name: "wall: kernel", state: "warn", found: "absent", fix: "use Linux" },
];
const FAILED: CheckResult = { name: "database", state: "fail", found: "broken", fix: "fix it" };

async function run(checks: readonly CheckResult[], json = false): Promise<{ code: number; out: string }> {
  const io = fakeIo();
  const services = fakeServices({ doctor: () => Promise.resolve(checks) });
  return { code: await doctorCommand({ services, io, flags: { json, report: false } }), out: io.out };
}

Deno.test("doctorCommand() shows a line for each check, with its fix", async () => {
  const { code, out } = await run(CHECKS);
  assert.deepEqual([code, out], [0, "✓ runtime              deno 2\n! wall: kernel         absent\n    → use Linux\n"]);
});

Deno.test("doctorCommand() exits with 1 when a check failed", async () => {
  const { code, out } = await run([...CHECKS, FAILED]);
  assert.equal(code, 1);
  assert.match(out, /^✗ database +broken\n {4}→ fix it$/m);
});

Deno.test("doctorCommand() prints the checks as JSON", async () => {
  const { code, out } = await run([...CHECKS, FAILED], true);
  assert.deepEqual([code, JSON.parse(out)], [1, [...CHECKS, FAILED]]);
});

Deno.test("doctorCommand() stops the checks at Ctrl-C", async () => {
  const io = fakeIo();
  const services = fakeServices({
    doctor: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Cancelled("Cancelled")));
        io.interrupt();
      }),
  });
  await assert.rejects(doctorCommand({ services, io, flags: { json: false, report: false } }), Cancelled);
  assert.equal(io.out, "");
});

Deno.test("doctorCommand() prints the report", async () => {
  const io = fakeIo();
  const services = fakeServices({ doctorReport: () => Promise.resolve("vis 1\nok \u001b[31m\n") });
  assert.equal(await doctorCommand({ services, io, flags: { json: false, report: true } }), 0);
  assert.match(io.out, /^vis 1\nok .+\n$/);
  assert.ok(!io.out.includes("\u001b"));
});
