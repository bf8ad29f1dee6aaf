import { UsageError } from "../../../domain/errors.ts";
import type { KeptRule } from "../../../domain/query/query_schemas.ts";
import { printReport } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

export interface ApprovalsFlags {
  readonly all: boolean;
  readonly cwd?: string | undefined;
  readonly json: boolean;
}

type Input = CommandInput<ApprovalsFlags>;

/** `vis approvals list`. */
export async function listApprovals({ services, io, flags }: Input): Promise<number> {
  const rules = await (await services.approvalAdmin({ cwd: flags.cwd })).list({ all: flags.all });
  if (rules.length === 0 && !flags.json) {
    io.stderr(`No lasting approvals${flags.all ? "" : " for this workspace"}\n`);
  }
  return printReport(rules, rules.map((rule) => lineOf(rule, flags)), { io, flags });
}

/** `vis approvals remove`; `ids` may be prefixes. */
export async function removeApprovals(ids: readonly string[], { services, io, flags }: Input): Promise<number> {
  const admin = await services.approvalAdmin({ cwd: flags.cwd });
  const all = await admin.list({ all: true });
  if (ids.length === 0 && !flags.all) throw new UsageError("Cannot remove approvals: name one, or use --all");
  const chosen = ids.length === 0 ? all : ids.map((id) => ruleOf(id, all));
  for (const { id } of chosen) await admin.remove(id);
  return printReport(chosen, chosen.map((rule) => `Removed: ${lineOf(rule, { all: true })}`), { io, flags });
}

function ruleOf(id: string, all: readonly KeptRule[]): KeptRule {
  const [found, other] = all.filter((rule) => id !== "" && rule.id.startsWith(id));
  if (!found) throw new UsageError(`Cannot find approval ${id}: vis approvals list --all lists them`);
  if (other) throw new UsageError(`Cannot choose an approval by ${id}: more than one starts with it`);
  return found;
}

function lineOf(
  { id, at, extension, scope, conversationId, workspace }: KeptRule,
  { all }: Pick<ApprovalsFlags, "all">,
): string {
  const where = conversationId === null ? "" : `  in conversation ${conversationId.slice(0, 13)}`;
  const time = at.slice(0, 16).replace("T", " ");
  return `${id.slice(0, 8)}  ${time}  ${extension}  ${scope}${where}${all ? `  ${workspace}` : ""}`;
}
