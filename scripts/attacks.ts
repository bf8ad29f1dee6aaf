/** `deno task attacks` tries attacks against each wall alone and against all walls together, from source and compiled.
 * The script writes dist/attacks.json and docs/generated/attacks.md. The exit code is 1 if an attack gets through all
 * walls. With `--arm64`, the script writes only the part of the page about arm64. */
import { join } from "node:path";
import { attackPage, type AttackRow, type Run } from "../tests/sandbox/attacks/page.ts";
import { ATTACKS } from "../tests/sandbox/attacks/list.ts";
import { claimed, COLUMNS, isControl, runColumn, type Way } from "../tests/sandbox/attacks/table.ts";
import { compiledProgram } from "../tests/helpers/compiled_program.ts";
import { machinesOf } from "../tests/sandbox/attacks/machines.ts";
import { ROOT } from "./_project.ts";

const PAGE = "docs/generated/attacks.md", RESULTS = "dist/attacks.json";

async function runtimeOf(path: string): Promise<string> {
  const { stdout } = await new Deno.Command(path, { args: ["version"], stderr: "null" }).output();
  return /(?:deno|runtime)\s+v?(\d+\.\d+\.\d+)/i.exec(new TextDecoder().decode(stdout))?.[1] ?? "unknown";
}

async function tryAll(way: Way, program?: { readonly path: string; readonly args: readonly string[] }): Promise<Run> {
  const rows = new Map<string, AttackRow>(ATTACKS.map((attack) => [attack.name, { attack, cells: {} }]));
  for (const column of COLUMNS) {
    const begun = performance.now();
    await runColumn(column, {
      ...(program ? { program } : {}),
      wanted: (attack) => isControl(attack, way) || claimed(attack, column, way),
      onAttempt: ({ name }, attempt) => {
        const row = rows.get(name);
        if (row) row.cells[column] = attempt;
      },
    });
    console.log(`${way}, ${column}: ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }
  const runtime = program ? await runtimeOf(program.path) : Deno.version.deno;
  return { way, runtime, rows: [...rows.values()] };
}

if (Deno.args.includes("--arm64")) {
  const { attacksOnArm64 } = await import("./attacks_arm64.ts");
  Deno.exit(await attacksOnArm64(join(ROOT, PAGE), Deno.args) ? 0 : 1);
}

const runs = [await tryAll("source")];
const { path, missing, ready } = await compiledProgram();
if (missing) console.error(`Not compiled: ${missing}`);
else {
  await ready();
  runs.push(await tryAll("compiled", { path, args: ["__sandbox_child"] }));
}
const { stdout } = await new Deno.Command("uname", { args: ["-srm"] }).output();
const system = new TextDecoder().decode(stdout).trim().replace(/(\d+\.\d+)\S*/, "$1");
await Deno.mkdir(join(ROOT, "dist"), { recursive: true });
await Deno.writeTextFile(join(ROOT, RESULTS), `${JSON.stringify({ system, runs: runs.map(resultOf) }, null, 2)}\n`);
const others = machinesOf(await Deno.readTextFile(join(ROOT, PAGE)).catch(() => ""));
await Deno.writeTextFile(join(ROOT, PAGE), `${attackPage(runs, system)}${others}`);
console.log(`${RESULTS}, ${PAGE}`);
Deno.exitCode = runs.some(({ rows }) => rows.some(({ cells }) => cells.all?.reached.length !== 0)) ? 1 : 0;

function resultOf({ way, runtime, rows }: Run) {
  return {
    ...{ way, runtime },
    attacks: rows.map(({ attack: { group, name, claims }, cells }) => ({ group, name, claims, cells })),
  };
}
