import type { VersionFacts } from "./reports.ts";

export function versionLine({ vis, deno, v8, target, compiled }: VersionFacts): string {
  return `vis ${vis} (deno ${deno}, v8 ${v8}, ${target}${compiled ? ", compiled" : ""})`;
}
