import type { ApprovalAdmin } from "../../domain/query/approval.ts";
import type { KeptRule } from "../../domain/query/query_schemas.ts";
import { ApprovalFolder } from "./approval_folder.ts";

/** Implements `vis approvals`. */
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
