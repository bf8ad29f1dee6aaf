import { fuzzyFilter, matchesKey, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { messageOf } from "../../../domain/errors.ts";
import { abortable } from "../../../domain/kit/concurrency.ts";
import { nearestName } from "../../../domain/kit/names.ts";
import type { LoginChoice, ModelReport, ModelsReport } from "../../../domain/admin_reports.ts";
import { BOT_LOGIN, OTHER_SERVER } from "../../../domain/settings_section.ts";
import type { ProviderAdmin } from "../../channel.ts";
import { flat, paint } from "../text/one_line.ts";
import { LoginPanel, ServerPanel } from "./login_panel.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { filterInput, type LineInput, List, movement, row } from "./widgets.ts";

function modelFacts({ contextTokens, price, reasoning, images, known }: ModelReport): readonly string[] {
  return [
    price === null
      ? "price unknown"
      : price.input === 0 && price.output === 0
      ? "free"
      : `$${price.input} / $${price.output}`,
    contextTokens === null ? "" : `${Math.round(contextTokens / 1000)}k`,
    [...reasoning ? ["reasons"] : [], ...images ? ["images"] : []].join(", "),
    known ? "" : "unknown model",
  ];
}

const DEADLINE_MS = 8_000;

interface Listed {
  readonly name: string;
  readonly model: string | null;
  readonly fix: string;
}

type Item =
  | { readonly kind: "provider"; readonly name: string; readonly told: string }
  | { readonly kind: "model"; readonly provider: string; readonly model: ModelReport }
  | { readonly kind: "typed"; readonly provider: string; readonly name: string }
  | { readonly kind: "login"; readonly choice: LoginChoice }
  | { readonly kind: "demo" };

export class ModelPicker extends BasePanel {
  readonly title = "Model";
  readonly hint = "type to find · ↑↓ · Enter uses · Esc";
  readonly #deadlineMs: number;
  #providers: readonly Listed[] = [];
  #notes: readonly string[] = [];
  #logins: readonly LoginChoice[] = [];
  readonly #lists = new Map<string, ModelsReport | { readonly problem: string }>();
  #input: LineInput;
  readonly #list = new List<Item>({
    key: keyOf,
    draw: (item, place) => this.#drawn(item, place),
    heading: ({ kind }) => kind === "provider",
  });
  readonly #provider: string | undefined;
  #untouched = true;
  #request = "";

  constructor(
    parts: PanelParts,
    { deadlineMs = DEADLINE_MS, typed }: {
      readonly deadlineMs?: number;
      readonly typed?: { readonly provider: string; readonly name: string };
    } = {},
  ) {
    super(parts);
    this.#deadlineMs = deadlineMs;
    this.#provider = typed?.provider;
    this.#input = filterInput(PLACEHOLDER, typed?.name);
    this.load("providers", {
      work: async (signal) => {
        const admin = await parts.providers();
        return { admin, report: await admin.providers({ check: false, signal }) };
      },
      then: ({ admin, report: { providers, problem, notes } }) => {
        const listed = providers.map(({ name, model, key: { fix } }) => ({ name, model, fix }));
        this.#providers = [...listed.filter(({ fix }) => fix === ""), ...listed.filter(({ fix }) => fix !== "")];
        this.#notes = [...problem === "" ? [] : [problem], ...notes];
        this.#offer(admin.loginNames().map((name) => ({ name, title: "", need: "required" })));
        for (const { name, fix } of this.#providers) if (fix === "") this.#ask(name, admin);
        this.#fill();
        this.#look(admin);
      },
    });
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    const none = this.#providers.length === 0
      ? "no provider is configured: choose one to log in to, or the demo"
      : this.#notes[0] ?? "";
    const below = this.below(flat(none), { empty: this.#list.items.length === 0 });
    return [...this.#input.render(width), ...this.#list.render(width, height - 1 - below.length), ...below];
  }

  protected override key(data: string): void {
    const moved = movement(data);
    if (moved !== null) {
      this.#untouched = false;
      this.#list.move(moved);
    } else if (matchesKey(data, "enter")) this.#use();
    else if (this.#input.handle(data)) this.#fill();
  }

  protected override click(line: number): void {
    this.#untouched = false;
    if (this.#list.press(line - 1)) this.#use();
  }

  #look(admin: ProviderAdmin): void {
    this.load("servers on this machine", {
      work: () => admin.loginChoices(),
      then: (choices) => {
        const found = choices.filter((choice) => isServer(choice) && !this.#has(choice.name));
        this.#providers = [...this.#providers, ...found.map(({ name }) => ({ name, model: null, fix: "" }))];
        this.#offer(choices);
        for (const { name } of found) this.#ask(name, admin);
        this.#fill();
      },
    });
  }

  #has(provider: string): boolean {
    return this.#providers.some(({ name }) => name === provider);
  }

  #offer(choices: readonly LoginChoice[]): void {
    const isReady = (provider: string): boolean =>
      this.#providers.some(({ name, fix }) => name === provider && fix === "");
    this.#logins = choices.filter(({ name }) => name !== BOT_LOGIN && !isReady(name));
  }

  #ask(provider: string, admin: ProviderAdmin): void {
    this.load(`models of ${provider}`, {
      work: async (signal) => {
        const late = AbortSignal.timeout(this.#deadlineMs);
        try {
          return (await abortable(admin.models({ provider, signal: AbortSignal.any([signal, late]) }), late))[0];
        } catch (error) {
          if (late.aborted) return { problem: `it did not answer within ${this.#deadlineMs / 1000} s` };
          return { problem: messageOf(error) };
        }
      },
      then: (report) => {
        this.#lists.set(provider, report ?? { problem: "no models" });
        this.#fill();
      },
    });
  }

  #fill(): void {
    const typed = this.#input.value.trim();
    const items = this.#providers.flatMap(({ name, fix }): Item[] => {
      const list = this.#lists.get(name);
      const models = list !== undefined && "models" in list ? list.models : [];
      const found = fuzzyFilter([...models], typed, (model) => `${name} ${model.name}`);
      if (typed !== "" && found.length === 0) return [];
      const told = fix !== "" ? `no key: ${fix}` : list === undefined ? "…" : toldOf(list);
      return [
        { kind: "provider", name, told },
        ...found.map((model): Item => ({ kind: "model", provider: name, model })),
      ];
    });
    const present = this.#present;
    const names = [...this.#lists.values()].flatMap((list) => "models" in list ? list.models : []).map((one) =>
      one.name
    );
    const provider = this.#provider ?? present.provider;
    const isNamed = typed !== "" && !names.includes(typed) && provider !== "" && !this.#isSentence(typed);
    const own: readonly Item[] = isNamed ? [{ kind: "typed", provider, name: typed }] : [];
    const rank = ({ name }: LoginChoice): number =>
      name === typed ? 0 : fuzzyFilter([name], typed, String).length > 0 ? 1 : 2;
    const logins = [
      ...fuzzyFilter([...this.#logins], typed, ({ name, title }) => `${name} ${title}`),
      ...isOtherServer(typed) ? [OTHER_SERVER] : [],
    ].toSorted((one, other) => rank(one) - rank(other));
    const others: readonly Item[] = logins.length === 0 ? [] : [
      { kind: "provider", name: "Log in", told: "Enter asks for the key" },
      ...logins.map((choice) => ({ kind: "login", choice } as const)),
    ];
    const isNew = present.model === "" && "demo".includes(typed.toLowerCase());
    const demo: readonly Item[] = isNew
      ? [{ kind: "provider", name: "Without a model", told: "to see Vis work first" }, { kind: "demo" }]
      : [];
    const isMissing = typed !== "" && !items.some(({ kind }) => kind === "model");
    const isRequest = present.model === "" && [...demo, ...others, ...own].length === 0;
    const near = isMissing ? nearestName(typed, names) : null, like = near === null ? "" : `did you mean ${near}?`;
    const told = isRequest && (this.#waitsFor === "" || this.#isSentence(typed)) ? AS_REQUEST : this.#waitsFor || like;
    const missing: readonly Item[] = isMissing
      ? [{ kind: "provider", name: `No listed model matches “${flat(typed, 60)}”`, told }]
      : [];
    this.#request = told === AS_REQUEST && isMissing ? typed : "";
    const listed = logins[0]?.name === typed ? [...others, ...items, ...demo] : [...items, ...demo, ...others];
    this.#list.set([...listed, ...missing, ...own], { from: typed === "" ? "kept" : "first" });
    if (this.#untouched && typed === "") this.#list.select(this.#proposed);
  }

  /** If a model is ready, Enter must not ask for another key. */
  get #proposed(): string {
    const models = this.#list.items.filter((item) => item.kind === "model");
    const keys = new Set(models.map(keyOf));
    const { provider, model } = this.#present;
    const defaults = this.#providers.map(({ name, model }) => `${name}/${model}`);
    const first = models.find(({ model: { known } }) => known) ?? models[0];
    return [`${provider}/${model}`, ...defaults].find((key) => keys.has(key)) ?? (first ? keyOf(first) : "");
  }

  get #waitsFor(): string {
    const waits = this.#providers.filter(({ name, fix }) => fix === "" && !this.#lists.has(name)).map(({ name }) =>
      name
    );
    return waits.length === 0 ? "" : `the list of ${waits.join(", ")} has not arrived yet`;
  }

  /** Without a model, a user may type the first request here. */
  #isSentence(typed: string): boolean {
    return this.#present.model === "" && /\s/.test(typed);
  }

  get #present(): { readonly provider: string; readonly model: string } {
    const { provider, model } = this.parts.session();
    return { provider, model };
  }

  #drawn(item: Item, place: { readonly width: number; readonly selected: boolean }): readonly string[] {
    if (item.kind === "provider") return headed(flat(item.name, 60), { told: flat(item.told), ...place });
    if (item.kind === "typed") return [row(`use “${flat(item.name, 200)}” of ${flat(item.provider, 60)}`, place)];
    if (item.kind === "demo") return [row("  demo", { detail: "scripted replies, no key and no network", ...place })];
    if (item.kind === "login") {
      const { name, title, need } = item.choice;
      const facts = [need === "device-login" ? "in the browser" : ""];
      const column = Math.max(...[...this.#logins, OTHER_SERVER].map((login) => login.name.length));
      return [row(`  ${flat(name, 60).padEnd(column)}`, { detail: flat(title), facts, ...place })];
    }
    const { provider, model } = this.#present;
    const here = item.provider === provider && item.model.name === model;
    return [row(`${here ? "●" : " "} ${flat(item.model.name, 200)}`, { facts: modelFacts(item.model), ...place })];
  }

  #use(): void {
    if (this.#request !== "") return this.#keepRequest();
    const item = this.#list.selected;
    if (item === undefined || item.kind === "provider") return;
    if (item.kind === "login") return this.#logIn(item.choice);
    if (item.kind === "demo") return this.leaveFor(() => this.parts.act.useDemo());
    const name = item.kind === "model" ? item.model.name : item.name;
    this.leaveFor(() => this.parts.act.useModel({ provider: item.provider, name }));
  }

  #keepRequest(): void {
    this.parts.act.keep(this.#request);
    this.#input = emptyInput();
    this.#fill();
  }

  #logIn(choice: LoginChoice): void {
    const { name, start } = choice;
    if (start !== undefined) throw new Error(`Cannot use ${name}: Vis did not find the server; ${start}`);
    const { parts } = this;
    const next = (): void => parts.act.open(new ModelPicker(parts));
    parts.act.open(
      choice === OTHER_SERVER ? new ServerPanel(parts, { next }) : new LoginPanel(parts, { provider: name, next }),
    );
  }
}

const AS_REQUEST = "Enter keeps it as your request, and Vis sends it when you have chosen a model or the demo";

const PLACEHOLDER = "name of a model";

function emptyInput(): LineInput {
  return filterInput(PLACEHOLDER);
}

function headed(name: string, { told, width }: { readonly told: string; readonly width: number }): readonly string[] {
  if (visibleWidth(name) + 2 + visibleWidth(told) <= width) return [`${paint.bold(name)}  ${paint.dim(told)}`];
  return [
    paint.bold(name),
    ...wrapTextWithAnsi(told, Math.max(2, width - 2)).slice(0, 3).map((one) => paint.dim(`  ${one}`)),
  ];
}

const OTHER_WORDS = `${OTHER_SERVER.name} ${OTHER_SERVER.title} custom gateway litellm`.toLowerCase();

/** A fuzzy match with so many words would find most sentences, which are requests. */
function isOtherServer(typed: string): boolean {
  return typed.toLowerCase().split(/\s+/).every((word) => OTHER_WORDS.includes(word));
}

function isServer({ need, start }: LoginChoice): boolean {
  return need === "optional" && start === undefined;
}

function keyOf(item: Item): string {
  if (item.kind === "provider") return `${item.name}/`;
  if (item.kind === "login") return item.choice === OTHER_SERVER ? "log in" : `log in ${item.choice.name}`;
  if (item.kind === "demo") return "demo";
  return item.kind === "model" ? `${item.provider}/${item.model.name}` : "typed";
}

const SOURCES: Readonly<Record<ModelsReport["source"], string>> = {
  service: "",
  data: "from the data of Vis",
  config: "from the settings",
};

function toldOf(list: ModelsReport | { readonly problem: string }): string {
  if ("problem" in list) return list.problem;
  const why = [SOURCES[list.source], list.detail].filter((text) => text !== "").join(": ");
  return list.models.length === 0 ? `no models${why === "" ? "" : ` (${why})`}` : why;
}
