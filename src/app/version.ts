import project from "../../deno.json" with { type: "json" };
import type { VersionFacts } from "../domain/admin_reports.ts";

export function ownVersion(): VersionFacts {
  const { deno, v8 } = Deno.version;
  return { vis: project.version, deno, v8, compiled: Deno.build.standalone, target: Deno.build.target };
}

export function compareVersions(one: string, other: string): number {
  const [a, b] = [parts(one), parts(other)];
  for (const [at, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.suffix === "" || b.suffix === "") return b.suffix.length - a.suffix.length;
  return a.suffix.localeCompare(b.suffix, "en", { numeric: true });
}

function parts(version: string): { readonly numbers: readonly number[]; readonly suffix: string } {
  const [, numbers = "", suffix = ""] = /^(\d+\.\d+\.\d+)(.*)$/.exec(version) ?? [];
  return { numbers: numbers.split(".").map(Number), suffix };
}

export function runtimeSince(least: string, version: string = Deno.version.deno): boolean {
  return compareVersions(version.replace(/[+-].*/, ""), least) >= 0;
}
