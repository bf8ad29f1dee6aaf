/** Tries the walls one by one, and the attacks on the kernel's walls and on all walls. It prints lines of the Test
 * Anything Protocol, for a machine that has only a runtime. An emulator is slow, so attacks that only last are
 * skipped. */
import { probeWalls } from "../../../src/sandbox/host/probe_walls.ts";
import { SLOW } from "../../helpers/sandbox.ts";
import { claimed, runColumn } from "./table.ts";

const LASTING = ["staying alive", "exhausting memory", "exhausting other resources"];

let count = 0;
function print(isOk: boolean, text: string): void {
  console.log(`${isOk ? "ok" : "not ok"} ${++count} - ${text}`);
}

for (const { wall, holds, found } of await probeWalls(SLOW)) print(holds, `wall ${wall}: ${found.text}`);
for (const column of ["kernel", "all"] as const) {
  await runColumn(column, {
    wanted: (attack) => claimed(attack, column, "compiled") && !LASTING.includes(attack.group),
    onAttempt: ({ name }, { reached, met }) =>
      print(
        reached.length === 0,
        `${column}: ${name}${reached.length === 0 ? "" : ` (${reached.join(", ")}; ${met})`}`,
      ),
  });
}
console.log(`1..${count}`);
