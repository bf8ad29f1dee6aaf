import pc from "picocolors";
import { visibleText } from "../../../domain/kit/text.ts";
import type { CheckResult, Io } from "../../channel.ts";
import { interrupt, jsonText } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

interface Flags {
  readonly db?: string;
  readonly cwd?: string;
  readonly json: boolean;
  readonly report: boolean;
}

/** `vis doctor`: one line per check with its fix. Resolves with 1 if a check failed; a report never fails. Ctrl-C leaves
 * nothing behind. */
export async function doctorCommand(
  { services, io, flags }: CommandInput<Flags>,
): Promise<number> {
  using interrupted = interrupt(io);
  const request = { db: flags.db, cwd: flags.cwd, signal: interrupted.signal };
  if (flags.report) {
    io.stdout(visibleText(await services.doctorReport(request)));
    return 0;
  }
  const checks = await services.doctor(request);
  if (flags.json) io.stdout(jsonText(checks, { indent: 2 }));
  else for (const check of checks) io.stdout(`${line(check, io)}\n`);
  return checks.some((check) => check.state === "fail") ? 1 : 0;
}

function line(check: CheckResult, io: Io): string {
  const color = pc.createColors(io.stdoutColor);
  const mark =
    { ok: color.green("✓"), warn: color.yellow("!"), fail: color.red("✗"), off: color.dim("–") }[check.state];
  const fix = check.fix ? `\n    ${color.dim("→")} ${visibleText(check.fix)}` : "";
  return `${mark} ${visibleText(`${check.name.padEnd(20)} ${check.found}`)}${fix}`;
}
