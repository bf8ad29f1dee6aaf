import { readable } from "../domain/kit/json.ts";
import { advised, HostCallError } from "../domain/errors.ts";
import { clip } from "../domain/kit/text.ts";
import { errorForModel } from "../domain/query/host_call.ts";
import { shownRange } from "../domain/query/stored_query.ts";
import { SYSTEM_VARIABLES, type VariableImage } from "../domain/query/variable.ts";
import type { BranchPoint } from "../domain/records/conversations.ts";
import type { Store, VariableVersion } from "../persistence/store.ts";
import { decode } from "../sandbox/codec/codec.ts";
import type { VariableDiff } from "./version_diff.ts";

const SYSTEM: readonly string[] = SYSTEM_VARIABLES;

/** Returns null for a lost or pending value, and for a large text. A function or class becomes its source, with its own
 * properties in a comment. */
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

export async function varHistory(store: Store, at: { readonly branchId: string; readonly name: string }): Promise<
  readonly { version: number; value: unknown; code: string; createdAt: number }[]
> {
  const versions = await store.variableVersions(at.branchId, at.name);
  return versions.map(({ version, image, code, createdAt }) => ({ version, value: valueOf(image), code, createdAt }));
}

export async function varDiff(
  store: Store,
  at: {
    readonly branchId: string;
    readonly name: string;
    readonly from: number;
    readonly to: number;
    readonly at?: BranchPoint;
  },
): Promise<VariableDiff> {
  const { branchId, name, from, to } = at;
  const versions = await store.variableVersions(branchId, name, at.at ? { at: at.at } : {});
  const before = findVersion(versions, { name, version: from, symbol: "varDiff" });
  const after = findVersion(versions, { name, version: to, symbol: "varDiff" });
  const { diffVersions } = await import("./version_diff.ts");
  return diffVersions({ name, from, to, before: valueOf(before.image), after: valueOf(after.image) });
}

export function findVersion(
  versions: readonly VariableVersion[],
  { name, version, symbol }: { readonly name: string; readonly version: number | null; readonly symbol: string },
): VariableVersion {
  if (symbol === "restoreVar" && SYSTEM.includes(name)) {
    throw advised(
      refused(symbol, `Cannot restore ${name}: it is a system variable`),
      `read it with varHistory("${name}")`,
    );
  }
  const found = version === null ? versions.at(-1) : versions.find((one) => one.version === version);
  if (found) return found;
  const known = versions.length === 0
    ? "no earlier step stored a variable with this name"
    : versions.length === 1
    ? "it has only version 1"
    : `it has versions 1 to ${versions.length}`;
  throw refused(symbol, `Cannot find ${name}${version === null ? "" : ` v${version}`}: ${known}`);
}

export async function conversationHistory(
  store: Store,
  at: { readonly branchId: string; readonly count: number },
): Promise<readonly object[]> {
  const queries = await store.queries(at.branchId);
  return queries.filter(({ running }) => !running).slice(-Math.max(1, at.count)).map((query) => ({
    queryId: query.queryId,
    request: clip(query.text, 1000),
    answer: clip(query.answer, 1000),
    status: query.status,
    iterations: query.iterations,
    createdAt: query.createdAt,
  }));
}

export async function conversationCode(
  store: Store,
  at: { readonly branchId: string; readonly queryId: string | null },
): Promise<readonly object[]> {
  const queries = await store.queries(at.branchId);
  const query = at.queryId === null
    ? queries.findLast((one) => !one.running)
    : queries.find((one) => one.queryId === at.queryId);
  if (!query) {
    if (at.queryId === null) throw refused("conversationCode", "Cannot find the blocks: no request has ended yet");
    throw advised(
      refused("conversationCode", `Cannot find the blocks: no request of this branch has the id ${at.queryId}`),
      "conversationHistory() lists the ids",
    );
  }
  const iterations = await store.iterations(query.queryId, shownRange(query));
  return iterations.flatMap((iteration) =>
    iteration.blocks.map(({ code, result }) => ({
      iteration: iteration.position + 1,
      code,
      ok: result.ok,
      preview: clip(result.ok ? result.preview : result.error ? errorForModel(result.error) : "", 500),
    }))
  );
}

function refused(symbol: string, message: string): HostCallError {
  return new HostCallError(message, { namespace: "vis", symbol });
}
