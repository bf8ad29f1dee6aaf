import { type Command, InvalidArgumentError, Option } from "commander";
import { action, type CommandGroup, type Context, FLAGS } from "./command.ts";

export const SET_UP: CommandGroup = {
  heading: "Set up:",
  parts: [
    { names: ["providers", "models", "auth"], add: addProviders },
    { names: ["config"], add: addConfig },
    { names: ["extensions"], add: addExtensions },
    { names: ["approvals"], add: addApprovals },
    { names: ["db"], add: addDb },
    { names: ["update", "upgrade"], add: addUpdate },
  ],
};

function addProviders(program: Command, context: Context): void {
  program.command("providers")
    .description("list the providers that a request uses, in their order, then other keys")
    .option("--check", "check whether each provider responds", false)
    .addOption(output())
    .action(action(context, async () => (await import("../commands/auth.ts")).providersCommand));
  program.command("models")
    .description("list models with context size and price, from the service if it responds")
    .option("--provider <name>", "list only models of this provider (default: the providers in use)")
    .option("--refresh", "renew prices and context sizes from the catalogue of the setting modelCatalog", false)
    .addOption(output())
    .action(action(context, async () => (await import("../commands/auth.ts")).modelsCommand));
  addAuth(program, context);
}

function addAuth(program: Command, context: Context): void {
  const auth = program.command("auth").description("manage API keys of providers: login, status, logout");
  const load = async () => await import("../commands/auth.ts");
  auth.command("login")
    .description("save a key in $VIS_HOME/auth.json, or log in with a browser (github-copilot)")
    .argument("[provider]", "provider, such as anthropic; chosen from a list if omitted")
    .option("--key-stdin", "read the key from stdin instead of prompting for it", false)
    .option("--no-check", "save the key without checking it with its provider")
    .option("--domain <domain>", "GitHub Enterprise domain, such as company.ghe.com", "github.com")
    .action(action(context, async () => (await load()).authLogin));
  auth.command("status")
    .description("show where each key was found; keys are masked")
    .addOption(output())
    .action(action(context, async () => (await load()).authStatus));
  auth.command("logout")
    .description("delete the saved key of a provider")
    .argument("<provider>", "provider name")
    .action(action(context, async () => (await load()).authLogout));
}

function output(): Option {
  return new Option("--output <format>", "output format of stdout").choices(["text", "json"]).default("text");
}

function addConfig(program: Command, context: Context): void {
  const group = program.command("config").description(
    "manage settings: list, get, set, unset, explain, path, schema, trust",
  )
    .addHelpText("after", CONFIG_EXAMPLES);
  const load = async () => await import("../commands/config.ts");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option(...FLAGS.json);
  const project = ["--project", "use the workspace's .vis/config.jsonc, which may set only harmless keys"] as const;
  add("list", "list settings and where they were set")
    .option("--all", "also list defaults", false)
    .action(action(context, async () => (await load()).listSettings));
  add("get", "print the value of a setting")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .action(action(context, async () => (await load()).getSetting));
  add("explain", "explain a setting: its meaning, its value and every place that sets it")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .action(action(context, async () => (await load()).explainSetting));
  add("set", "write a setting to the file; comments and order are preserved")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .argument("<value...>", "value as text or JSON; several words make a list")
    .option(...project, false)
    .action(action(context, async () => (await load()).setSetting));
  add("unset", "remove a setting from the file")
    .argument("<key>", "key of the setting, such as budget.iterations")
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

const CONFIG_EXAMPLES = `
Examples:
  vis config set budget.iterations 8
  vis config set extensions.deny com.acme.search
  vis config set --project model anthropic/claude-sonnet-5
  vis config explain model

Flags override the environment, which overrides the workspace's file, which
overrides the user's file. API keys do not belong in these files: vis auth login
saves them.`;

function addExtensions(program: Command, context: Context): void {
  const group = program.command("extensions").description(
    "manage extensions: list, show, check, test, new, add, remove, trust",
  );
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option(...FLAGS.json);
  const load = async () => await import("../commands/extensions.ts");
  add("list", "list the extensions that load in this workspace, and why others do not")
    .action(action(context, async () => (await load()).listExtensions));
  add("show", "show an extension: its source, and the prompt that the model reads")
    .argument("<name>", "namespace or alias")
    .action(action(context, async () => (await load()).showExtension));
  add(
    "check",
    "load the extensions of a folder, run their nudges and the calls of checks.json; without a path, load all extensions",
  )
    .argument("[path]", "folder with a vis.json")
    .option("--watch", "check the folder again after each change of a file", false)
    .action(action(context, async () => (await load()).extensionsCheck));
  add("test", "run the tests of an extension's folder")
    .argument("[path]", "folder with a vis.json (default: this one)")
    .action(action(context, async () => (await load()).extensionsTest));
  add("new", "create the files of a working extension")
    .argument("<name>", "lower-case name, also of the new folder")
    .action(action(context, async () => (await load()).makeExtension));
  add("add", "copy an extension to $VIS_HOME/extensions")
    .argument("<from>", "a folder, a .tgz or .tar archive, or npm:name@version")
    .option("--force", "replace an existing extension", false)
    .action(action(context, async () => (await load()).addExtension));
  add("remove", "delete an extension from $VIS_HOME/extensions")
    .argument("<name>", "namespace or folder name")
    .action(action(context, async () => (await load()).removeExtension));
  add("trust", "show the extensions of this project with their hashes; with --yes, trust them")
    .argument("[path]", "folder of an extension (default: all extensions of the project)")
    .option("-y, --yes", "trust the listed extensions", false)
    .option("--hash <sha256>", "trust only extensions with this hash; its first 12 characters are enough")
    .option("--remove", "stop trusting the extensions", false)
    .action(action(context, async () => (await load()).trustExtensions));
}

function addApprovals(program: Command, context: Context): void {
  const group = program.command("approvals").description("manage lasting approvals of this workspace: list, remove");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option("--all", "approvals for all workspaces", false)
      .option(...FLAGS.cwd)
      .option(...FLAGS.json);
  add("list", "list what extensions may do without asking again")
    .action(action(context, async () => (await import("../commands/config.ts")).listApprovals));
  add("remove", "remove lasting approvals, so that Vis asks again")
    .argument(
      "[approval...]",
      "id in the list; a unique prefix is enough. With --all and no id, Vis removes all approvals",
    )
    .action(action(context, async () => (await import("../commands/config.ts")).removeApprovals));
}

const DAY_MS = 86_400_000;

function addDb(program: Command, context: Context): void {
  const group = program.command("db").description(
    "database maintenance: backup, restore, check, stats, prune, vacuum, copy",
  );
  const load = async () => await import("../commands/db.ts");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option("--db <path>", "database file (VIS_DB)")
      .option(...FLAGS.json);
  add("backup", "back up the database to a new file, even while requests run")
    .argument("<path>", "path of the new file")
    .action(action(context, async () => (await load()).dbBackup));
  add("restore", "restore a backup; the previous database file is kept next to it")
    .argument("<path>", "backup written by vis db backup")
    .action(action(context, async () => (await load()).dbRestore));
  add("check", "verify the database: structure, references, hashes of all content")
    .action(action(context, async () => (await load()).dbCheck));
  add("stats", "show sizes of tables and content, the largest conversations, versions")
    .action(action(context, async () => (await load()).dbStats));
  add("prune", "delete conversations that have been inactive for a time, and content that only they use")
    .requiredOption("--older-than <age>", "minimum time without activity, such as 30d, 12h or 6w", age)
    .option("-y, --yes", "confirm the deletion; without this option, only list the conversations", false)
    .action(action(context, async () => (await load()).dbPrune));
  add("vacuum", "return the space of deleted data to the disk")
    .action(action(context, async () => (await load()).dbVacuum));
  group.command("copy")
    .description(
      "copy everything to a PostgreSQL database or from one, and compare every row; the same command continues an interrupted copy",
    )
    .argument("<from>", "source: a file, or postgres://user@host/name")
    .argument("<to>", "target: an empty PostgreSQL database, or a new file")
    .option(...FLAGS.json)
    .action(action(context, async () => (await import("../commands/db.ts")).copyDatabaseCommand));
}

const UNITS: Readonly<Record<string, number>> = { h: DAY_MS / 24, d: DAY_MS, w: 7 * DAY_MS };

function age(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([hdw])$/.exec(text.trim()) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? NaN);
  if (number === "" || !Number.isFinite(ms)) {
    throw new InvalidArgumentError("Write an age in hours, days or weeks, such as 12h, 30d or 6w");
  }
  return ms;
}

function addUpdate(program: Command, context: Context): void {
  program.command("update").alias("upgrade")
    .description("replace this executable with a newer release, after verifying its signature")
    .option("--check", "show the newest release and its changes; install nothing", false)
    .option("--from <place>", "address (https) or folder with the files of a release (update.from)")
    .option("--key <key>", "minisign public key to verify the release with (update.publicKey)")
    .option("--force", "install the release even if it is the same or an older version", false)
    .option(...FLAGS.json)
    .addHelpText("after", UPDATE_EXAMPLES)
    .action(action(context, async () => (await import("../commands/doctor.ts")).updateCommand));
}

const UPDATE_EXAMPLES = `
Examples:
  vis config set update.from https://example.org/vis/latest
  vis config set update.publicKey RWQ…
  vis update --check
  vis update

Vis never checks for updates on its own. Vis keeps the previous executable next
to the new one, with the suffix .old. If you run from source, use git pull.`;
