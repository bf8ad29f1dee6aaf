import type { Conversation } from "../../../conversation/conversations.ts";
import { type ShownVersion, versionText } from "../../../conversation/stored_conversations.ts";
import { UsageError } from "../../../domain/errors.ts";
import { readable } from "../../../domain/kit/json.ts";
import { clip, counted, localTime, oneLine } from "../../../domain/kit/text.ts";
import type { BranchPoint } from "../../../domain/records/conversations.ts";
import type { Io, Session } from "../../channel.ts";
import { printReport } from "../output.ts";
import { browse, type CommandInput } from "../program/command.ts";

const SHOWN_CHARS = 20_000;
const LISTED_CHARS = 2_000;

export interface VarsFlags {
  readonly conversation?: string | undefined;
  readonly history?: string | undefined;
  readonly at?: string | undefined;
  readonly diff?: readonly string[] | undefined;
  readonly limit: number;
  readonly db?: string | undefined;
  readonly cwd?: string | undefined;
  readonly json: boolean;
}

interface Shown {
  readonly session: Session;
  readonly io: Io;
  readonly flags: VarsFlags;
  readonly branch: Conversation;
  readonly at: BranchPoint | undefined;
}

export async function varsCommand(
  names: readonly string[],
  { services, io, flags }: CommandInput<VarsFlags>,
): Promise<number> {
  const asked = [names.length > 0, flags.history !== undefined, flags.diff !== undefined].filter(Boolean);
  if (asked.length > 1) {
    throw new UsageError("Cannot combine names, --history and --diff: they exclude each other; use only one of them");
  }
  return await browse({ services, flags }, async (session) => {
    const { conversations, workspace } = session;
    const branch = flags.conversation === undefined
      ? await conversations.latest(workspace)
      : await conversations.byId(flags.conversation);
    if (!branch) {
      throw new UsageError(
        `Cannot show variables: workspace ${workspace} has no conversation; choose one with --conversation`,
      );
    }
    const at = flags.at === undefined
      ? undefined
      : (await conversations.records.point(branch.branchId, flags.at)).point;
    const shown = { session, io, flags, branch, at };
    if (flags.diff !== undefined) await showDiff(flags.diff, shown);
    else if (flags.history !== undefined) await showHistory(flags.history, shown);
    else if (names.length > 0) await showValues(names, shown);
    else await list(shown);
    return 0;
  });
}

async function list({ session, io, flags, branch, at }: Shown): Promise<void> {
  const heads = await session.conversations.stored.variables(branch.branchId, at);
  const width = Math.min(30, Math.max(0, ...heads.map(({ name }) => name.length)));
  const lines = heads.map(({ name, kind, versions, scope, summary, reason }) => {
    const facts = [
      ...(scope === "live" ? [] : [scope]),
      ...(kind === "data" ? [] : [kind]),
      summary.inline ?? summary.shape,
      ...(summary.doc === "" ? [] : [`// ${summary.doc}`]),
      ...(reason === "" ? [] : [`lost: ${reason}`]),
    ];
    return `${name.padEnd(width)}  v${versions}  ${oneLine(facts.join(" · "), 300)}`;
  });
  printReport(heads.map(({ summary, ...head }) => ({ ...head, ...summary })), lines, { io, flags });
  if (heads.length === 0 && !flags.json) io.stderr("No variables\n");
}

async function showValues(names: readonly string[], { session, io, flags, branch, at }: Shown): Promise<void> {
  const found: ShownVersion[] = [];
  for (const name of names) {
    found.push(...await session.conversations.records.versions(branch, { name, newest: 1, at }));
  }
  const isWhole = flags.json || !io.stdoutIsTerminal;
  printReport(
    found.map(facts),
    flags.json ? [] : found.flatMap((version) => [
      ...names.length > 1 ? [`${version.name} v${version.version}`] : [],
      versionText(version, isWhole ? Infinity : SHOWN_CHARS),
    ]),
    { io, flags },
  );
  const cut = isWhole ? [] : found.filter((version) => versionText(version, Infinity).length > SHOWN_CHARS);
  for (const { name } of cut) {
    io.stderr(`Vis shows only the beginning of ${name}; run vis vars with > FILE for all of the value\n`);
  }
}

async function showHistory(name: string, { session, io, flags, branch, at }: Shown): Promise<void> {
  const versions = await session.conversations.records.versions(branch, { name, newest: flags.limit, at });
  const earlier = (versions[0]?.version ?? 1) - 1;
  if (earlier > 0 && !flags.json) {
    io.stderr(`${counted(earlier, "earlier version")}: --limit shows more\n`);
  }
  const shown = versions.flatMap((version) => [
    `${name} v${version.version}  ${localTime(version.createdAt, "second")}`,
    ...lines(clip(version.code, LISTED_CHARS)).map((line) => `  │ ${line}`),
    ...lines(versionText(version, LISTED_CHARS)).map((line) => `  = ${line}`),
  ]);
  printReport(versions.map(facts), shown, { io, flags });
}

async function showDiff(what: readonly string[], { session, io, flags, branch }: Shown): Promise<void> {
  const [name = "", first, second] = what;
  if (what.length !== 1 && what.length !== 3) {
    throw new UsageError(
      `Cannot compare versions: --diff has ${what.length} values; write --diff NAME V1 V2, or --diff NAME`,
    );
  }
  if (flags.at !== undefined) {
    throw new UsageError("Cannot use --diff with --at: --diff chooses versions by number; leave out --at");
  }
  const { records } = session.conversations;
  const newest = (await records.versions(branch, { name, newest: 1 })).at(-1)?.version ?? 1;
  if (first === undefined && newest === 1) throw new UsageError(`Cannot compare ${name}: it has only one version`);
  const [from, to] = first === undefined ? [newest - 1, newest] : [versionOf(first), versionOf(second)];
  const diff = await records.diff(branch, { name, from, to });
  printReport({ name, from, to, ...diff }, [diff.text.replace(/\n$/, "")], { io, flags });
}

function versionOf(text: string | undefined): number {
  const number = Number(text?.replace(/^v/, ""));
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new UsageError(`Cannot compare version ${text}: it is not a whole number of at least 1`);
}

function facts({ shown, ...version }: ShownVersion): object {
  if (shown === null) return { ...version, tooLarge: true };
  const { value } = shown;
  if (typeof value !== "object" || value === null) {
    return { ...version, value: typeof value === "bigint" || value === undefined ? String(value) : value };
  }
  const text = readable(value);
  try {
    return { ...version, value: JSON.parse(text) };
  } catch {
    return { ...version, value: text };
  }
}

function lines(text: string): string[] {
  return text === "" ? [] : text.split(/\r\n|[\r\n\u2028\u2029\u0085]/);
}
