import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { ConfigError, fileFault } from "../../domain/errors.ts";
import { ensureFolder, plainTextFile, replaceFile } from "../../domain/kit/files.ts";
import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import type { ApprovalAdmin, ApprovalRules } from "../../domain/query/approval.ts";
import { type ApprovalRule, type KeptRule, KeptRuleSchema } from "../../domain/query/query_schemas.ts";

export class AppApprovalAdmin implements ApprovalAdmin {
  readonly #folder: ApprovalFolder | null;
  readonly #workspace: string;

  constructor({ home, workspace }: { readonly home: string | null; readonly workspace: string }) {
    this.#folder = home === null ? null : new ApprovalFolder(home);
    this.#workspace = workspace;
  }

  async list({ all }: { readonly all: boolean }): Promise<readonly KeptRule[]> {
    const rules = await this.#folder?.all() ?? [];
    return all ? rules : rules.filter(({ workspace }) => workspace === this.#workspace);
  }

  async remove(id: string): Promise<void> {
    await this.#folder?.remove(id);
  }
}

const Shape = KeptRuleSchema.omit({ id: true }).extend({ tenant: z.string().default(DEFAULT_TENANT) });

/** Concurrent processes must lose no approval, so each approval has a file of its own. */
export class ApprovalFolder implements ApprovalRules {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, "approvals");
  }

  async has(rule: ApprovalRule): Promise<boolean> {
    const kept = await this.#read(idOf(rule)).catch(() => null);
    return kept !== null && keyOf(kept) === keyOf(rule);
  }

  async add({ tenant, workspace, conversationId, extension, scope }: ApprovalRule): Promise<void> {
    const rule = { tenant, workspace, conversationId, extension, scope };
    const text = JSON.stringify({ ...rule, at: new Date().toISOString() }, null, 2);
    try {
      await ensureFolder(this.#folder);
      await replaceFile(this.#pathOf(idOf(rule)), `${text}\n`);
    } catch (error) {
      throw new ConfigError(
        `Cannot save your approval in ${this.#folder}: ${fileFault(error)}; correct this, and approve again`,
      );
    }
  }

  async all(): Promise<readonly KeptRule[]> {
    const found: KeptRule[] = [];
    try {
      for await (const { name } of Deno.readDir(this.#folder)) {
        const id = /^([0-9a-f]{16})\.json$/.exec(name)?.[1];
        const rule = id === undefined ? null : await this.#read(id).catch(() => null);
        if (rule !== null) found.push(rule);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return found.sort((a, b) => a.at < b.at ? -1 : 1);
  }

  async forget(conversationId: string): Promise<void> {
    for (const rule of await this.all()) if (rule.conversationId === conversationId) await this.remove(rule.id);
  }

  async remove(id: string): Promise<void> {
    await Deno.remove(this.#pathOf(id)).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }

  async #read(id: string): Promise<KeptRule> {
    return { ...Shape.parse(JSON.parse(await plainTextFile(this.#pathOf(id)))), id };
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

/** Older versions of Vis wrote keys without a tenant, so a key of the default tenant omits the tenant. */
function keyOf({ tenant, workspace, conversationId, extension, scope }: ApprovalRule): string {
  const key = [workspace, conversationId, extension, scope];
  return JSON.stringify(tenant === DEFAULT_TENANT ? key : [...key, tenant]);
}

function idOf(rule: ApprovalRule): string {
  return createHash("sha256").update(keyOf(rule)).digest("hex").slice(0, 16);
}
