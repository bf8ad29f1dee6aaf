import axe from "axe-core";
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { inPage } from "./_browser.ts";

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

export async function accessible(page: Page, what: string): Promise<void> {
  if (!await inPage<boolean>(page, "'axe' in globalThis")) await inPage(page, axe.source);
  const { violations } = await inPage<{ readonly violations: readonly Violation[] }>(page, "axe.run()");
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  assert.deepEqual(told, [], what);
}
