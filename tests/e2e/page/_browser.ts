import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";
import { type Rig, startRig, TOKEN } from "../../channels/http/_rig.ts";
import { CHROMIUM, launchChromium, type LaunchedBrowser } from "../../helpers/browser/chromium.ts";

export interface Opened {
  readonly page: Page;
  readonly rig: Rig;
  readonly faults: readonly string[];
  tab(at?: string): Promise<Page>;
}

interface OpenOptions {
  readonly rig?: Parameters<typeof startRig>[1];
  readonly replies?: Parameters<typeof startRig>[0];
  readonly context?: BrowserContextOptions;
  readonly before?: (rig: Rig) => Promise<void>;
  readonly at?: string;
}

const shared: { browser: Promise<LaunchedBrowser> | null } = { browser: null };

/** Defines a test of the page in a browser, which is skipped with the reason without one. It fails for an error in the
 * console, content of another server, and any action that the policy had to stop. */
export function inBrowser(name: string, options: OpenOptions, run: (opened: Opened) => Promise<void>): void {
  const why = CHROMIUM === "" ? " (skipped: no Chromium on the PATH)" : "";
  Deno.test({
    name: `page ${name}${why}`,
    ignore: CHROMIUM === "",
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      const { browser } = await (shared.browser ??= launchChromium());
      await using rig = await startRig(options.replies ?? [], options.rig);
      await options.before?.(rig);
      const context = await browser.newContext({ locale: "en-GB", ...options.context });
      const faults: string[] = [];
      const tab = async (at = ""): Promise<Page> => {
        const page = await context.newPage();
        watch(page, { faults, origin: rig.url });
        await page.goto(`${rig.url}#token=${TOKEN}${at}`);
        await page.locator("#frame").waitFor().catch(async () => {
          assert.fail(`The page did not come up: ${faults.join("; ")} ${await page.locator("body").innerText()}`);
        });
        return page;
      };
      try {
        await run({ page: await tab(options.at), rig, faults, tab });
        assert.deepEqual(faults, []);
      } finally {
        await context.close();
      }
    },
  });
}

function watch(page: Page, { faults, origin }: { readonly faults: string[]; readonly origin: string }): void {
  page.setDefaultTimeout(30_000); // Other tests run at the same time.
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(`${error.name}: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) faults.push(`request: ${url}`);
  });
}

/** Evaluates an expression in the page. It is passed as text, because the flags of the program forbid making
 * functions. */
export async function inPage<T>(page: Page, expression: string): Promise<T> {
  return await page.evaluate<T>(expression);
}

export async function ask(page: Page, request: string): Promise<void> {
  await page.locator("#request").fill(request);
  await page.locator("#request").press("Enter");
}

export async function openVariables(page: Page): Promise<void> {
  await page.locator("#actions > summary").click();
  await page.locator("#variables").click();
}

Deno.test.afterAll(async () => {
  await (await shared.browser)?.close();
  shared.browser = null;
});
