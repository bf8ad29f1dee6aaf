import { Cancelled, ConfigError, UsageError } from "../../../domain/errors.ts";
import { oneLine, visibleText } from "../../../domain/kit/text.ts";
import type { KeyReport, ProviderReport } from "../../../domain/reports.ts";
import { BOT_LOGIN } from "../../../domain/settings.ts";
import type { ProviderAdmin } from "../../channel.ts";
import type { CommandInput } from "../input/command_input.ts";
import { interrupt } from "../input/interrupt.ts";
import { printReport } from "../output/print_report.ts";

/** Refused keys before giving up. */
const TRIES = 3;

type Place = Pick<CommandInput<unknown>, "services" | "io">;

/** `vis auth login`. Keys are never printed, and never taken from the command line, where others could read them. */
export async function authLogin(
  provider: string | undefined,
  { services, io, flags: { keyStdin, check, domain } }: CommandInput<{
    readonly keyStdin: boolean;
    readonly check: boolean;
    readonly domain: string;
  }>,
): Promise<number> {
  const admin = await services.providerAdmin({});
  const name = await nameOf(provider, { admin, services, io, keyStdin });
  if (name === null) return 0;
  const kind = await admin.loginKind(name);
  if (kind === "device-login" && !keyStdin) return await deviceLogin(name, { admin, services, domain, io });
  const ask = check ? (key: string) => refusalOf(name, key, { admin, io }) : () => Promise.resolve("");
  const key = keyStdin ? await pipedKey(name, { io, ask }) : await askKey(name, { admin, io, ask });
  const path = await admin.saveKey(name, key);
  io.stderr(`vis: saved the key of ${name} in ${visibleText(path)}\n`);
  const used = (await (await services.providerAdmin({})).keys()).find((one) => one.provider === name)?.from ?? "";
  if (used !== "" && used !== "auth.json") {
    io.stderr(`vis: ${used} is set, and is used instead of the saved key; unset it to use ${name} with this key\n`);
  }
  if (!keyStdin) await sayNext(name, { admin, services, io });
  return 0;
}

/** `vis auth status`. */
export async function authStatus(
  { services, io, flags }: CommandInput<{ readonly output: "text" | "json" }>,
): Promise<number> {
  const keys = await (await services.providerAdmin({})).keys();
  const none = "No provider is configured and no key was found. Add one with: vis auth login";
  return printReport(keys, keys.length === 0 ? [none] : keys.map(line), { io, flags });
}

/** `vis auth logout`. */
export async function authLogout(provider: string, { services, io }: Place): Promise<number> {
  const admin = await services.providerAdmin({});
  const removed = await admin.logout(provider);
  io.stderr(`vis: ${removed ? "deleted the saved key of" : "no key is saved for"} ${visibleText(provider)}\n`);
  const left = (await admin.keys()).find((key) => key.provider === provider && key.from !== "");
  if (left) io.stderr(`vis: a key is still set in ${left.from}\n`);
  return 0;
}

interface Login extends Place {
  readonly admin: ProviderAdmin;
}

/** The provider to log in to; null if nothing is left to do. */
async function nameOf(
  given: string | undefined,
  { admin, services, io, keyStdin }: Login & { readonly keyStdin: boolean },
): Promise<string | null> {
  if (given === undefined) return await choose({ admin, services, io });
  const { ANOTHER } = await import("./choose_login.ts");
  if (given !== ANOTHER.name || admin.loginNames().includes(given)) return given;
  if (keyStdin || !io.stdinIsTerminal || !io.stderrIsTerminal) {
    throw new UsageError("Cannot add a server: its address is asked on a terminal; without one, set VIS_BASE_URL");
  }
  return await another({ admin, services, io });
}

async function another({ admin, services, io }: Login): Promise<null> {
  const { promptServer } = await import("./prompt_server.ts");
  const added = await promptServer(io, admin);
  io.stderr(`vis: added ${visibleText(added)}\n`);
  await sayNext(added, { admin: await services.providerAdmin({}), services, io });
  return null;
}

/** Null if nothing is left to do. */
async function choose({ admin, services, io }: Login): Promise<string | null> {
  if (!io.stdinIsTerminal || !io.stderrIsTerminal) {
    throw new UsageError(`Cannot log in: specify a provider, one of ${admin.loginNames().join(", ")}`);
  }
  const { ANOTHER, chooseLogin } = await import("./choose_login.ts");
  const { name, need, start } = await chooseLogin([...await admin.loginChoices(), ANOTHER], io);
  if (name === ANOTHER.name) return await another({ admin, services, io });
  if (start !== undefined) {
    throw new ConfigError(`Cannot use ${name}: it is not running; ${start}, then log in again`);
  }
  if (need !== "optional") return name;
  io.stderr(`vis: ${name} needs no key\n`);
  await sayNext(name, { admin, services, io });
  return null;
}

/** What a service says against a key; "" if nothing. */
type AskService = (key: string) => Promise<string>;

/** A key from stdin. Throws `ConfigError` if the service refuses it. */
async function pipedKey(
  provider: string,
  { io, ask }: Pick<Login, "io"> & { readonly ask: AskService },
): Promise<string> {
  const key = (await io.readStdin()).trim();
  const fault = await ask(key);
  if (fault === "") return key;
  throw new ConfigError(`Cannot save the key: ${provider} rejected it: ${fault}`, {
    advice: "--no-check saves it without asking",
  });
}

/** Prompts for a key until the service does not refuse it. */
async function askKey(
  provider: string,
  { admin, io, ask }: Pick<Login, "admin" | "io"> & { readonly ask: AskService },
): Promise<string> {
  const page = admin.keyPage(provider);
  if (page !== "") io.stderr(`Create a key at ${page}\n`);
  for (let time = 1;; time++) {
    const key = (await io.askSecret(`Key of ${provider}: `)).trim();
    const fault = await ask(key);
    if (fault === "") return key;
    if (time === TRIES) throw new ConfigError(`Cannot save the key: ${provider} rejected it: ${fault}`);
    io.stderr(`vis: ${provider} rejected the key: ${fault}\n`);
  }
}

/** Tries a key. Resolves with why the service refuses it, and with "" if it does not; says if that is not known. */
async function refusalOf(provider: string, key: string, { admin, io }: Pick<Login, "admin" | "io">): Promise<string> {
  using interrupted = interrupt(io);
  const trial = await admin.tryKey(provider, key, interrupted.signal);
  if (interrupted.signal.aborted) throw new Cancelled("Cancelled");
  if (trial === null) return "";
  const reply = visibleText(oneLine(trial.found, 200));
  if (trial.state === "works") io.stderr(`vis: ${provider} accepted the key: ${reply}\n`);
  if (trial.state === "unknown") io.stderr(`vis: could not verify the key: ${reply}\n`);
  return trial.state === "refused" ? reply : "";
}

async function sayNext(provider: string, { admin, services, io }: Login): Promise<void> {
  if (provider === BOT_LOGIN) return io.stderr("vis: next: vis telegram\n");
  const reports = async (from: ProviderAdmin): Promise<readonly ProviderReport[]> =>
    (await from.providers({ check: false, signal: new AbortController().signal })).providers;
  const providers = await reports(admin);
  const own = providers.find(({ name }) => name === provider);
  if (providers.length > 0 && !own) return; // a token of the settings
  const first = providers.find(({ root }) => root)?.name ?? provider;
  if (first !== provider) {
    const named = (await reports(await services.providerAdmin({ provider }))).find(({ name }) => name === provider);
    if (named?.baseUrl !== own?.baseUrl) {
      return io.stderr(
        `vis: VIS_BASE_URL or baseUrl is set, so requests go to ${visibleText(first)}; unset it to use ${provider}\n`,
      );
    }
  }
  const run = (flag: string): string => `vis run ${flag}"What is in this folder?"`;
  const next = first === provider
    ? run("")
    : `${
      run(`--provider ${provider} `)
    } (${first} is used by default; to change that: vis config set provider ${provider})`;
  io.stderr(`vis: next: ${visibleText(next)}\n`);
}

async function deviceLogin(
  provider: string,
  { admin, services, domain, io }: Login & { readonly domain: string },
): Promise<number> {
  using interrupted = interrupt(io);
  const path = await admin.deviceLogin(provider, {
    domain,
    signal: interrupted.signal,
    onCode: ({ userCode, verificationUri }) => {
      const text = `Open ${verificationUri} and enter the code ${userCode}`;
      io.stderr(`${visibleText(text)}\nWaiting…\n`);
    },
  });
  io.stderr(`vis: logged in to ${provider}; the login is saved in ${visibleText(path)}\n`);
  await sayNext(provider, { admin, services, io });
  return 0;
}

function line({ provider, shown, from, address = "", need, fix }: KeyReport): string {
  const state = shown !== ""
    ? `${shown} from ${from}`
    : fix !== ""
    ? `missing: ${fix}`
    : need === "optional"
    ? from === "" ? "not needed" : `from ${from}`
    : "none";
  return `${provider.padEnd(18)} ${state}${address === "" ? "" : `; ${address}`}`;
}
