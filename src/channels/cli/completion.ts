import type { Argument, Command, Option } from "commander";
import { oneLine } from "../../domain/kit/text.ts";
import type { ExtensionCommandFacts } from "../../domain/admin_reports.ts";
import { BOT_LOGIN } from "../../domain/settings_section.ts";
import type { Services } from "../channel.ts";
import { browse } from "./program/command.ts";

interface Completion {
  readonly value: string;
  readonly about: string;
}

interface Completions {
  readonly items: readonly Completion[];
  readonly paths: "files" | "folders" | "none";
}

interface Spot {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly option: Option | null;
  readonly plain: boolean;
  readonly flags: { readonly db?: string; readonly cwd?: string };
}

/** Completes the last of `words`, which may be an empty string. Returns no candidates if a service fails, because an
 * error would disturb the command line of the user. */
export async function complete(
  words: readonly string[],
  { program, services }: { readonly program: Command; readonly services: Services },
): Promise<Completions> {
  const last = words.at(-1) ?? "";
  const spot = spotOf(words.slice(0, -1), program);
  const inline = spot.option || spot.plain ? null : /^(--[a-z-]+)=(.*)$/s.exec(last);
  const option = inline ? optionOf(spot.command, inline[1] ?? "") : spot.option;
  if (option) {
    const found = await valuesOf(option, { spot, services, start: inline?.[2] ?? last });
    const prefix = inline ? `${inline[1]}=` : "";
    const items = found.items.map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
    return { ...found, items: fitting(items, last) };
  }
  const added = spot.command === program || spot.command.name() === "help" ? await addedCommands(services) : [];
  const [named] = spot.command === program ? spot.operands : [];
  if (named !== undefined) {
    return last.startsWith("-")
      ? { items: fitting(flagsOfAdded(named, added), last), paths: "none" }
      : { items: [], paths: "files" };
  }
  if (last.startsWith("-") && !spot.plain) return { items: fitting(flagsOf(spot.command), last), paths: "none" };
  if (spot.command.name() === "help" && spot.command.parent === program) {
    const at = spot.operands.reduce((from, word) => from.commands.find((one) => one.name() === word) ?? from, program);
    const more = at === program ? added : [];
    return { items: fitting([...commandsOf(at), ...more.map(asItem)], last), paths: "none" };
  }
  const below = spot.operands.length === 0 ? [...commandsOf(spot.command), ...added.map(asItem)] : [];
  if (below.length > 0) return { items: fitting(below, last), paths: "none" };
  const { registeredArguments } = spot.command;
  const argument = registeredArguments[spot.operands.length] ??
    registeredArguments.findLast(({ variadic }) => variadic);
  if (!argument) return { items: [], paths: "none" };
  const found = await valuesOf(argument, { spot, services, start: last });
  return { ...found, items: fitting(found.items, last) };
}

async function addedCommands(services: Services): Promise<readonly ExtensionCommandFacts[]> {
  try {
    return await (await services.extensionAdmin({})).commands();
  } catch {
    return [];
  }
}

function asItem({ name, doc }: ExtensionCommandFacts): Completion {
  return { value: name, about: doc };
}

function flagsOfAdded(name: string, added: readonly ExtensionCommandFacts[]): Completion[] {
  const flags = added.find((one) => one.name === name)?.flags ?? [];
  return flags.map(({ flag, kind }) => ({ value: flag, about: kind === "boolean" ? "" : `a ${kind}` }));
}

function spotOf(words: readonly string[], program: Command): Spot {
  let command = program, option: Option | null = null, plain = false;
  let operands: string[] = [];
  const told = new Map<string, string>();
  for (const word of words) {
    if (option) {
      told.set(option.long ?? "", word);
      option = null;
    } else if (plain || !word.startsWith("-") || word === "-") {
      const next: Command | undefined = plain || operands.length > 0
        ? undefined
        : command.commands.find((one) => one.name() === word);
      [command, operands] = next ? [next, []] : [command, [...operands, word]];
    } else if (word === "--") plain = true;
    else option = word.includes("=") ? null : takesValue(optionOf(command, word));
  }
  const db = told.get("--db"), cwd = told.get("--cwd");
  const flags = { ...db === undefined ? {} : { db }, ...cwd === undefined ? {} : { cwd } };
  return { command, operands, option, plain, flags };
}

function optionOf(command: Command, flag: string): Option | null {
  return command.options.find(({ long, short }) => long === flag || short === flag) ?? null;
}

function takesValue(option: Option | null): Option | null {
  return option?.required || option?.optional ? option : null;
}

async function valuesOf(
  of: Option | Argument,
  { spot, services, start }: { readonly spot: Spot; readonly services: Services; readonly start: string },
): Promise<Completions> {
  if (of.argChoices) return { items: of.argChoices.map((value) => ({ value, about: "" })), paths: "none" };
  const { command, operands, flags } = spot;
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  const name = "long" in of ? of.long ?? "" : of.name();
  return await completionValues({ command: names.join(" "), name, operands, flags, start }, services);
}

function flagsOf(command: Command): Completion[] {
  const shown = command.createHelp().visibleOptions(command);
  return shown.flatMap(({ long, short, description }) => {
    const value = long ?? short;
    return value === undefined ? [] : [{ value, about: description }];
  });
}

function commandsOf(command: Command): Completion[] {
  if (command.commands.length === 0) return [];
  return command.createHelp().visibleCommands(command).map((one) => ({ value: one.name(), about: one.description() }));
}

function fitting(items: readonly Completion[], start: string): readonly Completion[] {
  const seen = new Set<string>();
  return items.filter(({ value }) => value.startsWith(start) && !seen.has(value) && seen.add(value));
}

type Item = Completions["items"][number];

interface Wanted {
  readonly command: string;
  readonly name: string;
  readonly operands: readonly string[];
  readonly start: string;
  readonly flags: { readonly db?: string; readonly cwd?: string };
}

const NONE: Completions = { items: [], paths: "none" };
const LISTED = 50;

const WAIT_MS = 1_500;

const FOLDERS = ["--cwd", "--extension"];
const FILES = ["--context", "--image", "--schema", "--db", "--token-file", "--output", "file", "path", "from"];
const IDS = ["--conversation", "--fork", "id"];

async function completionValues(wanted: Wanted, services: Services): Promise<Completions> {
  const { name } = wanted;
  if (FOLDERS.includes(name)) return { items: [], paths: "folders" };
  if (FILES.includes(name)) return { items: [], paths: "files" };
  try {
    return { items: await listed(wanted, services), paths: "none" };
  } catch {
    return NONE;
  }
}

async function listed({ command, name, operands, flags, start }: Wanted, services: Services): Promise<readonly Item[]> {
  if (IDS.includes(name)) return await conversations(services, flags);
  if (name === "--model") return await models(services, start);
  if (name === "--provider" || name === "provider") return await providers(services, command);
  if (command.startsWith("config ") && name === "key") return await settings(services);
  if (name === "--set") return await runSettings(services, start);
  if (command === "config set" && name === "value") return await choices(services, { key: operands[0] ?? "", start });
  if (name === "--no-extension" || command.startsWith("extensions ")) return await extensions(services, flags);
  if (name === "--history" || name === "--diff" || command === "vars") return await variables(services, flags);
  return [];
}

async function conversations(services: Services, flags: Wanted["flags"]): Promise<readonly Item[]> {
  const found = await browse({ services, flags }, ({ conversations }) => conversations.list({ limit: LISTED }));
  return found.map(({ conversationId, title }) => ({ value: conversationId, about: oneLine(title, 60) }));
}

async function models(services: Services, start: string): Promise<readonly Item[]> {
  const admin = await services.providerAdmin({});
  const list = (provider: string | null) => admin.models({ provider, signal: AbortSignal.timeout(WAIT_MS) });
  const used = await list(null).catch(() => []); // This call rejects if the user has no provider.
  const [prefix = "", ...rest] = start.split("/");
  const isOther = rest.length > 0 && !used.some(({ provider }) => provider === prefix);
  const lists = isOther ? [...used, ...await list(prefix).catch(() => [])] : used;
  return lists.flatMap(({ provider, models }) => {
    const isNamed = start !== "" && (`${provider}/`.startsWith(start) || start.startsWith(`${provider}/`));
    return models.flatMap(({ name }) => [
      { value: name, about: provider },
      ...(isNamed ? [{ value: `${provider}/${name}`, about: provider }] : []),
    ]);
  });
}

async function providers(services: Services, command: string): Promise<readonly Item[]> {
  const admin = await services.providerAdmin({});
  if (command === "auth login") return admin.loginNames().map((value) => ({ value, about: "" }));
  if (command === "auth logout") {
    const keys = await admin.keys();
    return keys.filter(({ from }) => from === "auth.json").map(({ provider, title }) => ({
      value: provider,
      about: title,
    }));
  }
  const { providers } = await admin.providers({ check: false, signal: AbortSignal.timeout(WAIT_MS) });
  const choices = (await admin.loginChoices()).filter(({ name }) => name !== BOT_LOGIN);
  const others = [...choices, { name: "demo", title: "no model" }, { name: "files", title: "no model" }]
    .filter(({ name }) => !providers.some((one) => one.name === name));
  return [...providers, ...others].map(({ name, title }) => ({ value: name, about: title }));
}

async function settings(services: Services): Promise<readonly Item[]> {
  return (await (await services.configAdmin({})).keys()).map(({ key, doc }) => ({ value: key, about: doc }));
}

async function runSettings(services: Services, start: string): Promise<readonly Item[]> {
  const [key = "", ...rest] = start.split("=");
  if (rest.length === 0) return (await settings(services)).map(({ value, about }) => ({ value: `${value}=`, about }));
  const found = await choices(services, { key, start: rest.join("=") });
  return found.map(({ value, about }) => ({ value: `${key}=${value}`, about }));
}

async function choices(
  services: Services,
  { key, start }: { readonly key: string; readonly start: string },
): Promise<readonly Item[]> {
  const found = (await (await services.configAdmin({})).keys()).find((one) => one.key === key);
  if (key === "model") return await models(services, start);
  return found?.choices.map((value) => ({ value: String(value), about: "" })) ?? [];
}

async function extensions(services: Services, { cwd }: Wanted["flags"]): Promise<readonly Item[]> {
  return (await (await services.extensionAdmin({ cwd })).list()).map(({ name, doc }) => ({ value: name, about: doc }));
}

async function variables(services: Services, flags: Wanted["flags"]): Promise<readonly Item[]> {
  return await browse({ services, flags }, async ({ conversations, workspace }) => {
    const branch = await conversations.latest(workspace);
    const heads = branch ? await conversations.stored.variables(branch.branchId) : [];
    return heads.map(({ name }) => ({ value: name, about: "" }));
  });
}

export type Shell = "bash" | "zsh" | "fish";

/** The script calls `vis __complete -- WORD…`, whose first line of output is :none, :files or :folders. Each further
 * line is a candidate, a tab and its description. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

const BASH = `# Completion of vis for bash: source <(vis completions bash)
_vis() {
  local word whole cut paths line i
  local -a words=() lines=()
  # Bash takes words apart at = and :, which names of models have.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((\${#words[@]} > 0)) && [[ $word == [:=]* || \${COMP_WORDS[i - 1]} == [:=] ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  whole=\${words[\${#words[@]} - 1]}
  cut=\${whole%"\${whole##*[:=]}"}
  while IFS= read -r line; do lines+=("$line"); done < <("$1" __complete -- "\${words[@]}" 2>/dev/null)
  paths=\${lines[0]:-:none}
  COMPREPLY=()
  for line in "\${lines[@]:1}"; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$cut"}")
  done
  if [[ $paths == :none ]]; then return; fi
  compopt -o filenames 2>/dev/null
  word=\${whole#"$cut"}
  local kind=-f
  if [[ $paths == :folders ]]; then kind=-d; fi
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$word")
}
complete -F _vis vis
`;

const ZSH = `#compdef vis
# Completion of vis for zsh: source <(vis completions zsh), or a file _vis in a folder of $fpath
_vis() {
  local paths line
  local -a lines described
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  paths=\${lines[1]:-:none}
  for line in "\${(@)lines[2,-1]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#described} )); then _describe -V 'vis' described; fi
  case $paths in
    :files) _files ;;
    :folders) _files -/ ;;
  esac
}
if [[ "\${funcstack[1]}" == _vis ]]; then _vis "$@"; else compdef _vis vis; fi
`;

const FISH = `# Completion of vis for fish: vis completions fish | source
function __vis_complete
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    set -l lines ($before[1] __complete -- $before[2..-1] "$last" 2>/dev/null)
    for line in $lines[2..-1]
        echo $line
    end
    switch "$lines[1]"
        case :files
            __fish_complete_path "$last"
        case :folders
            __fish_complete_directories "$last" ''
    end
end
complete -c vis -f -a '(__vis_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
