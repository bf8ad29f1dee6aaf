import pc from "picocolors";
import { Cancelled, ConfigError, UsageError } from "../../../domain/errors.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import { oneLine, someOf, visibleText } from "../../../domain/kit/text.ts";
import type {
  KeyReport,
  LoginChoice,
  ModelReport,
  ModelsReport,
  ProviderReport,
  RefreshReport,
} from "../../../domain/admin_reports.ts";
import { BOT_LOGIN, OTHER_SERVER, serverAddress } from "../../../domain/settings_section.ts";
import type { Io, ProviderAdmin } from "../../channel.ts";
import { interrupt, jsonText, printReport } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

const TRIES = 3;

type Place = Pick<CommandInput<unknown>, "services" | "io">;

/** Other processes could read an argument of the command line, so the key comes from a prompt or stdin. */
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
  const ask: AskService = check ? (key) => trialOf(name, key, { admin, io }) : () => Promise.resolve({ fault: "" });
  const { key, model } = keyStdin ? await pipedKey(name, { io, ask }) : await askKey(name, { admin, io, ask });
  const path = await admin.saveKey(name, key);
  io.stderr(`vis: saved the key of ${name} in ${visibleText(path)}\n`);
  const used = (await (await services.providerAdmin({})).keys()).find((one) => one.provider === name)?.from ?? "";
  if (used !== "" && used !== "auth.json") {
    io.stderr(
      `vis: ${used} is set, and Vis uses it instead of the saved key; unset the variable to use ${name} with this key\n`,
    );
  }
  await sayNext(name, { admin, services, io, model });
  return 0;
}

export async function authStatus(
  { services, io, flags }: CommandInput<{ readonly output: "text" | "json" }>,
): Promise<number> {
  const keys = await (await services.providerAdmin({})).keys();
  const none = "No provider is configured, and Vis found no key. Add a provider with: vis auth login";
  return printReport(keys, keys.length === 0 ? [none] : keys.map(line), { io, flags });
}

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

async function nameOf(
  given: string | undefined,
  { admin, services, io, keyStdin }: Login & { readonly keyStdin: boolean },
): Promise<string | null> {
  if (given === undefined) return await choose({ admin, services, io });
  if (given !== OTHER_SERVER.name || admin.loginNames().includes(given)) return given;
  if (keyStdin) throw new UsageError("Cannot add a server: --key-stdin reads only a key; leave out --key-stdin");
  if (!io.stdinIsTerminal || !io.stderrIsTerminal) {
    throw new UsageError("Cannot add a server: Vis has no terminal to ask for its address; set VIS_BASE_URL instead");
  }
  return await another({ admin, services, io });
}

async function another({ admin, services, io }: Login): Promise<null> {
  const added = await promptServer(io, admin);
  io.stderr(`vis: added ${visibleText(added)}\n`);
  await sayNext(added, { admin: await services.providerAdmin({}), services, io });
  return null;
}

async function choose({ admin, services, io }: Login): Promise<string | null> {
  if (!io.stdinIsTerminal || !io.stderrIsTerminal) {
    throw new UsageError(`Cannot log in: no provider is named; name one of ${admin.loginNames().join(", ")}`);
  }
  const { name, need, start } = await chooseLogin([...await admin.loginChoices(), OTHER_SERVER], io);
  if (name === OTHER_SERVER.name) return await another({ admin, services, io });
  if (start !== undefined) {
    throw new ConfigError(`Cannot use ${name}: Vis did not find the server; ${start}, then log in again`);
  }
  if (need !== "optional") return name;
  io.stderr(`vis: ${name} needs no key\n`);
  await sayNext(name, { admin, services, io });
  return null;
}

interface Named {
  readonly model?: string | undefined;
}

interface Trial extends Named {
  readonly fault: string;
}

type AskService = (key: string) => Promise<Trial>;

interface TriedKey extends Named {
  readonly key: string;
}

async function pipedKey(
  provider: string,
  { io, ask }: Pick<Login, "io"> & { readonly ask: AskService },
): Promise<TriedKey> {
  const key = (await io.readStdin()).trim();
  const { fault, model } = await ask(key);
  if (fault !== "") throw rejectedKey(provider, fault);
  return { key, model };
}

function rejectedKey(provider: string, fault: string): ConfigError {
  return new ConfigError(`Cannot save the key: ${provider} rejected it (${fault})`, {
    advice: "--no-check saves the key without asking the provider",
  });
}

async function askKey(
  provider: string,
  { admin, io, ask }: Pick<Login, "admin" | "io"> & { readonly ask: AskService },
): Promise<TriedKey> {
  const page = admin.keyPage(provider);
  if (page !== "") io.stderr(`Create a key at ${page}\n`);
  for (let time = 1;; time++) {
    const key = (await io.askSecret(`Key of ${provider}: `)).trim();
    const { fault, model } = await ask(key);
    if (fault === "") return { key, model };
    if (time === TRIES) throw rejectedKey(provider, fault);
    io.stderr(`vis: ${provider} rejected the key: ${fault}\n`);
  }
}

async function trialOf(provider: string, key: string, { admin, io }: Pick<Login, "admin" | "io">): Promise<Trial> {
  using interrupted = interrupt(io);
  const trial = await admin.tryKey(provider, key, interrupted.signal);
  if (interrupted.signal.aborted) throw new Cancelled("Cancelled");
  if (trial === null) return { fault: "" };
  const reply = visibleText(oneLine(trial.found, 200));
  if (trial.state === "works") io.stderr(`vis: ${provider} accepted the key: ${reply}\n`);
  if (trial.state === "unknown") io.stderr(`vis: Vis could not verify the key. ${reply}\n`);
  return { fault: trial.state === "refused" ? reply : "", model: trial.model };
}

async function sayNext(
  provider: string,
  { admin, services, io, model }: Login & Named,
): Promise<void> {
  if (provider === BOT_LOGIN) return io.stderr("vis: next: vis telegram\n");
  const reports = async (from: ProviderAdmin): Promise<readonly ProviderReport[]> =>
    (await from.providers({ check: false, signal: new AbortController().signal })).providers;
  const providers = await reports(admin);
  const own = providers.find(({ name }) => name === provider);
  if (providers.length > 0 && !own) return;
  const first = providers.find(({ root }) => root)?.name ?? provider;
  let asked = own;
  if (first !== provider) {
    asked = (await reports(await services.providerAdmin({ provider }))).find(({ name }) => name === provider);
    if (asked?.baseUrl !== own?.baseUrl) {
      return io.stderr(
        `vis: VIS_BASE_URL or baseUrl is set, so model calls go to ${
          visibleText(first)
        }; unset the address to use ${provider}\n`,
      );
    }
  }
  const flags = `${first === provider ? "" : `--provider ${provider} `}${
    model === undefined ? "" : `--model ${model} `
  }`;
  const used = model ?? asked?.model ?? null;
  const notes = [
    ...(used === null ? [] : [`the model is ${used}`]),
    ...(first === provider ? [] : [`${first} is used by default; to change that: vis config set provider ${provider}`]),
  ];
  const next = `vis run ${flags}"What is in this folder?"${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
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

export async function chooseLogin(choices: readonly LoginChoice[], io: Io): Promise<LoginChoice> {
  const width = Math.max(...choices.map(({ name }) => name.length));
  const lines = choices.map(({ name, title, need, start }, at) => {
    const key = start !== undefined || name === OTHER_SERVER.name
      ? ""
      : need === "optional"
      ? " (no key needed)"
      : need === "device-login"
      ? " (in the browser)"
      : "";
    return `${String(at + 1).padStart(3)}  ${name.padEnd(width)}  ${title}${key}`;
  });
  io.stderr(`Which provider do you want to use?\n\n${lines.map(visibleText).join("\n")}\n\n`);
  for (let time = 0; time < TRIES; time++) {
    const answer = (await io.askLine("Number or name (Ctrl-C to quit): ")).toLowerCase();
    const found = pick(answer, choices);
    if (found) return found;
    if (answer !== "") io.stderr(`vis: none or several providers have this number or name: ${visibleText(answer)}\n`);
  }
  throw new UsageError(
    `Cannot log in: none of ${TRIES} answers names one provider; name one of ${
      choices.map(({ name }) => name).join(", ")
    }`,
  );
}

function pick(answer: string, choices: readonly LoginChoice[]): LoginChoice | undefined {
  if (answer === "") return undefined;
  if (/^\d+$/.test(answer)) return choices[Number(answer) - 1];
  const begun = choices.filter(({ name }) => name.startsWith(answer));
  return choices.find(({ name }) => name === answer) ?? (begun.length === 1 ? begun[0] : undefined);
}

const LISTED = 12;

async function promptServer(io: Io, admin: ProviderAdmin): Promise<string> {
  const baseUrl = await address(io);
  for (let time = 1;; time++) {
    const key = (await io.askSecret("Key (Enter if it needs none): ")).trim();
    using interrupted = interrupt(io);
    const { models, problem, refused } = await admin.tryServer({ baseUrl, key }, interrupted.signal);
    if (refused && time === TRIES) {
      throw new ConfigError(
        `Cannot add the server ${baseUrl}: it needs a key, and ${TRIES} tries had no valid one; create a key there, and start again`,
      );
    }
    if (!refused) {
      if (problem !== "") io.stderr(`vis: Vis could not list the models. ${visibleText(oneLine(problem, 200))}\n`);
      return await admin.addServer({ baseUrl, key, model: await modelOf(models, io) });
    }
    io.stderr(`vis: ${key === "" ? "the server needs a key" : "the server rejected this key"}\n`);
  }
}

async function address(io: Io): Promise<string> {
  for (let time = 1;; time++) {
    const text = await io.askLine("Address, such as http://127.0.0.1:8080/v1: ");
    const found = serverAddress(text);
    if (found !== null) return found;
    if (time === TRIES) {
      throw new UsageError(
        `Cannot add the server ${oneLine(text, 200)}: its address is not an http or https URL; write one such as ` +
          "http://127.0.0.1:8080/v1",
      );
    }
    io.stderr("vis: an address starts with http:// or https://\n");
  }
}

async function modelOf(models: readonly string[], io: Io): Promise<string> {
  const [first = ""] = models;
  if (models.length === 1) return first;
  if (models.length > 0) {
    io.stderr(`It offers ${visibleText(someOf(models, LISTED))}\n`);
  }
  const told = first === "" ? "Model: " : `Model (Enter for ${visibleText(oneLine(first, 80))}): `;
  let kept = "";
  for (let time = 0; time < TRIES; time++) {
    const model = (await io.askLine(told)).trim() || first;
    if (model === "") continue;
    if (models.length === 0 || models.includes(model) || model === kept) return model;
    kept = model;
    const near = nearestName(model, models), question = near === null ? "." : `; did you mean ${near}?`;
    io.stderr(
      `vis: the server lists no ${visibleText(oneLine(`${model}${question}`, 200))} To keep it, write it again\n`,
    );
  }
  if (kept !== "") return kept;
  throw new UsageError(
    "Cannot add a server: the name of its model is empty; write the name of a model that the server has",
  );
}

export async function providersCommand(
  { services, io, flags }: CommandInput<{ readonly check: boolean; readonly output: "text" | "json" }>,
): Promise<number> {
  using interrupted = interrupt(io);
  const admin = await services.providerAdmin({});
  const report = await admin.providers({ check: flags.check, signal: interrupted.signal });
  if (flags.output === "json") io.stdout(jsonText(report, { indent: 2 }));
  else {
    for (const provider of report.providers) io.stdout(`${lines(provider, io)}\n`);
    for (const note of report.notes) io.stderr(`vis: ${visibleText(note)}\n`);
    if (report.problem !== "") io.stderr(`vis: ${visibleText(report.problem)}\n`);
  }
  if (report.problem !== "") return 3;
  return report.providers.some(({ reach }) => reach?.ok === false) ? 1 : 0;
}

function lines(provider: ProviderReport, io: Io): string {
  const color = pc.createColors(io.stdoutColor);
  const { name, baseUrl, model, root, protocol, key, reach } = provider;
  const facts = [
    `${protocol} · ${baseUrl}`,
    `key: ${keyText(key)}`,
    `model: ${model ?? "none set (Vis looks in the list of the service for a usable model; --model names one)"}`,
  ];
  if (reach !== null) facts.push(reach.ok ? `responds: ${reach.found}` : `check failed: ${reach.found}`);
  const head = `${root ? color.green("*") : " "} ${color.bold(visibleText(name))}`;
  return [head, ...facts.map((fact) => `    ${visibleText(fact)}`)].join("\n");
}

function keyText({ shown, from, need, fix }: KeyReport): string {
  if (shown !== "") return `${shown} from ${from}`;
  return fix === "" ? need === "optional" ? "not needed" : "none" : `missing (${fix})`;
}

export async function modelsCommand(
  { services, io, flags }: CommandInput<{
    readonly provider?: string | undefined;
    readonly refresh: boolean;
    readonly output: "text" | "json";
  }>,
): Promise<number> {
  using interrupted = interrupt(io);
  const admin = await services.providerAdmin({});
  if (flags.refresh) {
    if (flags.provider !== undefined) {
      throw new UsageError("Cannot refresh one provider: --refresh renews all providers; leave out --provider");
    }
    const report = await admin.refreshModels(interrupted.signal);
    return printReport(report, refreshed(report), { io, flags });
  }
  const lists = await admin.models({ provider: flags.provider ?? null, signal: interrupted.signal });
  printReport(lists, lists.map(table), { io, flags });
  return lists.every(({ models }) => models.length > 0) ? 0 : 1;
}

function refreshed({ from, date, providers, missing }: RefreshReport): readonly string[] {
  const counts = providers.map(({ name, models }) => `${name} ${models}`).join(", ");
  const kept = missing.length === 0
    ? []
    : [`The catalogue lacks ${missing.join(", ")}; Vis keeps its earlier data of these providers`];
  return [`Models of ${date} from ${from}: ${counts}`, ...kept];
}

const SOURCES: Readonly<Record<ModelsReport["source"], string>> = {
  service: "listed by the service",
  data: "from the data of Vis",
  config: "from the settings",
};

function table({ provider, source, detail, prices, models }: ModelsReport): string {
  const of = prices === undefined ? "" : `; prices of ${prices}`;
  const head = `${provider} (${SOURCES[source]}${detail === "" ? "" : `: ${detail}`}${of})`;
  if (models.length === 0) return `${head}\n  no models`;
  const width = Math.min(48, Math.max(...models.map(({ name }) => name.length)));
  return [head, ...models.map((model) => row(model, width))].join("\n");
}

function row(model: ModelReport, width: number): string {
  const { name, contextTokens, price, reasoning, images, known, root } = model;
  const facts = [
    (contextTokens === null ? "?" : `${Math.round(contextTokens / 1000)}k`).padStart(6),
    (price === null ? "price unknown" : `$${price.input} in, $${price.output} out`).padEnd(22),
    reasoning ? "reasons" : "       ",
    images ? "images" : "",
    known ? "" : "(unknown model)",
    price?.above ? `$${price.above.input} in, $${price.above.output} out above ${price.above.tokens / 1000}k` : "",
  ];
  return `${root ? "*" : " "} ${name.padEnd(width)} ${facts.join("  ")}`.trimEnd();
}
