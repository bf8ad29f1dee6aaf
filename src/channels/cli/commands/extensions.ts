import type { ExtensionFacts, TrustFacts } from "../../../domain/reports/extension_report.ts";
import { UsageError } from "../../../domain/errors.ts";
import type { ExtensionAdmin } from "../../../domain/reports/extension_admin.ts";
import type { CommandInput } from "../input/command_input.ts";
import { printReport } from "../output/print_report.ts";

type ExtensionsInput = CommandInput<{ readonly json: boolean; readonly cwd?: string }>;

const MIN_HASH = 12;

/** `vis extensions …`; each method resolves with the exit code. */
export class ExtensionsCommand {
  readonly #parts: ExtensionsInput;

  constructor(parts: ExtensionsInput) {
    this.#parts = parts;
  }

  async list(): Promise<number> {
    const all = await (await this.#admin()).list();
    return printReport(all, all.map(factLine), this.#parts);
  }

  async show(name: string): Promise<number> {
    const { text, ...facts } = await (await this.#admin()).show(name);
    return printReport({ ...facts, text }, [factLine(facts), "", text], this.#parts);
  }

  /** Resolves with 1 if a check failed; with `watch` it checks again after each change and never resolves. */
  async check(path: string | null, { watch }: { readonly watch: boolean }): Promise<number> {
    const admin = await this.#admin();
    if (watch && path === null) throw new UsageError("Cannot watch: name the folder of an extension");
    const code = await this.#checked(admin, path);
    if (!watch || path === null) return code;
    for await (const _ of admin.changes(path)) {
      this.#parts.io.stdout("\n");
      await this.#checked(admin, path);
    }
    return code;
  }

  async #checked(admin: ExtensionAdmin, path: string | null): Promise<number> {
    const checks = await admin.check(path);
    const lines = checks.map(({ what, ok, found }) => `${ok ? "✓" : "✗"} ${what}${found ? `  ${found}` : ""}`);
    printReport(checks, lines, this.#parts);
    return checks.every(({ ok }) => ok) ? 0 : 1;
  }

  async create(name: string): Promise<number> {
    const folder = await (await this.#admin()).create(name);
    return printReport({ folder }, [
      `Written to ${folder}`,
      `Check it with: vis extensions check ${name}`,
      `Use it with: vis run --extension ${name} "…", or vis extensions add ${name}`,
    ], this.#parts);
  }

  async add(from: string, options: { readonly replace: boolean }): Promise<number> {
    const folder = await (await this.#admin()).add(from, options);
    return printReport({ folder }, [`Added ${folder}`], this.#parts);
  }

  async remove(name: string): Promise<number> {
    const folder = await (await this.#admin()).remove(name);
    return printReport({ folder }, [`Removed ${folder}`], this.#parts);
  }

  /** Without consent it only lists; resolves with 1 if something remains untrusted. */
  async trust(
    path: string | null,
    { yes, hash, remove }: { readonly yes: boolean; readonly hash?: string; readonly remove: boolean },
  ): Promise<number> {
    const admin = await this.#admin();
    const found = await admin.trustable(path);
    if (remove) {
      for (const one of found) await admin.distrust(one.path);
      return printReport(
        found.map((one) => ({ ...one, trusted: false })),
        found.map((one) => `Not trusted: ${one.path}`),
        this.#parts,
      );
    }
    if (hash !== undefined && hash.length < MIN_HASH) {
      throw new UsageError(`Cannot trust by hash ${hash}: it needs at least ${MIN_HASH} characters`);
    }
    const chosen = found.filter((one) => hash === undefined ? yes : one.hash.startsWith(hash));
    if (hash !== undefined && chosen.length === 0) {
      throw new UsageError(`Cannot trust ${hash}: no extension here has this hash`);
    }
    for (const one of chosen) await admin.trust(one);
    const all = found.map((one) => ({ ...one, trusted: one.trusted || chosen.includes(one) }));
    const open = all.filter(({ trusted }) => !trusted);
    const last = all.length === 0
      ? ["This project has no extensions"]
      : open.length > 0
      ? ["Extensions run with your permissions. Review them, then run: vis extensions trust --yes"]
      : [];
    printReport(all, [...all.flatMap(trustLines), ...last], this.#parts);
    return open.length === 0 ? 0 : 1;
  }

  async #admin(): Promise<ExtensionAdmin> {
    return await this.#parts.services.extensionAdmin({ cwd: this.#parts.flags.cwd });
  }
}

function factLine({ name, place, state, version, alias, doc, path, reason, commands }: ExtensionFacts): string {
  const from = path === "" ? place : `${place} ${path}`;
  if (state !== "loaded") return `${state === "off" ? "○" : "✗"} ${name}  ${from}\n    ${reason}`;
  const adds = commands.length > 0 ? `  (vis ${commands.join(", vis ")})` : "";
  return `✓ ${name} ${version}  ${alias}  ${doc}${adds}  [${from}]`;
}

function trustLines({ path, hash, trusted, files, extensions }: TrustFacts): readonly string[] {
  return [
    `${trusted ? "trusted" : "not trusted"}  ${path}`,
    `  sha256 ${hash}`,
    ...extensions.map(({ namespace, version, requires, allow }) => {
      const asks = [...requires.map((one) => `requires ${one}`), ...allow.map((one) => `allows the sandbox ${one}`)];
      return `  ${namespace} ${version}${asks.length > 0 ? `: ${asks.join(", ")}` : ""}`;
    }),
    ...files.map((file) => `    ${file.path} (${file.bytes} bytes)`),
  ];
}
