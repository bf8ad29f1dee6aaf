import type { Command } from "commander";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

export function addConfig(program: Command, context: Context): void {
  const group = program.command("config").description(
    "manage settings: list, get, set, unset, explain, path, schema, trust",
  )
    .addHelpText("after", EXAMPLES);
  const load = async () => await import("../commands/config.ts");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option("--json", "print as JSON", false);
  const project = ["--project", "use the workspace's .vis/config.jsonc, which may set only harmless keys"] as const;
  add("list", "list settings and where they were set")
    .option("--all", "include defaults", false)
    .action(action(context, async () => (await load()).listSettings));
  add("get", "print the value of a setting")
    .argument("<key>", "such as budget.iterations")
    .action(action(context, async () => (await load()).getSetting));
  add("explain", "explain a setting: its meaning, its value and every place that sets it")
    .argument("<key>", "such as budget.iterations")
    .action(action(context, async () => (await load()).explainSetting));
  add("set", "write a setting to the file; comments and order are preserved")
    .argument("<key>", "such as budget.iterations")
    .argument("<value...>", "text or JSON; several words make a list")
    .option(...project, false)
    .action(action(context, async () => (await load()).setSetting));
  add("unset", "remove a setting from the file")
    .argument("<key>", "such as budget.iterations")
    .option(...project, false)
    .action(action(context, async () => (await load()).unsetSetting));
  add("path", "print the path of the file")
    .option(...project, false)
    .action(action(context, async () => (await load()).showConfigPath));
  group.command("schema").description("print the JSON Schema of the files, for editors")
    .action(action(context, async () => (await load()).showConfigSchema));
  add("trust", "show the settings of the workspace's file that need your trust; with --yes, trust them")
    .option("-y, --yes", "trust the current content; a changed file must be trusted again", false)
    .option("--remove", "stop trusting the file", false)
    .action(action(context, async () => (await load()).trustConfig));
}

const EXAMPLES = `
Examples:
  vis config set budget.iterations 8
  vis config set extensions.deny com.acme.search
  vis config set --project model anthropic/claude-sonnet-5
  vis config explain model

Flags override the environment, which overrides the workspace's file, which
overrides the user's file. API keys do not belong in these files: vis auth login
saves them.`;
