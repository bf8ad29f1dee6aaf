import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier?: string }; readonly isDynamic?: boolean }[];
}

/** Packages that are loaded before the first request of `vis run` is on its way. Each costs its user time: a new one
 * needs a measurement (`deno task bench launch`). */
const ALLOWED = ["@logtape/logtape", "commander", "kysely", "picocolors", "uuidv7"];

Deno.test("a run loads no schema library, no differ and no other package before its first request", async () => {
  const entries = [
    "src/app.ts",
    "src/channels/cli/cli.ts",
    "src/channels/cli/run_command.ts",
    "src/app/open_session.ts",
  ];
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--no-lock", "--config", join(ROOT, "deno.json"), join(ROOT, "main.ts")],
    cwd: ROOT,
    stdin: "null",
  }).output();
  assert.ok(success);
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: GraphModule[] };
  const graph = new Map(modules.map((module) => [module.specifier, module.dependencies ?? []]));
  const met = new Map<string, string>();
  const waiting = entries.map((entry) => `file://${join(ROOT, entry)}`).filter((entry) => graph.has(entry));
  assert.ok(waiting.length > 0);
  for (const from of waiting) {
    for (const { code, isDynamic } of graph.get(from) ?? []) {
      const to = code?.specifier;
      if (to === undefined || isDynamic || met.has(to)) continue;
      met.set(to, from);
      waiting.push(to);
    }
  }
  const packages = [...met].flatMap(([to, from]) => {
    const name = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)/.exec(to)?.[1];
    return name === undefined || ALLOWED.includes(name) ? [] : [`${name} in ${from.slice(`file://${ROOT}`.length)}`];
  });
  assert.deepEqual(packages, []);
});
