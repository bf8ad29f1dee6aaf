import { BOT_LOGIN } from "../../../domain/reports/bot_login.ts";
import { oneLine } from "../../../domain/text/clip.ts";
import { Cancelled, ConfigError, UsageError } from "../../../domain/errors.ts";
import type { KeyReport } from "../../../domain/reports/provider_report.ts";
import type { Io, ProviderAdmin, Services } from "../../channel.ts";
import { interrupt } from "../input/interrupt.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";
import { printReport } from "../output/print_report.ts";

type Output = "text" | "json";

/** Refused keys before giving up. */
const TRIES = 3;

/** `vis auth login|status|logout`. Keys are never printed, and never taken from the command line, where others could
 * read them. */
export class AuthCommand {
  readonly #services: Services;
  readonly #io: Io;

  constructor({ services, io }: { readonly services: Services; readonly io: Io }) {
    this.#services = services;
    this.#io = io;
  }

  async login(
    provider: string | undefined,
    flags: { readonly keyStdin: boolean; readonly domain: string },
  ): Promise<number> {
    const admin = await this.#services.providerAdmin({});
    const name = provider ?? await this.#choose(admin);
    if (name === null) return 0;
    const kind = await admin.loginKind(name);
    if (kind === "device-login" && !flags.keyStdin) return await this.#deviceLogin(name, { admin, ...flags });
    const key = flags.keyStdin ? (await this.#io.readStdin()).trim() : await this.#askKey(name, admin);
    const path = await admin.saveKey(name, key);
    this.#io.stderr(`vis: saved the key of ${name} in ${visibleText(path)}\n`);
    if (!flags.keyStdin) await this.#sayNext(name, admin);
    return 0;
  }

  /** Null if nothing is left to do. */
  async #choose(admin: ProviderAdmin): Promise<string | null> {
    if (!this.#io.stdinIsTerminal || !this.#io.stderrIsTerminal) {
      throw new UsageError(`Cannot log in: specify a provider, one of ${admin.loginNames().join(", ")}`);
    }
    const { ANOTHER, chooseLogin } = await import("./choose_login.ts");
    const { name, need, start } = await chooseLogin([...await admin.loginChoices(), ANOTHER], this.#io);
    if (name === ANOTHER.name) return await this.#addServer(admin);
    if (start !== undefined) {
      throw new ConfigError(`Cannot use ${name}: it is not running; ${start}, then log in again`);
    }
    if (need !== "optional") return name;
    this.#io.stderr(`vis: ${name} needs no key\n`);
    await this.#sayNext(name, admin);
    return null;
  }

  async #addServer(admin: ProviderAdmin): Promise<null> {
    const { promptServer } = await import("./prompt_server.ts");
    const name = await promptServer(this.#io, admin);
    this.#io.stderr(`vis: added ${visibleText(name)}\n`);
    await this.#sayNext(name, await this.#services.providerAdmin({}));
    return null;
  }

  /** Prompts for a key until the service does not refuse it. */
  async #askKey(provider: string, admin: ProviderAdmin): Promise<string> {
    const page = admin.keyPage(provider);
    if (page !== "") this.#io.stderr(`Create a key at ${page}\n`);
    for (let time = 1;; time++) {
      const key = (await this.#io.askSecret(`Key of ${provider}: `)).trim();
      using interrupted = interrupt(this.#io);
      const trial = await admin.tryKey(provider, key, interrupted.signal);
      if (trial === null) return key;
      const { state, found } = trial;
      if (interrupted.signal.aborted) throw new Cancelled("Cancelled");
      const reply = visibleText(oneLine(found, 200));
      if (state === "works") this.#io.stderr(`vis: ${provider} accepted the key: ${reply}\n`);
      if (state === "unknown") this.#io.stderr(`vis: could not verify the key: ${reply}\n`);
      if (state !== "refused") return key;
      if (time === TRIES) throw new ConfigError(`Cannot save the key: ${provider} rejected it: ${reply}`);
      this.#io.stderr(`vis: ${provider} rejected the key: ${reply}\n`);
    }
  }

  async #sayNext(provider: string, admin: ProviderAdmin): Promise<void> {
    if (provider === BOT_LOGIN) return this.#io.stderr("vis: next: vis telegram\n");
    const { providers } = await admin.providers({ check: false, signal: new AbortController().signal });
    if (providers.length > 0 && !providers.some(({ name }) => name === provider)) return; // a token of the settings
    const first = providers.find(({ root }) => root)?.name ?? provider;
    const run = (flag: string): string => `vis run ${flag}"What is in this folder?"`;
    const next = first === provider
      ? run("")
      : `${
        run(`--provider ${provider} `)
      } (${first} is used by default; to change that: vis config set provider ${provider})`;
    this.#io.stderr(`vis: next: ${visibleText(next)}\n`);
  }

  async status(flags: { readonly output: Output }): Promise<number> {
    const admin = await this.#services.providerAdmin({});
    const keys = await admin.keys();
    const none = "No provider is configured and no key was found. Add one with: vis auth login";
    return printReport(keys, keys.length === 0 ? [none] : keys.map(line), { io: this.#io, flags });
  }

  async logout(provider: string): Promise<number> {
    const admin = await this.#services.providerAdmin({});
    const removed = await admin.logout(provider);
    this.#io.stderr(`vis: ${removed ? "deleted the saved key of" : "no key is saved for"} ${visibleText(provider)}\n`);
    const left = (await admin.keys()).find((key) => key.provider === provider && key.from !== "");
    if (left) this.#io.stderr(`vis: a key is still set in ${left.from}\n`);
    return 0;
  }

  async #deviceLogin(
    provider: string,
    { admin, domain }: { readonly admin: ProviderAdmin; readonly domain: string },
  ): Promise<number> {
    using interrupted = interrupt(this.#io);
    const path = await admin.deviceLogin(provider, {
      domain,
      signal: interrupted.signal,
      onCode: ({ userCode, verificationUri }) => {
        const text = `Open ${verificationUri} and enter the code ${userCode}`;
        this.#io.stderr(`${visibleText(text)}\nWaiting…\n`);
      },
    });
    this.#io.stderr(`vis: logged in to ${provider}; the login is saved in ${visibleText(path)}\n`);
    await this.#sayNext(provider, admin);
    return 0;
  }
}

function line({ provider, shown, from, need, fix }: KeyReport): string {
  const state = shown !== ""
    ? `${shown} from ${from}`
    : fix !== ""
    ? `missing: ${fix}`
    : need === "optional"
    ? from === "" ? "not needed" : `from ${from}`
    : "none";
  return `${provider.padEnd(18)} ${state}`;
}
