import { UsageError } from "../../domain/errors.ts";
import type { ConversationArchive } from "../../persistence/archive_schema.ts";
import { restoredFault } from "../../sandbox/child/compiler/refusals.ts";

type Tables = ConversationArchive["tables"];
type Metadata = Tables["expressionState"][number]["metadata"];
type Facts = Extract<Metadata, { readonly kind: string; readonly requires: readonly string[] }>;

/** Names of the code in an archive, in any version: what a query that continues the conversation may evaluate. */
export interface ArchiveCode {
  readonly functions: readonly string[];
  /** With namespaces. */
  readonly classes: readonly string[];
}

/** Lists the code in an archive. Throws `UsageError` for code that no block could have left there. */
export function archiveCode({ expressionSoul, expressionState }: Tables): ArchiveCode {
  const souls = new Map(expressionSoul.map(({ id, name }) => [id, name ?? ""]));
  const functions = new Set<string>(), classes = new Set<string>();
  for (const { expressionSoulId, expr, metadata } of expressionState) {
    if (!isCode(metadata)) continue;
    const { kind, source = expr ?? "", summary } = metadata, name = souls.get(expressionSoulId) ?? "";
    const fault = restoredFault({ name, kind, source, summary });
    if (fault !== null) {
      throw new UsageError(
        `Cannot import conversation: the variable ${name} would run code when it is restored, ${fault}. ` +
          "If you trust where the file is from, have it exported again after forget() of the variable",
      );
    }
    (kind === "function" ? functions : classes).add(name);
  }
  return { functions: [...functions].sort(), classes: [...classes].sort() };
}

function isCode(metadata: Metadata): metadata is Facts & { readonly kind: "function" | "class" } {
  return "kind" in metadata && (metadata.kind === "function" || metadata.kind === "class");
}
