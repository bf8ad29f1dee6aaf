import type { Command } from "commander";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";
import type { ConfigCommandFlags } from "../commands/config.ts";

type Action = (config: import("../commands/config.ts").ConfigCommand) => Promise<number>;

export function addConfig(program: Command, { services, io, finish }: Context): void {
  const group = program.command("config").description("settings: list, get, set, unset, explain, path, schema, trust")
    .addHelpText("after", EXAMPLES);
  const run = async (flags: ConfigCommandFlags, action: Action): Promise<void> => {
    const { ConfigCommand } = await import("../commands/config.ts");
    finish(await action(new ConfigCommand({ services, io, flags })));
  };
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option("--json", "print as JSON", false);
  const project = ["--project", "of the workspace: .vis/config.jsonc, which may set only harmless keys"] as const;
  add("list", "what is set, and by whom")
    .option("--all", "everything, also what has its default", false)
    .action((flags: ConfigCommandFlags & { all: boolean }) => run(flags, (config) => config.list(flags)));
  add("get", "the value of a setting, as it holds here")
    .argument("<key>", "such as budget.iterations")
    .action((key: string, flags: ConfigCommandFlags) => run(flags, (config) => config.get(key)));
  add("explain", "a setting: what it means, its value, and everybody who says something about it")
    .argument("<key>", "such as budget.iterations")
    .action((key: string, flags: ConfigCommandFlags) => run(flags, (config) => config.explain(key)));
  add("set", "write a setting into the file; comments and order stay as they are")
    .argument("<key>", "such as budget.iterations")
    .argument("<value...>", "text or JSON; a list may be given word by word")
    .option(...project, false)
    .action((key: string, words: string[], flags: ConfigCommandFlags & { project: boolean }) =>
      run(flags, (config) => config.set(key, { words, ...flags }))
    );
  add("unset", "take a setting out of the file")
    .argument("<key>", "such as budget.iterations")
    .option(...project, false)
    .action((key: string, flags: ConfigCommandFlags & { project: boolean }) =>
      run(flags, (config) => config.unset(key, flags))
    );
  add("path", "where the file is")
    .option(...project, false)
    .action((flags: ConfigCommandFlags & { project: boolean }) => run(flags, (config) => config.path(flags)));
  group.command("schema").description("the JSON Schema of the files, for editors")
    .action(() => run({ json: true }, (config) => config.schema()));
  add("trust", "show what the workspace's file says beyond the harmless keys; with --yes, let it")
    .option("-y, --yes", "trust the file as it is now; a changed one is not trusted", false)
    .option("--remove", "trust it no longer", false)
    .action((flags: ConfigCommandFlags & { yes: boolean; remove: boolean }) =>
      run(flags, (config) => config.trust(flags))
    );
}

const EXAMPLES = `
Examples:
  vis config set budget.iterations 8
  vis config set extensions.deny com.acme.search
  vis config set --project model anthropic/claude-sonnet-4-5
  vis config explain model

Flags win over the environment, which wins over the workspace's file, which wins
over the user's. Keys of providers have no place in these files: vis auth login
keeps them.`;
