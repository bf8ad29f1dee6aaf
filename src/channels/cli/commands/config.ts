import pc from "picocolors";
import { UsageError } from "../../../domain/errors.ts";
import { oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { KeptRule } from "../../../domain/query/query_schemas.ts";
import type { SettingChange, SettingFacts } from "../../../domain/admin_reports.ts";
import type { ConfigAdmin, Io } from "../../channel.ts";
import { jsonText, printReport } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

type Input<Flags = unknown> = CommandInput<Flags & { readonly json: boolean; readonly cwd?: string }>;

type FileInput = Input<{ readonly project: boolean }>;

export async function listSettings(input: Input<{ readonly all: boolean }>): Promise<number> {
  const { io, flags } = input;
  const facts = await (await adminOf(input)).list(flags);
  show(facts, table(facts), input);
  if (facts.length === 0 && !flags.json) {
    io.stderr("No settings are set. vis config list --all shows the defaults.\n");
  }
  return 0;
}

export async function getSetting(key: string, input: Input): Promise<number> {
  const { value } = await (await adminOf(input)).explain(key);
  return show(value, [typeof value === "string" ? value : JSON.stringify(value, null, 2)], input);
}

export async function explainSetting(key: string, input: Input): Promise<number> {
  const facts = await (await adminOf(input)).explain(key);
  if (input.flags.json) return show(facts, [], input);
  for (const line of explained(facts, input.io)) input.io.stdout(`${line}\n`);
  return 0;
}

const NAMES_OF_EXTENSIONS = ["extensions.allow", "extensions.deny"];

export async function setSetting(key: string, words: readonly string[], input: FileInput): Promise<number> {
  const done = await (await adminOf(input)).set(key, { words, project: input.flags.project });
  const code = changed(done, `${key} = ${JSON.stringify(done.value)} in ${done.path}`, input);
  if (!NAMES_OF_EXTENSIONS.includes(key) || !Array.isArray(done.value) || input.flags.json) return code;
  const admin = await input.services.extensionAdmin({ cwd: input.flags.cwd });
  for (const one of await admin.unknown(done.value)) input.io.stderr(`vis: ${visibleText(one)}\n`);
  return code;
}

export async function unsetSetting(key: string, input: FileInput): Promise<number> {
  const done = await (await adminOf(input)).unset(key, input.flags);
  const line = done.changed ? `removed ${key} from ${done.path}` : `${key} is not set in ${done.path}`;
  return changed(done, line, input);
}

export async function showConfigPath(input: FileInput): Promise<number> {
  const path = (await adminOf(input)).path(input.flags);
  return show({ path }, [path], input);
}

export async function showConfigSchema({ services, io }: CommandInput<unknown>): Promise<number> {
  const flags = { json: true };
  return show(await (await adminOf({ services, io, flags })).schema(), [], { io, flags });
}

export async function trustConfig(
  input: Input<{ readonly yes: boolean; readonly remove: boolean }>,
): Promise<number> {
  const { yes, remove } = input.flags;
  const admin = await adminOf(input);
  const found = await admin.trustable();
  if (found === null) return show(null, ["This workspace has no settings file"], input);
  if (remove) await admin.distrust(found.path);
  else if (yes) await admin.trust(found);
  const needed = found.keys.length > 0;
  const trusted = !remove && (yes || found.trusted);
  const last = trusted || remove
    ? []
    : needed
    ? ["A workspace may set these keys only if you trust its file. Review them, then run: vis config trust --yes"]
    : ["The file sets only keys that need no trust"];
  show({ ...found, trusted }, [
    `${trusted ? "trusted" : "not trusted"}  ${found.path}`,
    `  sha256 ${found.sha256}`,
    ...found.keys.map(({ key, value }) => `  ${key} = ${JSON.stringify(value)}`),
    ...last,
  ], input);
  return trusted || remove || !needed ? 0 : 1;
}

async function adminOf({ services, flags }: Input): Promise<ConfigAdmin> {
  return await services.configAdmin({ cwd: flags.cwd });
}

function changed(change: SettingChange, line: string, { io, flags }: Pick<Input, "io" | "flags">): number {
  show(change, [line], { io, flags });
  if (!flags.json && io.stdoutIsTerminal) {
    io.stderr("A Vis that already runs may use the change only after its next start.\n");
  }
  const above = change.overruled !== ""
    ? `${change.overruled} overrides this setting`
    : change.extended !== ""
    ? `${change.extended} adds entries to this setting`
    : "";
  if (above !== "" && !flags.json) io.stderr(visibleText(`vis: ${above} (vis config explain ${change.key})\n`));
  return 0;
}

/** Programs need the exact value, so a pipe or a file gets the line unchanged. */
function show(value: unknown, lines: readonly string[], { io, flags }: Pick<Input, "io" | "flags">): number {
  if (flags.json) io.stdout(jsonText(value, { indent: 2 }));
  else for (const line of lines) io.stdout(`${io.stdoutIsTerminal ? visibleText(line) : line}\n`);
  return 0;
}

function table(facts: readonly SettingFacts[]): readonly string[] {
  const width = Math.min(40, Math.max(0, ...facts.map(({ key }) => key.length)));
  return facts.map(({ key, value, layers }) => {
    const from = layers.filter(({ counts }) => counts).map(({ where }) => where || "default").join(" + ");
    return visibleText(`${key.padEnd(width)}  ${oneLine(JSON.stringify(value), 60).padEnd(20)}  ${from}`);
  });
}

const LISTS = {
  replaced: "; vis config set and --set replace the whole list",
  extended: "; --set adds entries to the list of your settings",
};

function explained({ key, value, doc, type, project, list, layers }: SettingFacts, io: Io): readonly string[] {
  const color = pc.createColors(io.stdoutColor);
  const text = visibleText(`${key} = ${JSON.stringify(value)}`);
  const about = [
    ...doc === "" ? [] : [`  ${visibleText(doc)}`],
    `  ${type}${project ? "; a workspace may set it without your trust" : ""}${list === null ? "" : LISTS[list]}`,
  ];
  const places = layers.map((one) => {
    const line = `${one.layer.padEnd(12)} ${JSON.stringify(one.value)}${one.where === "" ? "" : `  ${one.where}`}`;
    return `${one.counts ? color.green("→") : " "} ${visibleText(line)}`;
  });
  return [color.bold(text), ...about, ...places];
}

interface ApprovalsFlags {
  readonly all: boolean;
  readonly cwd?: string | undefined;
  readonly json: boolean;
}

type ApprovalsInput = CommandInput<ApprovalsFlags>;

export async function listApprovals({ services, io, flags }: ApprovalsInput): Promise<number> {
  const rules = await (await services.approvalAdmin({ cwd: flags.cwd })).list({ all: flags.all });
  if (rules.length === 0 && !flags.json) {
    io.stderr(`No lasting approvals${flags.all ? "" : " for this workspace"}\n`);
  }
  return printReport(rules, rules.map((rule) => lineOf(rule, flags)), { io, flags });
}

export async function removeApprovals(
  ids: readonly string[],
  { services, io, flags }: ApprovalsInput,
): Promise<number> {
  const admin = await services.approvalAdmin({ cwd: flags.cwd });
  const all = await admin.list({ all: true });
  if (ids.length === 0 && !flags.all) {
    throw new UsageError("Cannot remove approvals: no id is given; name an approval, or use --all");
  }
  const chosen = ids.length === 0 ? all : ids.map((id) => ruleOf(id, all));
  for (const { id } of chosen) await admin.remove(id);
  return printReport(chosen, chosen.map((rule) => `Removed: ${lineOf(rule, { all: true })}`), { io, flags });
}

function ruleOf(id: string, all: readonly KeptRule[]): KeptRule {
  const [found, other] = all.filter((rule) => id !== "" && rule.id.startsWith(id));
  if (!found) {
    throw new UsageError(`Cannot find approval ${id}: no approval has this id; vis approvals list --all shows the ids`);
  }
  if (other) {
    throw new UsageError(`Cannot choose an approval by ${id}: several ids start with it; write more of the id`);
  }
  return found;
}

function lineOf(
  { id, at, extension, scope, conversationId, workspace }: KeptRule,
  { all }: Pick<ApprovalsFlags, "all">,
): string {
  const where = conversationId === null ? "" : `  in conversation ${conversationId.slice(0, 13)}`;
  const time = at.slice(0, 16).replace("T", " ");
  return `${id.slice(0, 13)}  ${time}  ${extension}  ${scope}${where}${all ? `  ${workspace}` : ""}`;
}
