import pc from "picocolors";
import { oneLine } from "../../../domain/text/clip.ts";
import type { SettingChange, SettingFacts } from "../../../domain/reports/setting_facts.ts";
import type { ConfigAdmin, Io } from "../../channel.ts";
import type { CommandInput } from "../input/command_input.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";
import { jsonText } from "../output/json_text.ts";

export interface ConfigCommandFlags {
  readonly json: boolean;
  readonly cwd?: string | undefined;
}

/** `vis config …`; each method resolves with the exit code. Secrets arrive already masked. */
export class ConfigCommand {
  readonly #parts: CommandInput<ConfigCommandFlags>;

  constructor(parts: CommandInput<ConfigCommandFlags>) {
    this.#parts = parts;
  }

  async list(options: { readonly all: boolean }): Promise<number> {
    const facts = await (await this.#admin()).list(options);
    const { io, flags } = this.#parts;
    this.#tell(facts, table(facts));
    if (facts.length === 0 && !flags.json) {
      io.stderr("No settings are set. vis config list --all shows the defaults.\n");
    }
    return 0;
  }

  async get(key: string): Promise<number> {
    const { value } = await (await this.#admin()).explain(key);
    return this.#tell(value, [typeof value === "string" ? value : JSON.stringify(value, null, 2)]);
  }

  async explain(key: string): Promise<number> {
    const facts = await (await this.#admin()).explain(key);
    return this.#tell(facts, explained(facts, this.#parts.io));
  }

  async set(
    key: string,
    change: { readonly words: readonly string[]; readonly project: boolean },
  ): Promise<number> {
    const done = await (await this.#admin()).set(key, change);
    return this.#changed(done, `${key} = ${JSON.stringify(done.value)} in ${done.path}`);
  }

  async unset(key: string, options: { readonly project: boolean }): Promise<number> {
    const done = await (await this.#admin()).unset(key, options);
    return this.#changed(done, done.changed ? `removed ${key} from ${done.path}` : `${key} is not set in ${done.path}`);
  }

  async path(options: { readonly project: boolean }): Promise<number> {
    const path = (await this.#admin()).path(options);
    return this.#tell({ path }, [path]);
  }

  async schema(): Promise<number> {
    return this.#tell(await (await this.#admin()).schema(), []);
  }

  /** Resolves with 1 if something remains untrusted. */
  async trust({ yes, remove }: { readonly yes: boolean; readonly remove: boolean }): Promise<number> {
    const admin = await this.#admin();
    const found = await admin.trustable();
    if (found === null) {
      this.#tell(null, ["This workspace has no settings file"]);
      return 0;
    }
    if (remove) await admin.distrust(found.path);
    else if (yes) await admin.trust(found);
    const needed = found.keys.length > 0;
    const trusted = !remove && (yes || found.trusted);
    const last = trusted
      ? []
      : needed
      ? ["These settings name hosts, commands or grants. Review them, then run: vis config trust --yes"]
      : ["The file sets only harmless keys: there is nothing to trust"];
    this.#tell({ ...found, trusted }, [
      `${trusted ? "trusted" : "not trusted"}  ${found.path}`,
      `  sha256 ${found.sha256}`,
      ...found.keys.map(({ key, value }) => `  ${key} = ${JSON.stringify(value)}`),
      ...last,
    ]);
    return trusted || !needed ? 0 : 1;
  }

  async #admin(): Promise<ConfigAdmin> {
    return await this.#parts.services.configAdmin({ cwd: this.#parts.flags.cwd });
  }

  #changed(change: SettingChange, line: string): number {
    const { io, flags } = this.#parts;
    this.#tell(change, [line]);
    if (change.overruled !== "" && !flags.json) {
      io.stderr(visibleText(`vis: ${change.overruled} overrides this setting (vis config explain ${change.key})\n`));
    }
    return 0;
  }

  #tell(value: unknown, lines: readonly string[]): number {
    const { io, flags } = this.#parts;
    if (flags.json) io.stdout(jsonText(value, { indent: 2 }));
    else for (const line of lines) io.stdout(`${io.stdoutIsTerminal ? visibleText(line) : line}\n`);
    return 0;
  }
}

function table(facts: readonly SettingFacts[]): readonly string[] {
  const width = Math.min(40, Math.max(0, ...facts.map(({ key }) => key.length)));
  return facts.map(({ key, value, layer, where }) => {
    const from = layer === "default" ? "default" : where;
    return visibleText(`${key.padEnd(width)}  ${oneLine(JSON.stringify(value), 60).padEnd(20)}  ${from}`);
  });
}

function explained({ key, value, layer, doc, type, project, layers }: SettingFacts, io: Io): readonly string[] {
  const color = pc.createColors(io.stdoutColor);
  const text = visibleText(`${key} = ${JSON.stringify(value)}`);
  const about = [...doc === "" ? [] : [`  ${doc}`], `  ${type}${project ? "; may be set by a workspace" : ""}`];
  const places = layers.map((one) => {
    const line = `${one.layer.padEnd(12)} ${JSON.stringify(one.value)}${one.where === "" ? "" : `  ${one.where}`}`;
    return `${one.layer === layer ? color.green("→") : " "} ${visibleText(line)}`;
  });
  return [color.bold(text), ...about, ...places];
}
