import { fileURLToPath } from "node:url";

export interface Place {
  /** The path with "/" only, from the first folder that belongs to the project: "src/app.ts". */
  readonly path: string;
  readonly program: boolean;
  readonly around: boolean;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const FOLDERS = /^(?:.*?\/)?((?:src|extensions|tests|scripts|bench)\/.*)$/;

/** Outside the checkout (in tests of the rules), the first folder with a known name counts as the root. */
export function placeOf(context: Deno.lint.RuleContext): Place {
  const full = context.filename.replaceAll("\\", "/");
  const path = full.startsWith(ROOT) ? full.slice(ROOT.length) : FOLDERS.exec(full)?.[1] ?? full;
  return {
    path,
    program: /^(src|extensions)\//.test(path),
    around: /^(tests|scripts|bench)\//.test(path),
  };
}
