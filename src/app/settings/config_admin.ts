import { createHash } from "node:crypto";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { ConfigAdmin, OpenRequest } from "../../channels/channel.ts";
import { fileLayer, refusedKeys } from "../../config/file_layer.ts";
import { parseJsonc, removeFromJsonc, setInJsonc } from "../../config/jsonc.ts";
import {
  type ConfigFile,
  type ConfigLayer,
  hasOnlyExceptions,
  SettingsSections,
  valueAt,
} from "../../config/layers.ts";
import { isSecret, maskSecrets } from "../../config/masked_keys.ts";
import { configJsonSchema, type ConfigSetting, settingList, settingOf } from "../../config/setting_list.ts";
import { ConfigError, SettingError, UsageError } from "../../domain/errors.ts";
import { jsonOrUndefined } from "../../domain/kit/json.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { ConfigTrustFacts, SettingChange, SettingFacts } from "../../domain/admin_reports.ts";
import type { SettingsSection } from "../../domain/settings_section.ts";
import { ConfigTrust, findProjectConfig, readConfigFile, writeConfigFile } from "./settings_files.ts";
import {
  type EnvironmentVariables,
  readSettings,
  realFolder,
  settingsSectionsOf,
  type ShippedParts,
  visHome,
} from "./settings.ts";

interface Places {
  readonly home: string | null;
  readonly workspace: string;
}

type ConfigParts = Pick<ShippedParts, "shipped"> & {
  readonly env: EnvironmentVariables;
  readonly added?: () => Promise<readonly SettingsSection[]>;
};

const SECTIONS = "extensions.config";
/** A segment of a key is plain or in quotes: a."b.c".d and a["b.c"].d. */
const SEGMENT = /(?:^|\.|(?=\[))(?:\["([^"]+)"\]|\['([^']+)'\]|"([^"]+)"|'([^']+)'|([^.[\]"']+))/y;

interface Place {
  readonly path: readonly string[];
  readonly quoted: boolean;
}

export class AppConfigAdmin implements ConfigAdmin {
  readonly #request: OpenRequest;
  readonly #parts: ConfigParts;
  readonly #places: Places;
  #sections: SettingsSections;
  #isWhole = false;

  constructor(
    request: OpenRequest,
    { parts, places, sections }: {
      readonly parts: ConfigParts;
      readonly places: Places;
      readonly sections: SettingsSections;
    },
  ) {
    this.#request = request;
    this.#parts = parts;
    this.#places = places;
    this.#sections = sections;
  }

  static async open(
    request: OpenRequest,
    parts: ConfigParts,
  ): Promise<AppConfigAdmin> {
    const places = { home: visHome(parts.env), workspace: await realFolder(request.cwd ?? Deno.cwd()) };
    return new AppConfigAdmin(request, { parts, places, sections: await settingsSectionsOf(parts) });
  }

  path({ project }: { readonly project: boolean }): string {
    const { home, workspace } = this.#places;
    if (project) return join(workspace, ".vis", "config.jsonc");
    if (home === null) {
      throw new ConfigError(
        "Cannot find your settings: Vis has no home folder; set VIS_HOME to a writable folder",
      );
    }
    return join(home, "config.jsonc");
  }

  async list({ all }: { readonly all: boolean }): Promise<readonly SettingFacts[]> {
    const [keys, layers] = await Promise.all([this.keys(), this.#layers()]);
    const facts = keys.map((one) => this.#factsOf(one, layers));
    return facts.filter(({ layer }) => all || layer !== "default");
  }

  async explain(key: string): Promise<SettingFacts> {
    return this.#factsOf(await this.#known(key, "show"), await this.#layers(), (await this.#place(key, "show")).path);
  }

  async schema(): Promise<object> {
    return await configJsonSchema(this.#sections);
  }

  async keys(): Promise<readonly ConfigSetting[]> {
    const sections = this.#sections;
    const all = settingList(await this.schema());
    return all.filter(({ key }) => !key.includes("[]") && sections.spellings(key)[0] === key);
  }

  offered(kind: string): string | null {
    for (const { namespace, offered: { [kind]: key } } of this.#sections.all) {
      if (key !== undefined) return `extensions.config.${namespace}.${key}`;
    }
    return null;
  }

  async set(
    key: string,
    { words, project, write = true }: Parameters<ConfigAdmin["set"]>[1],
  ): Promise<SettingChange> {
    const { at, setting } = await this.#settable(key, { words, refused: secretRefused });
    const path = this.path({ project });
    const found = await readConfigFile(path);
    const before = valueAt(found === null ? {} : parseJsonc(found), at);
    const file = found ?? { path, text: "" };
    const trusted = found !== null && await this.#isTrusted(found, { project });
    const fitting = await this.#fitting(setting, { at, file, words, project, trusted, refused: secretRefused });
    const value = withPatterns(fitting.value, { at, before });
    const text = value === fitting.value ? fitting.text : setInJsonc(file.text, { path: at, value });
    const changed = text !== file.text;
    if (changed && write) await this.#write({ path, text }, { project, trusted });
    return { key, path, value, changed, ...await this.#above(key, { value, project }) };
  }

  async layer(given: readonly string[]): Promise<ConfigLayer> {
    const asked = new Map<string, readonly string[]>();
    for (const one of given) {
      const cut = one.indexOf("=");
      if (cut < 1) {
        throw new UsageError(`Cannot use --set ${shownKey(one)}: it is not KEY=VALUE; write it like ${RUN_EXAMPLE}`);
      }
      const key = one.slice(0, cut);
      asked.set(key, [...asked.get(key) ?? [], one.slice(cut + 1)]);
    }
    const own = this.#userPath();
    const found = own === null ? null : await readConfigFile(own);
    if (found !== null) parseJsonc(found);
    let file: ConfigFile = found ?? { path: own ?? RUN_FLAG, text: "" }, ofRun = "";
    for (const [key, all] of asked) {
      const { at, setting } = await this.#settable(key, { words: all, refused: secretOfRun });
      const words = setting.isList ? all : all.slice(-1);
      const { text } = await this.#fitting(setting, { at, file, words, project: false, refused: secretOfRun });
      file = { ...file, text };
      const values = parseJsonc(file);
      // A layer replaces or extends whole lists, so the run gets the list around an entry.
      const path = at.slice(0, listDepth(values, at) ?? at.length);
      ofRun = this.#setInJsonc(ofRun, { path, value: valueAt(values, path) });
    }
    const values = ofRun === "" ? {} : parseJsonc({ path: RUN_FLAG, text: ofRun });
    return { layer: "run", values: values as ConfigLayer["values"], where: () => RUN_FLAG };
  }

  async unset(key: string, { project }: { readonly project: boolean }): Promise<SettingChange> {
    const path = this.path({ project });
    const file = await readConfigFile(path);
    const values = file === null ? {} : parseJsonc(file);
    const { path: place } = await this.#place(key, "unset");
    const isSet = (one: readonly string[]): boolean => valueAt(values, one) !== undefined;
    const at = [place, ...this.#sections.places(place), key.split(".")].find(isSet);
    if (at === undefined) await this.#known(key, "unset");
    const before = file?.text ?? "";
    const text = at === undefined ? before : removeFromJsonc(this.#withoutOthers(before, at), at);
    if (file !== null && text !== before) {
      await this.#write({ path, text }, { project, trusted: await this.#isTrusted(file, { project }) });
    }
    return { key, path, value: null, changed: text !== before, ...NOTHING_ABOVE };
  }

  #setInJsonc(text: string, { path, value }: Parameters<typeof setInJsonc>[1]): string {
    return this.#withoutOthers(setInJsonc(text, { path, value }), path);
  }

  /** Removes the setting from its other place, but keeps entries of lists there: their indexes mean other entries. */
  #withoutOthers(text: string, path: readonly string[]): string {
    if (listDepth(parseJsonc({ path: "", text }), path) !== null) return text;
    const others = this.#sections.places(path).filter((one) => !isDeepStrictEqual(one, path));
    return others.reduce(removeFromJsonc, text);
  }

  async #isTrusted(file: ConfigFile, { project }: { readonly project: boolean }): Promise<boolean> {
    return project && await new ConfigTrust(this.#places.home).has(file);
  }

  async #write(
    file: ConfigFile,
    { project, trusted }: { readonly project: boolean; readonly trusted: boolean },
  ): Promise<void> {
    await writeConfigFile(file.path, { text: file.text, follow: !project });
    if (trusted) await new ConfigTrust(this.#places.home).add(file);
  }

  async trustable(): Promise<ConfigTrustFacts | null> {
    const file = await findProjectConfig(this.#places);
    if (file === null) return null;
    await this.#checkTrusted(file);
    const keys = refusedKeys(parseJsonc(file), this.#sections.projectKeys).map(({ key, value }) => ({
      key,
      value: maskSecrets(key.split(".").at(-1) ?? key, value),
    }));
    const sha256 = createHash("sha256").update(file.text).digest("hex");
    return { path: file.path, sha256, trusted: await file.trusted(), keys };
  }

  async trust({ path, sha256 }: ConfigTrustFacts): Promise<void> {
    const file = await findProjectConfig(this.#places);
    if (file === null) throw new UsageError(`Cannot trust ${path}: the file is missing or empty`);
    if (createHash("sha256").update(file.text).digest("hex") !== sha256) {
      throw new UsageError(
        `Cannot trust ${path}: the file has changed since Vis showed it; run vis config trust again`,
      );
    }
    await this.#checkTrusted(file);
    await new ConfigTrust(this.#places.home).add(file);
  }

  async #checkTrusted(file: ConfigFile): Promise<void> {
    await fileLayer("project", { ...file, trusted: () => Promise.resolve(true) }, this.#sections);
  }

  async distrust(path: string): Promise<boolean> {
    return await new ConfigTrust(this.#places.home).remove(path);
  }

  async #layers(): Promise<readonly ConfigLayer[]> {
    const { layers } = await readSettings({ ...this.#request, db: ":memory:" }, this.#parts.env, this.#parts);
    const name = ["VIS_DATABASE_URL", "VIS_DB"].find((one) => this.#parts.env[one]);
    const withDatabase = name === undefined ? layers : layers.map((one) => databaseAdded(one, name, this.#parts.env));
    return [await this.#sections.defaults(), ...withDatabase];
  }

  async #settable(
    key: string,
    { words, refused }: { readonly words: readonly string[]; readonly refused: typeof secretRefused },
  ): Promise<{ readonly at: readonly string[]; readonly setting: ConfigSetting }> {
    const at = (await this.#place(key, "set")).path;
    const secret = words.find((word) => isSecret(at.at(-1) ?? "", word));
    const setting = await this.#known(key, "set", { secret: secret !== undefined });
    if (secret !== undefined) throw refused(key, at, secret);
    return { at, setting };
  }

  async #place(key: string, action: string): Promise<Place> {
    if (/["'[\]]/.test(key)) return { path: quotedPath(key, action), quoted: true };
    const namespace = (): string | undefined => this.#sections.path(key)[2];
    const isSection = key.startsWith(`${SECTIONS}.`);
    const isKnown = (): boolean => this.#sections.all.some((one) => one.namespace === namespace());
    if (isSection && !isKnown() && !this.#isWhole) await this.#learn();
    return { path: this.#sections.path(key), quoted: false };
  }

  async #learn(): Promise<void> {
    this.#isWhole = true;
    const all = [...this.#sections.all, ...await this.#parts.added?.() ?? []];
    const layers = await this.#layers().catch((error: unknown) => {
      if (error instanceof ConfigError) return [];
      throw error;
    });
    const written = layers.flatMap(({ values }) => Object.keys(Object(valueAt(values, SECTIONS.split(".")))));
    const others = new Set(written.filter((name) => all.every(({ namespace }) => namespace !== name)));
    this.#sections = new SettingsSections([
      ...all,
      ...[...others].map((namespace) => (
        {
          namespace,
          name: null,
          project: [],
          own: [],
          programs: {},
          offered: {},
          schema: () => Promise.resolve(z.record(z.string(), z.unknown())),
        }
      )),
    ]);
  }

  async #known(
    key: string,
    action: string,
    { secret = false }: { readonly secret?: boolean } = {},
  ): Promise<ConfigSetting> {
    const { path, quoted } = await this.#place(key, action);
    const schema = await this.schema();
    const setting = settingOf(path, schema);
    const [, , namespace] = path;
    const isSection = `${path[0]}.${path[1]}` === SECTIONS && namespace !== undefined;
    const isOwned = !isSection || this.#sections.all.some((one) => one.namespace === namespace);
    if (setting !== null && (isOwned || quoted)) return { ...setting, key };
    const asked = key.slice(SECTIONS.length + 1);
    const name = asked.split(".").slice(0, -1).join(".") || asked;
    if (!isOwned && !secret) {
      const all = this.#sections.all.map((one) => one.namespace);
      const near = nearestName(name, all) ?? nearestName(asked, all);
      const hint = near === null ? `choose one of ${all.join(", ")}` : `did you mean ${near}?`;
      const exact = `${SECTIONS}["${name}"]${name === asked ? "" : asked.slice(name.length)}`;
      throw new UsageError(
        `Cannot ${action} ${key}: no extension is named ${name}; ${hint} (for an extension that you have not ` +
          `added yet, write '${exact}')`,
      );
    }
    const unknown = isOwned ? "Vis has no such setting" : `no extension is named ${name}`;
    throw new UsageError(
      `Cannot ${action} ${shownKey(key)}: ${unknown}; ${secret ? secretAdvice(path) : this.#hintFor(path, schema)}`,
    );
  }

  #hintFor(path: readonly string[], schema: object): string {
    const places = settingList(schema).map(({ key }) => this.#sections.path(key.replaceAll("[]", ".0")));
    const depth = path.findIndex((_, at) => settingOf(path.slice(0, at + 1), schema) === null);
    const above = path.slice(0, depth);
    const isAbove = (place: readonly string[]) => above.every((one, at) => one === place[at] || place[at] === "0");
    const names = [...new Set(places.filter(isAbove).flatMap((place) => place[depth] ?? []))];
    const near = nearestName(path[depth] ?? "", names);
    if (near !== null) {
      const meant = [...above, near, ...path.slice(depth + 1)];
      return `did you mean ${(settingOf(meant, schema) ? meant : [...above, near]).join(".")}?`;
    }
    const elsewhere = places.filter((place) => place.at(-1) === path.at(-1)).map((place) => place.join("."));
    if (elsewhere.length === 1) return `did you mean ${elsewhere[0]}?`;
    if (above.length === 0) return "vis config list --all shows all settings";
    if (names.length === 0) {
      return `vis config list --all shows all settings, and none is below ${above.join(".")}`;
    }
    return `choose one of ${names.map((name) => [...above, name].join(".")).join(", ")}`;
  }

  #factsOf(
    { key, doc, type, isList }: ConfigSetting,
    layers: readonly ConfigLayer[],
    at: readonly string[] = this.#sections.path(key),
  ): SettingFacts {
    const sections = this.#sections;
    const canonical = at.join(".");
    const places = sections.places(at);
    const show = (value: unknown): unknown => maskSecrets(at.at(-1) ?? "", value);
    // Every extension would add its default values to the list of all sections, so this list omits defaults.
    const asked = key === "extensions" || key === SECTIONS ? layers.slice(1) : layers;
    const from = (first: number): unknown => valueAt(sections.merged(asked.slice(first)), places.at(-1) ?? []);
    const said = asked.flatMap(({ layer, values, where }, at) => {
      const isWhole = key === SECTIONS, all = isWhole ? sections.merged(asked.slice(at, at + 1)) : values;
      const given = places.map((place) => valueAt(all, place))
        .filter((value) => value !== undefined && !(isWhole && isDeepStrictEqual(value, {})));
      const counts = given.length > 0 && !isDeepStrictEqual(from(at), from(at + 1));
      return given.map((value) => ({ layer, where: where(key), value: show(value), counts }));
    });
    const top = said.at(-1);
    const project = this.#isHarmless(at);
    const value = show(from(0)) ?? null;
    return {
      ...{ key, value, layer: top?.layer ?? "default", where: top?.where ?? "", doc, type, project, layers: said },
      list: isList ? sections.combined(canonical) : null,
    };
  }

  #isHarmless(at: readonly string[]): boolean {
    const key = at.join(".");
    return this.#sections.projectKeys.some((one) => key === one || key.startsWith(`${one}.`));
  }

  async #fitting(
    setting: ConfigSetting,
    { at, file, words, project, trusted = false, refused }: {
      readonly at: readonly string[];
      readonly file: ConfigFile;
      readonly words: readonly string[];
      readonly project: boolean;
      readonly trusted?: boolean;
      readonly refused: typeof secretRefused;
    },
  ): Promise<{ readonly text: string; readonly value: unknown }> {
    const { key } = setting;
    let problem: Error | null = null;
    for (const value of readings(setting, words)) {
      if (isSecret(at.at(-1) ?? "", value)) throw refused(key, at, value);
      try {
        const text = this.#setInJsonc(file.text, { path: at, value });
        const check = async (one: string, isTrusted: boolean): Promise<void> => {
          const owner = { trusted: () => Promise.resolve(isTrusted), userPath: this.#userPath() };
          const changed = { path: file.path, text: one };
          const layer = await fileLayer(
            project ? "project" : "user",
            project ? { ...changed, ...owner } : changed,
            this.#sections,
          );
          await this.#sections.check(at.join("."), layer);
        };
        // Trust in the file does not cover a key that only the user may set, so that key is checked alone.
        if (trusted && !this.#isHarmless(at)) await check(this.#setInJsonc("", { path: at, value }), false);
        await check(text, trusted);
        return { text, value };
      } catch (error) {
        if (!(error instanceof ConfigError) && !(error instanceof RangeError)) throw error;
        problem ??= error;
      }
    }
    if (problem instanceof RangeError) throw new UsageError(problem.message);
    if (!(problem instanceof SettingError)) throw new UsageError(`Cannot set ${key}: ${problem?.message}`);
    const wrong = this.#sections.path(problem.key);
    const place = at.every((one, index) => wrong[index] === one)
      ? wrong.length > at.length ? `${problem.key} ` : "it "
      : wrong.every((one, index) => at[index] === one)
      ? problem.code === "untrusted" ? "it " : `${problem.key} `
      : null;
    const advice = project && problem.code === "untrusted"
      ? "leave out --project to set it in your own file"
      : problem.advice;
    const mayTrust = project && problem.code === "untrusted" && problem.key !== "secrets" &&
      !this.#sections.ownKeys.includes(problem.key);
    const why = place === null
      ? `in ${file.path}, ${problem.key} ${problem.why}; correct ${problem.key}, or run vis config unset ` +
        `${project ? "--project " : ""}${problem.key}`
      : [place + (mayTrust ? NEEDS_TRUST : problem.why), advice].filter(Boolean).join("; ");
    throw new UsageError(`Cannot set ${key}: ${why}`);
  }

  #userPath(): string | null {
    return this.#places.home === null ? null : this.path({ project: false });
  }

  async #above(
    key: string,
    { value, project }: { readonly value: unknown; readonly project: boolean },
  ): Promise<Pick<SettingChange, "overruled" | "extended">> {
    try {
      const { layers, layer, where, value: whole } = await this.explain(key);
      const own = project ? "project" : "user";
      if (layer === "project" && project && !contains(whole, value)) {
        const lower = layers.find((one) => one.layer !== layer && contains(one.value, whole));
        return { ...NOTHING_ABOVE, overruled: lower?.where || "the default" };
      }
      if (layer === own || layer === "default" || !layers.some((one) => one.layer === own)) return NOTHING_ABOVE;
      const isKept = typeof value === "object" && contains(whole, value);
      return isKept ? { ...NOTHING_ABOVE, extended: where } : { ...NOTHING_ABOVE, overruled: where };
    } catch (error) {
      if (error instanceof ConfigError) return NOTHING_ABOVE;
      throw error;
    }
  }
}

/** The length of the path to the list that contains the value at `path`, or null. */
function listDepth(values: unknown, path: readonly string[]): number | null {
  const depth = path.findIndex((_, at) => Array.isArray(valueAt(values, path.slice(0, at))));
  return depth < 0 ? null : depth;
}

const NEEDS_TRUST = "needs your trust in the file of a workspace, and --project sets only keys that need none";

const NOTHING_ABOVE = { overruled: "", extended: "" };

function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole) && Array.isArray(part)) {
    return part.every((one) => whole.some((other) => isDeepStrictEqual(one, other)));
  }
  if (typeof part !== "object" || part === null) return isDeepStrictEqual(whole, part);
  return Object.entries(part).every(([key, value]) => contains(valueAt(whole, [key]), value));
}

/** The settings omit the database of the environment, because its URL can contain a password. */
function databaseAdded(layer: ConfigLayer, name: string, env: EnvironmentVariables): ConfigLayer {
  if (layer.layer !== "environment") return layer;
  const where = (key: string): string => key === "database" ? name : layer.where(key);
  return { ...layer, values: { ...layer.values, database: env[name] }, where };
}

function quotedPath(key: string, action: string): readonly string[] {
  const path: string[] = [];
  SEGMENT.lastIndex = 0;
  for (let end = 0; end < key.length; end = SEGMENT.lastIndex) {
    const found = SEGMENT.exec(key)?.slice(1).find((one) => one !== undefined);
    if (found === undefined) {
      const rules = 'quote a whole name, as in a["b.c"].d, and write an entry of a list as a.0';
      throw new UsageError(`Cannot ${action} ${shownKey(key)}: it is not a key of a setting; ${rules}`);
    }
    path.push(found);
  }
  return path;
}

function shownKey(key: string): string {
  return /^[!-~]+$/.test(key) ? key : JSON.stringify(key);
}

/** Exceptions keep the patterns of the file, as they do in `--set`. */
function withPatterns(
  value: unknown,
  { at, before }: { readonly at: readonly string[]; readonly before: unknown },
): unknown {
  const isException = at.join(".") === "secrets" && hasOnlyExceptions({ secrets: value });
  if (!isException || !Array.isArray(value) || !Array.isArray(before)) return value;
  return [...before.filter((one) => !value.includes(one)), ...value];
}

function readings({ isList }: ConfigSetting, words: readonly string[]): readonly unknown[] {
  const [word = ""] = words;
  const read = words.length > 1 ? undefined : jsonOrUndefined(word);
  const isObject = typeof read === "object" && read !== null;
  if (isList && !Array.isArray(read)) {
    // A word of a list can be text or JSON, so Vis tries both readings. A JSON list has several entries.
    const texts = words.flatMap((one) => {
      const json = jsonOrUndefined(one);
      return Array.isArray(json) ? json : [one];
    });
    const entries = words.flatMap((one) => jsonOrUndefined(one) ?? one);
    return [...isObject || read === null ? [read] : [], texts, entries];
  }
  if (isObject) return [read];
  return words.length > 1 ? [words.join(" ")] : [...read === undefined ? [] : [read], word];
}

const SAVES_KEYS = "save the key with vis auth login PROVIDER, so that only you can read it";

const OMIT_LOGIN = "use an address without a user name, a password and a key";
const SECRET_ADVICE: ReadonlyMap<string, string> = new Map([
  ["database", "omit the password, and set VIS_DATABASE_PASSWORD or VIS_DATABASE_PASSWORD_FILE"],
  ["telegram", "save the token of the bot with vis auth login telegram"],
  ["server", "write the token to a file, and set server.tokenFile to its path"],
]);

function secretAdvice([top = "", ...below]: readonly string[], value: unknown = null): string {
  const isAddress = typeof value === "string" && /^[a-z]+:\/\//i.test(value.trim());
  // Only values such as an environment or headers may have references.
  const isReferable = `${top}.${below[0]}` === SECTIONS && !(isAddress && /(?:^u|U)rl$/.test(below.at(-1) ?? ""));
  if (isAddress && !isReferable && top !== "database") return OMIT_LOGIN;
  if (isReferable) return "write ${auth:NAME} instead of the secret, then save it with vis auth login NAME";
  return SECRET_ADVICE.get(top) ?? SAVES_KEYS;
}

function secretRefused(key: string, at: readonly string[], value: unknown): UsageError {
  return new UsageError(
    `Cannot save ${key} in a settings file: its value looks like a secret; ${secretAdvice(at, value)}`,
  );
}

const RUN_FLAG = "--set", RUN_EXAMPLE = "--set budget.iterations=8";

function secretOfRun(key: string, at: readonly string[], value: unknown): UsageError {
  return new UsageError(
    `Cannot use ${RUN_FLAG} ${key}: its value looks like a secret, which other users can see in the process list; ` +
      secretAdvice(at, value),
  );
}
