import { compareVersions } from "../update/compare_versions.ts";

/** Whether a version of Deno is at least this one; its pre-releases and builds count as the version itself. */
export function runtimeSince(least: string, version: string = Deno.version.deno): boolean {
  return compareVersions(version.replace(/[+-].*/, ""), least) >= 0;
}
