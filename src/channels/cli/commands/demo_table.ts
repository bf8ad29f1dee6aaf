import { oneLine } from "../../../domain/text/clip.ts";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { Session } from "../../channel.ts";

/** What the demo did, read from its rows in the database. */
export async function demoTable(
  { session, branch, folder }: { readonly session: Session; readonly branch: Conversation; readonly folder: string },
): Promise<string> {
  const lines = ["", "request                                             steps       request bytes per step"];
  let walls: unknown = null;
  for (const query of await session.conversations.queries(branch)) {
    const iterations = await session.conversations.iterations(query.queryId);
    const bytes = iterations.map(({ metadata }) => String(metadata["requestBytes"] ?? "?"));
    lines.push(`${oneLine(query.text, 50).padEnd(52)}${String(iterations.length).padEnd(12)}${bytes.join(" ")}`);
    walls = iterations.at(-1)?.metadata["walls"] ?? walls;
  }
  lines.push("", `Active sandbox walls: ${describeWalls(walls)}`, `Database: ${session.database}`);
  lines.push(`The files of the demo are in ${folder}, which is safe to delete.`, "");
  return lines.join("\n");
}

function describeWalls(walls: unknown): string {
  if (typeof walls !== "object" || walls === null) return "unknown";
  const facts = new Map<string, unknown>(Object.entries(walls));
  const held = ["realm", "permissions", "process"].filter((name) => facts.get(name) === true);
  const kernel = new Map<string, unknown>(Object.entries(facts.get("kernel") ?? {}));
  const landlock = Number(kernel.get("landlock") ?? 0);
  if (landlock > 0) held.push(`kernel: Landlock ABI ${landlock}`);
  if (kernel.get("seccomp") === true) held.push("kernel: seccomp");
  return held.join(", ") || "none";
}
