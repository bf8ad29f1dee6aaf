import { type Command, Option } from "commander";
import type { Context } from "./_context.ts";

/** `vis doctor`, `vis completions`, `vis version` and `vis help`. */
export function addHelp(program: Command, { services, io, finish }: Context): void {
  program.command("doctor")
    .description(
      "check this machine: walls of the sandbox (tried, not guessed), settings, database, providers, extensions",
    )
    .option("--db <path>", "database file (VIS_DB)")
    .option("--cwd <dir>", "workspace folder; the current one by default")
    .option("--json", "print the checks as JSON", false)
    .action(async (flags: { db?: string; cwd?: string; json: boolean }) => {
      const { doctorCommand } = await import("./doctor_command.ts");
      finish(await doctorCommand({ services, io, flags }));
    });
  program.command("version")
    .description("print the version of vis and of its runtime")
    .option("--json", "print it as JSON", false)
    .action((flags: { json: boolean }) => {
      io.stdout(flags.json ? `${JSON.stringify(services.version, null, 2)}\n` : `${program.version()}\n`);
    });
  program.command("help")
    .description("show the help of a command")
    .argument("[command...]", "its name, such as conversations list")
    .addOption(new Option("--man", "print the manual page of vis, for man -l -"))
    .action(async (words: string[], flags: { man?: boolean }) => {
      if (flags.man) {
        const { manPage } = await import("./man_page.ts");
        return io.stdout(manPage(program, services.version.vis));
      }
      words.reduce<Command>((at, word) => at.commands.find((one) => one.name() === word) ?? at, program).outputHelp();
    });
}
