import type { VariableHead } from "../persistence/store/variable_store.ts";
import type { EnvironmentParts } from "./environment_parts.ts";

/** Texts of the system variables as the previous query left them. */
export async function storedSystem(
  { store, branch: { branchId } }: Pick<EnvironmentParts, "store" | "branch">,
  heads: readonly VariableHead[],
): Promise<ReadonlyMap<string, string>> {
  const names = ["$reasoning", "$answer"].filter((name) => heads.some((head) => head.name === name));
  return new Map(
    await Promise.all(names.map(async (name) => {
      const versions = await store.variableVersions(branchId, name, { newest: 1 });
      return [name, versions.at(-1)?.image.source ?? ""] as const;
    })),
  );
}
