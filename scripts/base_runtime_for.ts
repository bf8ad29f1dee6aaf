import { join } from "node:path";
import { executableTarget } from "./executable_target.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `deno compile` would accept a runtime of another platform, but the executable would not start. Null means that Deno
 * downloads the runtime. */
export async function baseRuntimeFor(target: string, env: Environment): Promise<string | null> {
  const name = `denort-${target}${target.includes("windows") ? ".exe" : ""}`;
  const folder = env["DENORT_DIR"];
  const path = folder ? join(folder, name) : env["DENORT_BIN"] || null;
  if (path === null) return null;
  const variable = folder ? "DENORT_DIR" : "DENORT_BIN";
  const head = await headOf(path);
  if (head === null) throw new Error(`Cannot compile for ${target}: ${variable} names ${path}, which does not exist`);
  const found = executableTarget(head);
  if (found === target) return path;
  const kind = found === null ? "is no runtime of Deno" : `is one for ${found}`;
  throw new Error(`Cannot compile for ${target}: ${variable} names ${path}, which ${kind}`);
}

async function headOf(path: string): Promise<Uint8Array | null> {
  try {
    using file = await Deno.open(path);
    const head = new Uint8Array(4096);
    return head.subarray(0, await file.read(head) ?? 0);
  } catch {
    return null;
  }
}
