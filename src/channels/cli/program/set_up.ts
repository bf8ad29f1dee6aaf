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
    .description(
      "list the providers of a request in their order, and then other providers with a key or an entry in the settings",
    )
    .option("--check", "check whether the listed providers respond", false)
    .addOption(output())
    .action(action(context, async () => (await import("../commands/auth.ts")).providersCommand));
  program.command("models")
    .description("list models with context size and price")
    .option("--provider <name>", "list only models of this provider (default: the providers that a request uses)")
    .option(
      "--refresh",
      "renew the data of models, such as prices, from the catalogue that modelCatalog names, instead of listing models",
      false,
    )
    .addOption(output())
    .action(action(context, async () => (await import("../commands/auth.ts")).modelsCommand));
  addAuth(program, context);
}

function addAuth(program: Command, context: Context): void {
  const auth = program.command("auth").description("manage API keys of providers: login, status, logout");
  const load = async () => await import("../commands/auth.ts");
  auth.command("login")
    .description(
      "save a key in $VIS_HOME/auth.json, unless the provider rejects the key; for github-copilot, log in with a browser",
    )
    .argument(
      "[provider]",
      "provider, such as anthropic, or telegram, or a name that ${auth:NAME} in the settings uses (default: choose from a list)",
    )
    .option("--key-stdin", "read the key from stdin instead of prompting for it", false)
    .option("--no-check", "save the key without asking the provider whether it is valid")
    .option(
      "--domain <domain>",
      "for github-copilot, the GitHub Enterprise domain, such as company.ghe.com",
      "github.com",
    )
    .action(action(context, async () => (await load()).authLogin));
  auth.command("status")
    .description(
      "show the source of each key, and the last four characters of a provider key with at least 16 characters",
    )
    .addOption(output())
    .action(action(context, async () => (await load()).authStatus));
  auth.command("logout")
    .description("delete a saved key; a key in the environment stays")
    .argument("<provider>", "name under which vis auth login saved the key")
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
  const project = ["--project", "use .vis/config.jsonc of the workspace instead of your own file"] as const;
  add("list", "list the settings that are set, each with the place that sets it")
    .option("--all", "also list the other settings with their defaults", false)
    .action(action(context, async () => (await load()).listSettings));
  add("get", "print the value of a setting")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .action(action(context, async () => (await load()).getSetting));
  add("explain", "explain a setting: its meaning, its type, its value and every place that sets it")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .action(action(context, async () => (await load()).explainSetting));
  add("set", "write a setting to your config.jsonc; the rest of the file is preserved")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .argument("<value...>", "value as text or JSON; for a list, a JSON list, or one word for each entry")
    .option(...project, false)
    .action(action(context, async () => (await load()).setSetting));
  add("unset", "remove a setting from your config.jsonc")
    .argument("<key>", "key of the setting, such as budget.iterations")
    .option(...project, false)
    .action(action(context, async () => (await load()).unsetSetting));
  add("path", "print the path of your config.jsonc")
    .option(...project, false)
    .action(action(context, async () => (await load()).showConfigPath));
  group.command("schema").description("print the JSON Schema of settings files, for editors")
    .action(action(context, async () => (await load()).showConfigSchema));
  add("trust", "show the settings in the workspace's file that need your trust; with --yes, trust the file")
    .option("-y, --yes", "trust the current content of the file; a change outside of vis config ends the trust", false)
    .addOption(new Option("--remove", "stop trusting the file").conflicts("yes").default(false))
    .action(action(context, async () => (await load()).trustConfig));
}

const CONFIG_EXAMPLES = `
Examples:
  vis config set budget.iterations 8
  vis config set extensions.deny com.acme.search
  vis config set --project model anthropic/claude-sonnet-5
  vis config explain model

Flags override --set, which overrides the environment. The environment overrides
the workspace's file, which overrides your own file. Vis adds the patterns of
secrets and the denials of the workspace's file to your own. Of context, this
file can only lower the limits. With --project, Vis writes only keys that need
no trust. Save API keys with vis auth login, not in these files.`;

function addExtensions(program: Command, context: Context): void {
  const group = program.command("extensions").description(
    "manage extensions: list, show, check, test, new, add, remove, trust",
  );
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.cwd)
      .option(...FLAGS.json);
  const load = async () => await import("../commands/extensions.ts");
  add(
    "list",
    "list the extensions that load in this workspace, and the other extensions with the reason why they do not load",
  )
    .addHelpText("after", LIST_MARKS)
    .action(action(context, async () => (await load()).listExtensions));
  add("show", "show an extension: its place, version, prompt, functions and settings")
    .argument("<name>", "namespace or alias of the extension")
    .action(action(context, async () => (await load()).showExtension));
  add(
    "check",
    "check the extensions of a folder, and run their nudges and the calls of checks.json; without a path, check whether all extensions load",
  )
    .argument("[path]", "folder with a vis.json (default: all extensions that load in this workspace)")
    .option("--watch", "check the folder again after each change of a file, until Ctrl-C; needs a path", false)
    .action(action(context, async () => (await load()).extensionsCheck));
  add("test", "run the tests of an extension's folder")
    .argument("[path]", "folder with a vis.json (default: current folder)")
    .action(action(context, async () => (await load()).extensionsTest));
  add("new", "create a folder with the files of a working extension")
    .argument(
      "<name>",
      "name of the extension and of the new folder: a lower-case letter, then at most 40 lower-case letters and digits",
    )
    .action(action(context, async () => (await load()).makeExtension));
  add("add", "copy an extension to $VIS_HOME/extensions")
    .argument("<from>", "a folder, a .tgz or .tar archive, or npm:NAME@VERSION (npm:NAME for the latest)")
    .option("--force", "replace an extension that is already there", false)
    .action(action(context, async () => (await load()).addExtension));
  add("remove", "delete an extension from $VIS_HOME/extensions")
    .argument("<name>", "namespace, its last part, or the name of the folder")
    .action(action(context, async () => (await load()).removeExtension));
  add("trust", "show the extensions in .vis of the workspace with their hashes; with --yes or --hash, trust them")
    .argument("[path]", "folder of an extension (default: all extensions in .vis of the workspace)")
    .option("-y, --yes", "trust the shown extensions in their current state", false)
    .option("--hash <sha256>", "trust only the extensions whose hash begins with these characters, at least 12")
    .addOption(new Option("--remove", "stop trusting the shown extensions").conflicts(["yes", "hash"]).default(false))
    .action(action(context, async () => (await load()).trustExtensions));
}

function addApprovals(program: Command, context: Context): void {
  const group = program.command("approvals").description("manage lasting approvals: list, remove");
  const add = (name: string, description: string, all: string): Command =>
    group.command(name).description(description)
      .option("--all", all, false)
      .option(...FLAGS.cwd)
      .option(...FLAGS.json);
  add(
    "list",
    "list lasting approvals: calls that Vis allows without asking again",
    "list the approvals for all workspaces, not only for this one",
  )
    .action(action(context, async () => (await import("../commands/config.ts")).listApprovals));
  add(
    "remove",
    "remove lasting approvals, so that Vis asks again before these calls",
    "without an id, remove the approvals for all workspaces",
  )
    .argument("[approval...]", "id of an approval for any workspace; a unique prefix is enough")
    .action(action(context, async () => (await import("../commands/config.ts")).removeApprovals));
}

const DAY_MS = 86_400_000;

function addDb(program: Command, context: Context): void {
  const group = program.command("db").description(
    "maintain the database: backup, restore, check, stats, prune, vacuum, copy; only copy works with PostgreSQL",
  );
  const load = async () => await import("../commands/db.ts");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option("--db <path>", "database file; PostgreSQL does not work here (env: VIS_DATABASE_URL, or else VIS_DB)")
      .option(...FLAGS.json);
  add("backup", "back up the database to a new file, even while requests run")
    .argument("<path>", "path of the new file, which must not exist")
    .action(action(context, async () => (await load()).dbBackup));
  add("restore", "restore a backup; Vis keeps the previous database file in the same folder")
    .argument("<path>", "backup written by vis db backup")
    .action(action(context, async () => (await load()).dbRestore));
  add("check", "verify the structure and the references of the database, and the stored hashes of its content")
    .action(action(context, async () => (await load()).dbCheck));
  add(
    "stats",
    "show the sizes of tables and content, the conversations with the most steps and variable versions, and the versions of schema, Vis and SQLite",
  )
    .action(action(context, async () => (await load()).dbStats));
  add(
    "prune",
    "delete conversations that had no activity for the given time, older log entries, and unused content",
  )
    .requiredOption(
      "--older-than <age>",
      "minimum time without activity, and minimum age of log entries, in hours, days or weeks, such as 12h, 30d or 6w",
      age,
    )
    .option(
      "-y, --yes",
      "confirm the deletion; without this option, Vis only lists the conversations and counts the log entries",
      false,
    )
    .action(action(context, async () => (await load()).dbPrune));
  add("vacuum", "return the space of deleted data to the disk")
    .action(action(context, async () => (await load()).dbVacuum));
  group.command("copy")
    .description(
      "copy a whole database to PostgreSQL or from it, and compare every row; the same command continues an interrupted copy",
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
    .option("--check", "show the version and the changes of the release; install nothing", false)
    .option(
      "--from <place>",
      "address (https) or folder with the files of a release (default: update.from, or else the address built into this executable)",
    )
    .option(
      "--key <key>",
      "minisign public key with which Vis verifies the release (default: update.publicKey, or else the key built into this executable)",
    )
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

const LIST_MARKS = `
✓ loaded, ○ off, ✗ not loaded. A loaded extension can be inactive, for example
without a repository or in your home folder. vis prompt shows the functions of
the active extensions.`;
