import assert from "node:assert/strict";
import { Libc } from "../../../src/sandbox/confine/libc.ts";
import { becomeProgram } from "../../../src/sandbox/exec/become_program.ts";

const ignore = Deno.build.os !== "linux" || Deno.build.arch !== "x86_64";
const EAGAIN = 11;

/** `errno` is of another call: the runtime makes its own when its threads wait for each other. */
class ContendedLibc extends Libc {
  tried = 0;

  override call(...[name, args]: Parameters<Libc["call"]>): number {
    if (name === "execve") this.tried++;
    return super.call(name, args);
  }

  override errno(): number {
    return EAGAIN;
  }
}

Deno.test("a program is looked for in every folder of PATH, whatever errno says", { ignore }, () => {
  const libc = new ContendedLibc();
  const why = becomeProgram(libc, { argv: ["no-such-program"], env: { PATH: "/no/such:/usr/bin:/bin" } });
  assert.deepEqual([libc.tried, why], [
    3,
    "Cannot run no-such-program: it does not exist, or the interpreter that it names does not",
  ]);
});
