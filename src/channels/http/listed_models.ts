import type { Conversations } from "../../conversation/conversations.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { ProviderAdmin } from "../channel.ts";
import { Problem } from "./problem.ts";

const LIST_MS = 20_000;
/** A service may add a model at any time, so a list without the wanted model is current only for `MOMENT_MS`. */
const CURRENT_MS = 300_000;
const MOMENT_MS = 10_000;

interface Listed {
  readonly at: number;
  readonly names: ReadonlySet<string>;
}

export class ListedModels {
  readonly #admin: Pick<ProviderAdmin, "models">;
  readonly #now: () => number;
  #listed: Promise<Listed> | null = null;

  constructor(admin: Pick<ProviderAdmin, "models">, now: () => number) {
    this.#admin = admin;
    this.#now = now;
  }

  async check(name: string | undefined, { modelNames }: Pick<Conversations, "modelNames">): Promise<void> {
    if (name === undefined || modelNames.includes(name)) return;
    if ((await this.#within(CURRENT_MS)).has(name)) return;
    const names = await this.#within(MOMENT_MS);
    if (names.has(name)) return;
    const near = nearestName(name, [...new Set([...modelNames, ...names])]);
    throw new Problem(
      `Cannot find model ${name.slice(0, 100)}: the server does not have it; ` +
        `${near ? `did you mean ${near}?` : "GET /api/v1/models lists all"}`,
      { kind: "not-found", errors: [{ path: "model", message: "Unknown" }] },
    );
  }

  async #within(ms: number): Promise<ReadonlySet<string>> {
    const before = await this.#listed?.catch(() => null) ?? null;
    if (before && this.#now() - before.at < ms) return before.names;
    this.#listed = this.#list();
    return (await this.#listed).names;
  }

  async #list(): Promise<Listed> {
    const at = this.#now();
    const found = await this.#admin.models({ provider: null, signal: AbortSignal.timeout(LIST_MS) });
    const names = found.flatMap(({ provider, models }, index) =>
      models.flatMap(({ name }) => index === 0 ? [name, `${provider}/${name}`] : [`${provider}/${name}`])
    );
    return { at, names: new Set(names) };
  }
}
