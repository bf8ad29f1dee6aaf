import type { Conversations } from "../../../conversation/conversations.ts";
import { localTime } from "../../../domain/kit/text.ts";
import { amounts } from "../text/amounts.ts";

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];
type Row = readonly [name: string, text: string];

/** The usage and context of an iteration, one line each. */
export function stepTable(iteration: StoredIteration): string {
  const { metadata, status, createdAt } = iteration;
  const rows: readonly Row[] = [
    ["outcome", textOf(metadata["outcome"]) || status],
    ["began", localTime(createdAt, "second")],
    ...models(iteration),
    ["tokens", tokens(iteration)],
    ["cost", typeof metadata["costUsd"] === "number" ? amounts.cost(metadata["costUsd"]) : "price unknown"],
    ["request", typeof metadata["requestBytes"] === "number" ? amounts.bytes(metadata["requestBytes"]) : ""],
    ["budget", textOf(metadata["budget"])],
    ...blocks(iteration),
    ["walls", walls(metadata["walls"])],
    ...grants(metadata["grants"]),
    ["extensions", extensions(metadata["extensions"])],
    ...listOf(metadata["notes"]).map((note): Row => ["note", textOf(note)]),
  ];
  return rows.filter(([, text]) => text !== "").map(([name, text]) => `${name.padEnd(11)} ${text}`).join("\n");
}

function models({ traces }: StoredIteration): readonly Row[] {
  return traces.map(({ provider, model, ok, ms, status, error, repairs }): Row => {
    const end = ok ? "ok" : error ?? (status === null ? "failed" : String(status));
    const mended = repairs.length === 0 ? "" : ` · repaired: ${repairs.join("; ")}`;
    return ["model", `${provider}/${model} · ${amounts.time(ms)} · ${end}${mended}`];
  });
}

function tokens({ traces }: StoredIteration): string {
  const usage = traces.findLast(({ ok }) => ok)?.usage ?? null;
  if (usage === null) return "not counted";
  const { input, output, cached, cacheWrite = 0, reasoning } = usage;
  const [read, wrote] = [part(cached, "from the cache"), part(cacheWrite, "written to it")];
  return `${input.toLocaleString("en")} in${inside([read, wrote])}, ${output.toLocaleString("en")} out${
    inside([part(reasoning, "reasoning")])
  }`;
}

const part = (count: number, what: string): string => count > 0 ? `${count.toLocaleString("en")} ${what}` : "";

function inside(parts: readonly string[]): string {
  const told = parts.filter((one) => one !== "");
  return told.length === 0 ? "" : ` (${told.join(", ")})`;
}

function blocks({ blocks }: StoredIteration): readonly Row[] {
  return blocks.map(({ result: { outcome, ms, calls } }, at): Row => {
    const names = calls.slice(0, 5).map(({ name, ms, ok, outcome }) => {
      return `${ok ? "" : "✗ "}${name} ${amounts.time(ms)}${outcome ? ` (${outcome})` : ""}`;
    }).join(", ");
    const called = calls.length === 0
      ? ""
      : ` · ${amounts.count(calls.length, "call")}: ${names}${calls.length > 5 ? " …" : ""}`;
    return [`block ${at + 1}`, `${outcome} · ${amounts.time(ms)}${called}`];
  });
}

function walls(value: unknown): string {
  const facts = fieldsOf(value);
  if (facts.size === 0) return "";
  const kernel = fieldsOf(facts.get("kernel"));
  const landlock = Number(kernel.get("landlock") ?? 0);
  const held: readonly (readonly [string, boolean])[] = [
    ...["realm", "permissions", "process"].map((name) => [name, facts.get(name) === true] as const),
    [landlock > 0 ? `files (Landlock ${landlock})` : "files", landlock > 0],
    ["calls (seccomp)", kernel.get("seccomp") === true],
  ];
  return held.map(([name, holds]) => `${name} ${holds ? "✓" : "✗"}`).join("  ");
}

function grants(value: unknown): readonly Row[] {
  const given = [...fieldsOf(value)].filter(([, list]) => listOf(list).length > 0);
  if (given.length === 0) return value === undefined || value === null ? [] : [["grants", "nothing"]];
  return given.map(([kind, list]): Row => ["grants", `${kind}: ${listOf(list).map(textOf).join(", ")}`]);
}

function extensions(value: unknown): string {
  return listOf(value).map((one) => {
    const facts = fieldsOf(one);
    return facts.size === 0 ? textOf(one) : `${textOf(facts.get("namespace"))} ${textOf(facts.get("version"))}`.trim();
  }).join(", ");
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
