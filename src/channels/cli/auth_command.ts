import { UsageError } from "../../domain/errors.ts";
import type { KeyReport } from "../../domain/provider_report.ts";
import type { Io, ProviderAdmin, Services } from "../channel.ts";
import { terminalText } from "./terminal_text.ts";

type Output = "text" | "json";

/** `vis auth login|status|logout`. No key is printed, nor taken from the command line, where others could read it. */
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
    if (provider === undefined) {
      throw new UsageError(`Cannot log in: name the provider, one of ${admin.loginNames().join(", ")}`);
    }
    const kind = await admin.loginKind(provider);
    if (kind === "device-login" && !flags.keyStdin) return await this.#deviceLogin(provider, { admin, ...flags });
    const key = flags.keyStdin ? await this.#io.readStdin() : await this.#io.askSecret(`Key of ${provider}: `);
    const path = await admin.saveKey(provider, key.trim());
    this.#io.stderr(`vis: the key of ${provider} is kept in ${terminalText(path)}\n`);
    return 0;
  }

  async status(flags: { readonly output: Output }): Promise<number> {
    const admin = await this.#services.providerAdmin({});
    const keys = await admin.keys();
    if (flags.output === "json") this.#io.stdout(`${JSON.stringify(keys, null, 2)}\n`);
    else if (keys.length === 0) this.#io.stdout("No provider is configured and no key was found: vis auth login\n");
    else for (const key of keys) this.#io.stdout(`${terminalText(line(key))}\n`);
    return 0;
  }

  async logout(provider: string): Promise<number> {
    const admin = await this.#services.providerAdmin({});
    const removed = await admin.logout(provider);
    this.#io.stderr(`vis: ${removed ? "removed the key of" : "no key was kept for"} ${terminalText(provider)}\n`);
    const left = (await admin.keys()).find((key) => key.provider === provider && key.from !== "");
    if (left) this.#io.stderr(`vis: ${left.from} still has one\n`);
    return 0;
  }

  async #deviceLogin(
    provider: string,
    { admin, domain }: { readonly admin: ProviderAdmin; readonly domain: string },
  ): Promise<number> {
    const abort = new AbortController();
    const stop = this.#io.onInterrupt(() => abort.abort());
    try {
      const path = await admin.deviceLogin(provider, {
        domain,
        signal: abort.signal,
        onCode: ({ userCode, verificationUri }) => {
          const text = `Open ${verificationUri} and enter the code ${userCode}`;
          this.#io.stderr(`${terminalText(text)}\nWaiting…\n`);
        },
      });
      this.#io.stderr(`vis: logged in; the login of ${provider} is kept in ${terminalText(path)}\n`);
      return 0;
    } finally {
      stop();
    }
  }
}

function line({ provider, shown, from, need, mend }: KeyReport): string {
  const state = shown !== ""
    ? `${shown} from ${from}`
    : mend !== ""
    ? `missing: ${mend}`
    : need === "optional"
    ? from === "" ? "none needed" : `from ${from}`
    : "none";
  return `${provider.padEnd(18)} ${state}`;
}
