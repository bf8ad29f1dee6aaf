import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ConfigAdmin, OpenRequest } from "../../channels/channel.ts";
import { removeFromJsonc, setInJsonc } from "../../config/edit_jsonc.ts";
import { fileLayer } from "../../config/file_layer.ts";
import { type ConfigFile, type ConfigLayer, valueAt } from "../../config/layers.ts";
import { parseJsonc } from "../../config/parse_jsonc.ts";
import { refusedKeys } from "../../config/refused_keys.ts";
import { isSecret, maskSecrets } from "../../config/secrets.ts";
import { configJsonSchema, type ConfigSetting, settingList, settingOf } from "../../config/setting_list.ts";
import { SettingsSections } from "../../config/settings_sections.ts";
import { ConfigError, SettingError, UsageError } from "../../domain/errors.ts";
import type { SettingsSection } from "../../domain/records/settings_section.ts";
import { jsonOrUndefined } from "../../domain/text/json_or_undefined.ts";
import { nearestName } from "../../domain/kit/nearest_name.ts";
import type { ConfigTrustFacts, SettingChange, SettingFacts } from "../../domain/reports/setting_facts.ts";
import { ConfigTrust } from "./config_trust.ts";
import type { ShippedParts } from "./shipped_parts.ts";
import { settingsSectionsOf } from "./settings_sections_of.ts";
import {
  type EnvironmentVariables,
  findProjectConfig,
  readConfigFile,
  readSettings,
  realFolder,
  visHome,
} from "./settings.ts";
import { writeConfigFile } from "./write_config_file.ts";

interface Places {
  readonly home: string | null;
  readonly workspace: string;
}

type ConfigParts = Pick<ShippedParts, "described" | "settings"> & {
  readonly env: EnvironmentVariables;
  /** The sections of the extensions that were added. */
  readonly added?: () => Promise<readonly SettingsSection[]>;
};

/** The place of extensions' own settings. */
const SECTIONS = "extensions.config";
/** A segment of a key, as it is or in quotes, where it has a dot: a."b.c".d and a["b.c"].d. */
const SEGMENT = /\["([^"]*)"\]|\['([^']*)'\]|"([^"]*)"|'([^']*)'|([^.["']+)/g;

/** A key as it was given. */
interface Place {
  readonly path: readonly string[];
  /** Whether quotes say where each segment ends. */
  readonly quoted: boolean;
}

/** Implements `vis config`. */
export class AppConfigAdmin implements ConfigAdmin {
  readonly #request: OpenRequest;
  readonly #parts: ConfigParts;
  readonly #places: Places;
  /** The sections of extensions; of those that were added once a key needs them. */
  #sections: SettingsSections;
  #isWhole = false;

  constructor(request: OpenRequest, { parts, places }: { readonly parts: ConfigParts; readonly places: Places }) {
    this.#request = request;
    this.#parts = parts;
    this.#places = places;
    this.#sections = settingsSectionsOf(parts);
  }

  static async open(
    request: OpenRequest,
    parts: ConfigParts,
  ): Promise<AppConfigAdmin> {
    const places = { home: visHome(parts.env), workspace: await realFolder(request.cwd ?? Deno.cwd()) };
    return new AppConfigAdmin(request, { parts, places });
  }

  path({ project }: { readonly project: boolean }): string {
    const { home, workspace } = this.#places;
    if (project) return join(workspace, ".vis", "config.jsonc");
    if (home === null) throw new ConfigError("Cannot find a home folder: set VIS_HOME to a folder that Vis may write");
    return join(home, "config.jsonc");
  }

  async list({ all }: { readonly all: boolean }): Promise<readonly SettingFacts[]> {
    const [keys, layers] = await Promise.all([this.keys(), this.#layers()]);
    const facts = keys.map((one) => this.#factsOf(one, layers));
    return facts.filter(({ layer }) => all || layer !== "default");
  }

  async explain(key: string): Promise<SettingFacts> {
    return this.#factsOf(await this.#known(key, "show"), await this.#layers(), (await this.#place(key)).path);
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
    for (const { namespace, settings } of Object.values(this.#parts.described).filter((one) => one !== null)) {
      const key = settings?.offered[kind];
      if (key !== undefined) return `extensions.config.${namespace}.${key}`;
    }
    return null;
  }

  async set(
    key: string,
    { words, project }: { readonly words: readonly string[]; readonly project: boolean },
  ): Promise<SettingChange> {
    const at = (await this.#place(key)).path;
    if (words.some((word) => isSecret(at.at(-1) ?? "", word))) throw secretRefused(key);
    const setting = await this.#known(key, "set");
    const path = this.path({ project });
    const found = await readConfigFile(path);
    if (found !== null) parseJsonc(found);
    const file = found ?? { path, text: "" };
    const { text, value } = await this.#fitting(setting, { at, file, words, project });
    const changed = text !== file.text;
    if (changed) await writeConfigFile(path, { text, follow: !project });
    return { key, path, value, changed, overruled: await this.#overruled(key, project) };
  }

  async unset(key: string, { project }: { readonly project: boolean }): Promise<SettingChange> {
    const path = this.path({ project });
    const file = await readConfigFile(path);
    const values = file === null ? {} : parseJsonc(file);
    const { path: place } = await this.#place(key);
    // What is there although no extension has it can be removed as well.
    const at = [place, key.split(".")].find((one) => valueAt(values, one) !== undefined);
    if (at === undefined) await this.#known(key, "unset");
    const before = file?.text ?? "";
    const text = at === undefined ? before : removeFromJsonc(before, at);
    if (text !== before) await writeConfigFile(path, { text, follow: !project });
    return { key, path, value: null, changed: text !== before, overruled: "" };
  }

  async trustable(): Promise<ConfigTrustFacts | null> {
    const file = await findProjectConfig(this.#places);
    if (file === null) return null;
    const values = parseJsonc(file);
    const keys = refusedKeys(values, this.#sections.projectKeys).map(({ key, value }) => ({
      key,
      value: maskSecrets(key.split(".").at(-1) ?? key, value),
    }));
    const sha256 = createHash("sha256").update(file.text).digest("hex");
    return { path: file.path, sha256, trusted: await file.trusted(), keys };
  }

  async trust({ path, sha256 }: ConfigTrustFacts): Promise<void> {
    const file = await findProjectConfig(this.#places);
    if (file === null || createHash("sha256").update(file.text).digest("hex") !== sha256) {
      throw new UsageError(`Cannot trust ${path}: it has changed since it was shown`);
    }
    await fileLayer("project", { ...file, trusted: () => Promise.resolve(true) }, this.#sections);
    await new ConfigTrust(this.#places.home).add(file);
  }

  async distrust(path: string): Promise<boolean> {
    return await new ConfigTrust(this.#places.home).remove(path);
  }

  async #layers(): Promise<readonly ConfigLayer[]> {
    const { layers } = await readSettings({ ...this.#request, db: ":memory:" }, this.#parts.env, this.#parts);
    return [await this.#sections.defaults(), ...layers];
  }

  /** Where a key leads. The extensions that were added are read only if it may be one of theirs. */
  async #place(key: string): Promise<Place> {
    const quoted = /["'[]/.test(key);
    const segments = [...key.matchAll(SEGMENT)].map(([, ...found]) => found.find((one) => one !== undefined) ?? "");
    if (quoted) return { path: segments, quoted };
    const namespace = (): string | undefined => this.#sections.path(key)[2];
    const isSection = key.startsWith(`${SECTIONS}.`);
    const isKnown = (): boolean => this.#sections.all.some((one) => one.namespace === namespace());
    if (isSection && !isKnown() && !this.#isWhole) await this.#learn();
    return { path: this.#sections.path(key), quoted };
  }

  async #learn(): Promise<void> {
    this.#isWhole = true;
    this.#sections = new SettingsSections([...this.#sections.all, ...await this.#parts.added?.() ?? []]);
  }

  /** The setting of a key; throws `UsageError` that suggests the closest one. */
  async #known(key: string, action: string): Promise<ConfigSetting> {
    const { path, quoted } = await this.#place(key);
    const schema = await this.schema();
    const setting = settingOf(path, schema);
    const [, , namespace] = path;
    const isSection = `${path[0]}.${path[1]}` === SECTIONS && namespace !== undefined;
    const isOwned = !isSection || this.#sections.all.some((one) => one.namespace === namespace);
    if (setting !== null && (isOwned || quoted)) return { ...setting, key };
    if (!isOwned) {
      const all = this.#sections.all.map((one) => one.namespace);
      const asked = key.slice(SECTIONS.length + 1);
      const name = asked.split(".").slice(0, -1).join(".") || asked;
      const near = nearestName(name, all) ?? nearestName(asked, all);
      const hint = near === null ? `there are ${all.join(", ")}` : `did you mean ${near}?`;
      const exact = `${SECTIONS}["${name}"]${name === asked ? "" : asked.slice(name.length)}`;
      throw new UsageError(
        `Cannot ${action} ${key}: no extension has this name; ${hint} (for one that is not added yet: '${exact}')`,
      );
    }
    const near = nearestName(key, settingList(schema).map((one) => one.key));
    const hint = near === null ? "vis config list --all shows all settings" : `did you mean ${near}?`;
    throw new UsageError(`Cannot ${action} ${key}: unknown setting; ${hint}`);
  }

  #factsOf(
    { key, doc, type }: ConfigSetting,
    layers: readonly ConfigLayer[],
    at: readonly string[] = this.#sections.path(key),
  ): SettingFacts {
    const sections = this.#sections;
    const canonical = at.join(".");
    const places = sections.spellings(canonical).map((one) => one === canonical ? at : sections.path(one));
    const show = (value: unknown): unknown => maskSecrets(at.at(-1) ?? "", value);
    // The sections' defaults would fill the parent of all sections.
    const asked = key === "extensions" || key === SECTIONS ? layers.slice(1) : layers;
    const said = asked.flatMap(({ layer, values, where }) =>
      places.flatMap((place) => {
        const value = valueAt(values, place);
        return value === undefined ? [] : [{ layer, where: where(key), value: show(value) }];
      })
    );
    const top = said.at(-1);
    const project = sections.projectKeys.some((one) => canonical === one || canonical.startsWith(`${one}.`));
    const value = show(valueAt(sections.merged(asked), places.at(-1) ?? [])) ?? null;
    return { key, value, layer: top?.layer ?? "default", where: top?.where ?? "", doc, type, project, layers: said };
  }

  /** The first parsing of the words that the setting accepts, applied to the file. Throws `UsageError` if none is
   * accepted. */
  async #fitting(
    setting: ConfigSetting,
    { at, file, words, project }: {
      readonly at: readonly string[];
      readonly file: ConfigFile;
      readonly words: readonly string[];
      readonly project: boolean;
    },
  ): Promise<{ readonly text: string; readonly value: unknown }> {
    const { key } = setting;
    let problem: Error | null = null;
    for (const value of readings(setting, words)) {
      if (isSecret(at.at(-1) ?? "", value)) throw secretRefused(key);
      try {
        const text = setInJsonc(file.text, { path: at, value });
        const changed = { path: file.path, text };
        const owner = { trusted: () => Promise.resolve(false), userPath: this.#userPath() };
        const layer = await fileLayer(
          project ? "project" : "user",
          project ? { ...changed, ...owner } : changed,
          this.#sections,
        );
        await this.#sections.check(at.join("."), layer);
        return { text, value };
      } catch (error) {
        if (!(error instanceof ConfigError) && !(error instanceof RangeError)) throw error;
        problem ??= error;
      }
    }
    const why = problem instanceof SettingError ? [problem.why, problem.advice] : [problem?.message];
    throw new UsageError(`Cannot set ${key}: ${why.filter(Boolean).join("; ")}`);
  }

  #userPath(): string | null {
    return this.#places.home === null ? null : this.path({ project: false });
  }

  /** The layer that overrides the written file. Unknown if another file cannot be used. */
  async #overruled(key: string, project: boolean): Promise<string> {
    try {
      const { layers, layer } = await this.explain(key);
      const own = project ? "project" : "user";
      return layer === own || layer === "default" ? "" : layers.at(-1)?.where ?? "";
    } catch (error) {
      if (error instanceof ConfigError) return "";
      throw error;
    }
  }
}

/** Parses words as JSON if they are JSON, and as text; a list from several words or one. */
function readings({ isList }: ConfigSetting, words: readonly string[]): readonly unknown[] {
  const [word = ""] = words;
  const read = jsonOrUndefined(word);
  const plain = words.length > 1 ? [] : [...read === undefined ? [] : [read], word];
  return isList ? [...Array.isArray(read) ? plain : [], [...words]] : plain.length > 0 ? plain : [words.join(" ")];
}

function secretRefused(key: string): UsageError {
  return new UsageError(
    `Cannot save a secret in a settings file: ${key}; vis auth login PROVIDER saves keys so that only you can read them`,
  );
}
