import { createTwoFilesPatch } from "diff";
import { HostCallError } from "../domain/errors.ts";
import { clip } from "../domain/clip.ts";
import { readable } from "../domain/readable.ts";
import { SYSTEM_VARIABLES, type VariableImage } from "../domain/variable.ts";
import type { Store, VariableVersion } from "../persistence/store.ts";
import { decode } from "../sandbox/codec.ts";

const MAX_DIFF_CHARS = 200_000;
const SYSTEM: readonly string[] = SYSTEM_VARIABLES;

/** The value of a stored version as data: functions and classes as their source, with what they held in a comment,
 * lost ones as null. */
export function valueOf(image: VariableImage): unknown {
  if (SYSTEM.includes(image.name)) return image.source;
  if (image.kind === "function" || image.kind === "class") {
    return image.bytes.length === 0 ? image.source : `${image.source}\n// holds ${readable(decode(image.bytes))}`;
  }
  if (image.kind === "lost" || image.kind === "pending" || image.bytes.length === 0) return null;
  const table = decode(image.bytes);
  if (image.root === null) return table;
  return typeof table === "object" && table !== null
    ? Object.getOwnPropertyDescriptor(table, image.root)?.value
    : undefined;
}

/** Every stored version, oldest first, as the model sees it. */
export async function varHistory(store: Store, at: { readonly branchId: string; readonly name: string }): Promise<
  readonly { version: number; value: unknown; code: string; createdAt: number }[]
> {
  const versions = await store.variableVersions(at.branchId, at.name);
  return versions.map(({ version, image, code, createdAt }) => ({ version, value: valueOf(image), code, createdAt }));
}

/** A unified diff of two versions as text. */
export async function varDiff(
  store: Store,
  at: { readonly branchId: string; readonly name: string; readonly from: number; readonly to: number },
): Promise<string> {
  const versions = await store.variableVersions(at.branchId, at.name);
  const [before, after] = [
    findVersion(versions, { name: at.name, version: at.from, symbol: "varDiff" }),
    findVersion(versions, { name: at.name, version: at.to, symbol: "varDiff" }),
  ];
  const [old, now] = [readable(valueOf(before.image)), readable(valueOf(after.image))];
  if (old.length + now.length > MAX_DIFF_CHARS) {
    const size = `${old.length} and ${now.length} characters`;
    throw refused("varDiff", `Cannot diff ${at.name}: ${size} are too much, compare parts with varHistory`);
  }
  const names = [`${at.name} v${at.from}`, `${at.name} v${at.to}`] as const;
  if (old === now) return `${names[0]} and v${at.to} are the same`;
  const diff = createTwoFilesPatch(...names, `${old}\n`, `${now}\n`, "", "", { timeout: 1000 });
  return diff?.replace(/^=+\n/, "") ?? `--- ${names[0]}\n+++ ${names[1]}\n(the texts differ too much for a diff)`;
}

/** The version asked for, else the newest; throws with the versions that exist. `symbol` is the function that asks. */
export function findVersion(
  versions: readonly VariableVersion[],
  { name, version, symbol }: { readonly name: string; readonly version: number | null; readonly symbol: string },
): VariableVersion {
  if (symbol === "restoreVar" && SYSTEM.includes(name)) {
    throw refused(symbol, `Cannot restore ${name}: it is a system variable, read it with varHistory("${name}")`);
  }
  const found = version === null ? versions.at(-1) : versions.find((one) => one.version === version);
  if (found) return found;
  const known = versions.length === 0 ? "it has none" : `it has 1 to ${versions.length}`;
  throw refused(symbol, `Cannot find ${name}${version === null ? "" : ` v${version}`}: ${known}`);
}

/** The newest `count` queries of the branch, oldest first. */
export async function conversationHistory(
  store: Store,
  at: { readonly branchId: string; readonly count: number },
): Promise<readonly object[]> {
  const queries = await store.queries(at.branchId);
  return queries.slice(-Math.max(1, at.count)).map((query) => ({
    queryId: query.queryId,
    request: clip(query.text, 1000),
    answer: clip(query.answer, 1000),
    status: query.running ? "running" : query.status,
    iterations: query.iterations,
    createdAt: query.createdAt,
  }));
}

/** The blocks of a query, by default the newest finished one. */
export async function conversationCode(
  store: Store,
  at: { readonly branchId: string; readonly queryId: string | null },
): Promise<readonly object[]> {
  const queries = await store.queries(at.branchId);
  const query = at.queryId === null
    ? queries.findLast((one) => !one.running)
    : queries.find((one) => one.queryId === at.queryId);
  if (!query) throw refused("conversationCode", `Cannot find query: ${at.queryId ?? "no query has ended yet"}`);
  const iterations = await store.iterations(query.queryId);
  return iterations.flatMap((iteration) =>
    iteration.blocks.map(({ code, result }) => ({
      iteration: iteration.position + 1,
      code,
      ok: result.ok,
      preview: clip(result.ok ? result.preview : result.error?.message ?? "", 500),
    }))
  );
}

function refused(symbol: string, message: string): HostCallError {
  return new HostCallError(message, { namespace: "vis", symbol });
}
