import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/_project.ts";

interface GraphModule {
  readonly specifier: string;
  readonly dependencies?: readonly { readonly code?: { readonly specifier?: string }; readonly isDynamic?: boolean }[];
}

/** These packages are loaded before the first request of `vis run`. Each costs its user time, so a new one needs a
 * measurement (`deno task bench launch`). */
const ALLOWED = ["commander", "kysely", "picocolors", "uuidv7"];

async function loadedWith(entries: readonly string[]): Promise<ReadonlyMap<string, string>> {
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
  const packages = new Map<string, string>();
  for (const [to, from] of met) {
    const name = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)/.exec(to)?.[1];
    if (name !== undefined) packages.set(name, from.slice(`file://${ROOT}`.length));
  }
  return packages;
}

Deno.test("a run loads no schema library, no differ and no other package before its first request", async () => {
  const packages = await loadedWith([
    "src/app.ts",
    "src/channels/cli/cli.ts",
    "src/channels/cli/commands/run.ts",
    "src/app/session/open_session.ts",
  ]);
  const others = [...packages].filter(([name]) => !ALLOWED.includes(name));
  assert.deepEqual(others.map(([name, from]) => `${name} in ${from}`), []);
});

Deno.test("a command line is parsed with only its parser: version, help and completions need no more", async () => {
  const packages = await loadedWith(["main.ts", "src/channels/cli/cli.ts"]);
  assert.deepEqual([...packages.keys()], ["commander"]);
});
