import { hostname } from "node:os";
import type { CheckResult, OpenRequest } from "../../channels/channel.ts";
import { DEFAULT_CONFIG } from "../../config/defaults.ts";
import { Cancelled, ConfigError, messageOf } from "../../domain/errors.ts";
import type { SeatbeltWalls } from "../../processes/seatbelt/seatbelt_wall.ts";
import type { SessionParts } from "../session/open_session.ts";
import { type EnvironmentVariables, readSettings, type Settings } from "../settings/settings.ts";
import { ownVersion } from "../version.ts";
import { settingsFault } from "./doctor.ts";
import { diagnoseCommands, diagnoseSandbox } from "./walls.ts";

const SYSTEM = ["bin", "dev", "etc", "lib", "lib64", "nix", "opt", "proc", "run", "sbin", "sys", "usr", "System"];
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i;
const LEAST_SECRET = 6, LEAST_NAME = 3;
const COMMON_NAMES = ["root", "vis", "user", "admin"];

const BELOW = /<path>[\\/](?:[^\s"'`,;:()<>]|[^\S\n](?=[^\n"'`,;:()<>]*[\\/]))*/g;

interface ReportFacts {
  readonly checks: readonly CheckResult[];
  readonly seatbelt: Pick<SeatbeltWalls, "reason" | "probe"> | null;
}

export async function doctorReport(
  { signal, ...request }: OpenRequest & { readonly signal?: AbortSignal | undefined },
  parts: SessionParts,
): Promise<string> {
  const facts = await factsOf({ request, signal }, parts);
  if (signal?.aborted) throw new Cancelled("Cancelled");
  return anonymous(reportText(facts), { env: parts.env, host: hostname() });
}

async function factsOf(
  { request, signal }: { readonly request: OpenRequest; readonly signal: AbortSignal | undefined },
  parts: SessionParts,
): Promise<ReportFacts> {
  let settings: Settings;
  try {
    settings = await readSettings(request, parts.env, parts);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = [settingsFault(error), ...await diagnoseSandbox({ config: DEFAULT_CONFIG }, { signal })];
    return { checks, seatbelt: null };
  }
  const [sandbox, commands, seatbelt] = await Promise.all([
    diagnoseSandbox(settings, { signal }),
    diagnoseCommands(settings, { parts, signal }),
    Deno.build.os === "darwin" ? seatbeltOf(settings, parts) : null,
  ]);
  return { checks: [...sandbox, ...commands.filter(({ name }) => name === "commands")], seatbelt };
}

async function seatbeltOf(settings: Settings, parts: SessionParts): Promise<ReportFacts["seatbelt"]> {
  const { SeatbeltWall } = await import("../../processes/seatbelt/seatbelt_wall.ts");
  const wall = new SeatbeltWall({
    home: parts.env["HOME"] || null,
    visHome: settings.home,
    read: settings.readFolders,
    network: false,
    env: parts.env,
  });
  return await wall.walls().catch((error: unknown) => ({ reason: messageOf(error), probe: [] }));
}

export function reportText({ checks, seatbelt }: ReportFacts): string {
  const { vis, deno, v8, target, compiled } = ownVersion();
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = [
    `vis ${vis} (${compiled ? "executable" : "from source"}, ${target})`,
    `system ${Deno.build.os} ${Deno.osRelease()} on ${Deno.build.arch}, deno ${deno}, v8 ${v8}`,
    "",
    ...checks.map(({ name, state, found }) => `${state.padEnd(4)} ${name.padEnd(width)} ${found}`),
  ];
  if (seatbelt === null) return `${lines.join("\n")}\n`;
  const tried = seatbelt.probe.map(({ name, wanted, outcome }) =>
    `${wanted === outcome ? "ok  " : "fail"} ${outcome.padEnd(7)} ${name}`
  );
  return [...lines, "", `Seatbelt: ${seatbelt.reason || "every denial was seen"}`, ...tried, ""].join("\n");
}

export function anonymous(
  text: string,
  { env, host }: { readonly env: EnvironmentVariables; readonly host: string },
): string {
  const values = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.length >= LEAST_SECRET ? [value] : []
  );
  const folders = ["HOME", "USERPROFILE", "VIS_HOME", "TMPDIR", "PWD"].map((name) => env[name] ?? "");
  const names = [
    ...["USER", "LOGNAME", "USERNAME"].map((name) => env[name] ?? ""),
    ...folders.slice(0, 2).map(lastName),
  ]
    .filter((name) => name.length >= LEAST_NAME && !COMMON_NAMES.includes(name));
  const hosts = [host, host.split(".", 1)[0] ?? ""].filter((name) => name.length >= LEAST_NAME && name !== "localhost");
  const known = [
    ...values.map((value) => [value, "<key>"] as const),
    ...folders.filter((path) => path.length > 1).map((path) => [path, "<path>"] as const),
  ].sort(([one], [other]) => other.length - one.length);
  const plain = known.reduce((all, [value, instead]) => all.replaceAll(value, instead), text).replaceAll(
    /(?<![\w/<>])(?:[A-Za-z]:)?[\\/][^\s"'`,;:()<>]+/g,
    (path) => SYSTEM.includes(path.split(/[\\/]/)[1] ?? "") ? path : "<path>",
  ).replaceAll(BELOW, "<path>");
  const words = [...names.map((name) => [name, "<user>"] as const), ...hosts.map((name) => [name, "<host>"] as const)];
  return words.reduce((all, [name, instead]) => all.replaceAll(wordOf(name), instead), plain);
}

function lastName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? "";
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(name)}(?![\\p{L}\\p{N}])`, "giu");
}
