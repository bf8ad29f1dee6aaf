import { join } from "node:path";
import pc from "picocolors";
import type { Conversation } from "../../../conversation/conversations.ts";
import { ConfigError, fileCode, fileFault, UsageError } from "../../../domain/errors.ts";
import { oneLine } from "../../../domain/kit/text.ts";
import type { Io, OpenRequest, Services, Session } from "../../channel.ts";
import { withSession } from "../program/command.ts";
import { type QueryCommand, runQueryCommand } from "../query_command.ts";

const REQUESTS = {
  first: [
    "Which files here mention TODO, and how often?",
    "What is the mean of the amounts in data/sales.csv?",
    "Define a function that formats cents as euros, and show 123456 cents with it.",
  ],
  second: [
    "Use the function from before: what is 98765 cents in euros?",
    "In src/discount.ts the rate must be 0.85 instead of 0.9: edit it and show the diff.",
  ],
} as const;

const FILES: Readonly<Record<string, string>> = {
  "README.md": "# Till\n\nA small cash register.\n\nTODO: say how to run it\n",
  "src/price.ts": [
    "/** Prices are in cents. */",
    "export function total(prices: number[]): number {",
    "  // TODO: refuse negative prices",
    "  return prices.reduce((sum, price) => sum + price, 0);",
    "}",
    "",
  ].join("\n"),
  "src/discount.ts": [
    'import { total } from "./price.ts";',
    "",
    "// TODO: round half up",
    "// TODO: read the rate from the configuration",
    "export function discounted(prices: number[]): number {",
    "  return Math.floor(total(prices) * 0.9);",
    "}",
    "",
  ].join("\n"),
  "src/receipt.ts": [
    'import { discounted } from "./discount.ts";',
    "",
    "export function receipt(prices: number[]): string {",
    "  return `Total: ${discounted(prices)} cents`;",
    "}",
    "",
  ].join("\n"),
  "data/sales.csv": "day,amount\nmon,1200\ntue,800\nwed,950\nthu,1430\nfri,2210\n",
};

interface DemoContext {
  readonly services: Services;
  readonly io: Io;
  readonly resume: string | null;
}

export async function demoCommand(context: DemoContext): Promise<number> {
  return context.resume === null ? await firstPart(context) : await secondPart(context, context.resume);
}

async function firstPart({ services, io }: DemoContext): Promise<number> {
  const folder = await madeFolder().catch((error: unknown) => {
    const variable = Deno.build.os === "windows" ? "TMP" : "TMPDIR";
    const wayOut = fileCode(error) === "EMFILE"
      ? "raise the limit"
      : `set ${variable} to a folder that Vis may write to`;
    throw new ConfigError(`Cannot make the files of the demo: ${fileFault(error)}; ${wayOut}`);
  });
  io.stdout(`vis demo: the replies are scripted; everything else is real.\nWorkspace: ${folder}/workspace\n`);
  const code = await withSession(services.open(requestIn(folder)), async (session) => {
    const branch = await session.conversations.create({ title: "Demo", channel: "cli", workspace: session.workspace });
    return await askAll(REQUESTS.first, { session, branch, io });
  });
  if (code !== 0) return code;
  io.stdout("\n── this process ends; a new one continues the same conversation ──\n");
  return await services.respawn(["demo", "--resume", folder], {});
}

async function secondPart({ services, io }: DemoContext, folder: string): Promise<number> {
  return await withSession(services.open(requestIn(folder)), async (session) => {
    const branch = await session.conversations.latest(session.workspace);
    if (!branch) throw new UsageError(`Cannot resume the demo: ${folder} has no conversation; run vis demo`);
    const code = await askAll(REQUESTS.second, { session, branch, io });
    io.stdout(await demoTable({ session, branch, folder }));
    return code;
  });
}

function requestIn(folder: string): OpenRequest {
  const place = { db: join(folder, "demo.db"), cwd: join(folder, "workspace") };
  return { ...place, provider: "demo", model: "scripted", maxIterations: 4 };
}

async function askAll(
  requests: readonly string[],
  { session, branch, io }: { readonly session: Session; readonly branch: Conversation; readonly io: Io },
): Promise<number> {
  const color = pc.createColors(io.stdoutColor);
  // The demo shows the work like an answer, so the work goes to stdout.
  const shown: Io = {
    ...io,
    stderr: io.stdout,
    stderrColor: io.stdoutColor,
    stderrIsTerminal: io.stdoutIsTerminal,
    stdinIsTerminal: false,
    onInterrupt: (run) => io.onInterrupt(run),
  };
  const flags = { output: "text", quiet: false, verbose: false } as const;
  for (const request of requests) {
    io.stdout(`\n${color.bold(`> ${request}`)}\n`);
    const begin: QueryCommand["begin"] = (options) => session.conversations.ask(branch, request, options);
    const code = await runQueryCommand({ io: shown, flags, schema: false, begin });
    if (code !== 0) return code;
  }
  return 0;
}

async function madeFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "vis-demo-" });
  for (const [path, text] of Object.entries(FILES)) {
    const target = join(folder, "workspace", path);
    await Deno.mkdir(join(target, ".."), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
  return folder;
}

async function demoTable(
  { session, branch, folder }: { readonly session: Session; readonly branch: Conversation; readonly folder: string },
): Promise<string> {
  const lines = ["", `${"request".padEnd(42)}steps  request bytes per step`];
  let walls: unknown = null;
  for (const query of await session.conversations.queries(branch)) {
    const iterations = await session.conversations.iterations(query.queryId);
    const bytes = iterations.map(({ metadata }) => String(metadata["requestBytes"] ?? "?"));
    lines.push(`${oneLine(query.text, 40).padEnd(42)}${String(iterations.length).padEnd(7)}${bytes.join(" ")}`);
    walls = iterations.at(-1)?.metadata["walls"] ?? walls;
  }
  lines.push("", `Active sandbox walls: ${describeWalls(walls)}`, `Database: ${session.database}`);
  lines.push(`You may delete the folder of the demo: ${folder}`);
  lines.push("Next: run vis in a folder of your own.", "If Vis has no model yet, it asks you to choose one.", "");
  return lines.join("\n");
}

function describeWalls(walls: unknown): string {
  if (typeof walls !== "object" || walls === null) return "unknown";
  const facts = new Map<string, unknown>(Object.entries(walls));
  const held = ["realm", "permissions", "process"].filter((name) => facts.get(name) === true);
  const kernel = new Map<string, unknown>(Object.entries(facts.get("kernel") ?? {}));
  const landlock = Number(kernel.get("landlock") ?? 0);
  if (landlock > 0) held.push(`Landlock ABI ${landlock}`);
  if (kernel.get("seccomp") === true) held.push("seccomp");
  return held.join(", ") || "none";
}
