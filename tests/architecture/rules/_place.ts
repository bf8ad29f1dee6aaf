import { fileURLToPath } from "node:url";

/** Where a linted file stands, from its path inside the repository. */
export interface Place {
  /** Path with "/" only, from the first folder that belongs to the project: "src/app.ts". */
  readonly path: string;
  /** True for `src/` and `extensions/`: the program itself. */
  readonly program: boolean;
  /** True for tests, benchmarks and scripts: what is around the program. */
  readonly around: boolean;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = /^(?:.*?\/)?((?:src|extensions|tests|scripts|bench)\/.*)$/;

/** Outside the checkout (in tests of the rules) the first folder with a known name counts as the top. */
export function placeOf(context: Deno.lint.RuleContext): Place {
  const full = context.filename.replaceAll("\\", "/");
  const path = full.startsWith(ROOT) ? full.slice(ROOT.length) : FOLDERS.exec(full)?.[1] ?? full;
  return {
    path,
    program: /^(src|extensions)\//.test(path),
    around: /^(tests|scripts|bench)\//.test(path),
  };
}
