import { visibleText } from "../../../domain/kit/text.ts";
import type { FoundRelease } from "../../../domain/reports.ts";
import { interrupt } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

export interface UpdateFlags {
  readonly from?: string;
  readonly key?: string;
  readonly check: boolean;
  readonly force: boolean;
}

/** `vis update`: tells what is new and replaces the executable. Ctrl-C leaves nothing behind. */
export async function updateCommand({ services, io, flags }: CommandInput<UpdateFlags>): Promise<number> {
  const { vis, compiled } = services.version;
  if (!compiled) {
    io.stdout(`This is vis ${vis}, run from source; vis update replaces only the executable. Use git pull here.\n`);
    return 0;
  }
  using interrupted = interrupt(io);
  const installed = await services.update({
    ...flags,
    onFound: (release) => io.stdout(visibleText(textOf(release, vis))),
    signal: interrupted.signal,
  });
  if (installed) io.stdout(visibleText(`Installed ${installed.path}; the previous one is kept as ${installed.kept}\n`));
  return 0;
}

function textOf({ version, age, changes }: FoundRelease, current: string): string {
  if (age === "same") return `vis ${current} is the newest version.\n`;
  if (age === "older") return `This is vis ${current}; the release is vis ${version}, which is older.\n`;
  return `This is vis ${current}; vis ${version} is new.\n${changes === "" ? "" : `\n${changes}\n\n`}`;
}
