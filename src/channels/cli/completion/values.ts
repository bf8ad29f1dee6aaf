import { oneLine } from "../../../domain/kit/text.ts";
import { BOT_LOGIN } from "../../../domain/settings.ts";
import type { Services } from "../../channel.ts";
import { browse } from "../conversations/browse.ts";
import type { Completions } from "./complete.ts";

type Item = Completions["items"][number];

/** The value to complete: the command by its words, and the name of its argument or flag. */
export interface Wanted {
  readonly command: string;
  readonly name: string;
  readonly operands: readonly string[];
  /** What was typed of it. */
  readonly start: string;
  /** The database and folder to read. */
  readonly flags: { readonly db?: string; readonly cwd?: string };
}

const NONE: Completions = { items: [], paths: "none" };
const LISTED = 50;
/** Services that do not answer within this time contribute no models. */
const WAIT_MS = 1_500;

const FOLDERS = ["--cwd", "--extension"];
const FILES = ["--context", "--image", "--schema", "--db", "--token-file", "--output", "file", "path", "from"];
const IDS = ["--conversation", "--fork", "id"];

/** Values from this machine: conversations, models, providers, configuration keys, variables, extensions. What cannot
 * be read yields no values. */
export async function completionValues(wanted: Wanted, services: Services): Promise<Completions> {
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
  if (command === "config set" && name === "value") return await choices(services, { key: operands[0] ?? "", start });
  if (name === "--no-extension" || command.startsWith("extensions ")) return await extensions(services, flags);
  if (name === "--history" || name === "--diff" || command === "vars") return await variables(services, flags);
  return [];
}

async function conversations(services: Services, flags: Wanted["flags"]): Promise<readonly Item[]> {
  const found = await browse({ services, flags }, ({ conversations }) => conversations.list({ limit: LISTED }));
  return found.map(({ conversationId, title }) => ({ value: conversationId, about: oneLine(title, 60) }));
}

/** Names as they are, and after their provider once that was typed, also of a provider that is not in use. */
async function models(services: Services, start: string): Promise<readonly Item[]> {
  const admin = await services.providerAdmin({});
  const list = (provider: string | null) => admin.models({ provider, signal: AbortSignal.timeout(WAIT_MS) });
  const used = await list(null).catch(() => []); // perhaps none is in use
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

/** Names that the command accepts: only a login takes the bot's token, and only saved keys can be deleted. */
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
