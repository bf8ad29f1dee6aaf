import { fileURLToPath } from "node:url";

/** This tool, which is not part of the repository, supplies a base runtime if `deno compile` cannot download one. */
const SUPPLIER = fileURLToPath(new URL("../../../shared/tools/compile-runtime", import.meta.url));

export interface BaseRuntime {
  readonly ok: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly reason: string;
}

function fromText(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(DENO_COMPILE|DENORT_BIN)='([^']*)'/g)].map((one) => [one[1]!, one[2]!]),
  );
}

export async function baseRuntime(): Promise<BaseRuntime> {
  const { DENO_COMPILE: program, DENORT_BIN: base } = Deno.env.toObject();
  if (program || base) {
    return { ok: true, reason: "", env: { ...program && { DENO_COMPILE: program }, ...base && { DENORT_BIN: base } } };
  }
  const output = await supplied();
  const env = output?.success ? fromText(new TextDecoder().decode(output.stdout)) : {};
  return Object.keys(env).length === 2
    ? { ok: true, reason: "", env }
    : { ok: false, reason: "no base runtime; DENO_COMPILE and DENORT_BIN name one", env: {} };
}

async function supplied(): Promise<Deno.CommandOutput | null> {
  try {
    return await new Deno.Command(SUPPLIER, { stdin: "null" }).output();
  } catch {
    return null;
  }
}
