import project from "../../../deno.json" with { type: "json" };
import type { VersionFacts } from "../../domain/reports.ts";

export function ownVersion(): VersionFacts {
  const { deno, v8 } = Deno.version;
  return { vis: project.version, deno, v8, compiled: Deno.build.standalone, target: Deno.build.target };
}
