import pc from "picocolors";
import { visibleText } from "../../../domain/kit/text.ts";
import type { FoundRelease } from "../../../domain/admin_reports.ts";
import type { CheckResult, Io, OpenRequest } from "../../channel.ts";
import { interrupt, jsonText } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

interface DoctorFlags extends Pick<OpenRequest, "db" | "cwd" | "set"> {
  readonly json: boolean;
  readonly report: boolean;
}

export async function doctorCommand(
  { services, io, flags }: CommandInput<DoctorFlags>,
): Promise<number> {
  using interrupted = interrupt(io);
  const request = { db: flags.db, cwd: flags.cwd, set: flags.set, signal: interrupted.signal };
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

interface UpdateFlags {
  readonly from?: string;
  readonly key?: string;
  readonly check: boolean;
  readonly force: boolean;
  readonly json: boolean;
}

export async function updateCommand(
  { services, io, flags: { json, ...flags } }: CommandInput<UpdateFlags>,
): Promise<number> {
  const { vis, compiled } = services.version;
  const facts = { current: vis, compiled, release: null, installed: null };
  if (!compiled) {
    if (json) {
      io.stdout(jsonText(facts, { indent: 2 }));
      return 0;
    }
    io.stdout(`This is vis ${vis}, run from source; vis update replaces only the executable. Use git pull here.\n`);
    return 0;
  }
  using interrupted = interrupt(io);
  let found: FoundRelease | null = null;
  const installed = await services.update({
    ...flags,
    onFound: (release) => {
      found = release;
      if (!json) io.stdout(visibleText(textOf(release, vis)));
    },
    signal: interrupted.signal,
  });
  if (json) io.stdout(jsonText({ ...facts, release: found, installed }, { indent: 2 }));
  else if (installed) {
    io.stdout(visibleText(`Installed ${installed.path}; the previous one is kept as ${installed.kept}\n`));
  }
  return 0;
}

function textOf({ version, age, changes }: FoundRelease, current: string): string {
  if (age === "same") return `This is vis ${current}, and the release is the same version.\n`;
  if (age === "older") return `This is vis ${current}; the release is vis ${version}, which is older.\n`;
  return `This is vis ${current}; vis ${version} is new.\n${changes === "" ? "" : `\n${changes}\n\n`}`;
}
