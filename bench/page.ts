import { CHROMIUM, launchChromium } from "../tests/helpers/browser/chromium.ts";
import type { Figure } from "./support/figure.ts";
import type { Program, Programs } from "./support/programs.ts";
import { startServed } from "./support/served.ts";

const TIMES = 7;
/** The page's policy forbids functions of the driver that evaluate text, so the page itself reports the time. */
const USABLE = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries()[0].startTime)).observe({ type: "mark", buffered: true });
})`;

export async function page({ all }: Programs): Promise<readonly Figure[]> {
  if (CHROMIUM === "") return [];
  const { browser, close } = await launchChromium();
  try {
    const figures: Figure[] = [];
    for (const program of all) {
      const samples = await load(program, async (url) => {
        const context = await browser.newContext();
        const tab = await context.newPage();
        await tab.goto(url);
        await tab.locator("#frame").waitFor();
        const ms = await tab.evaluate<number>(USABLE);
        await context.close();
        return ms;
      });
      figures.push({ what: "load → page that can be used", way: program.way, unit: "ms", samples, bar: 500 });
    }
    return figures;
  } finally {
    await close();
  }
}

async function load(program: Program, measure: (url: string) => Promise<number>): Promise<number[]> {
  await using served = await startServed(program, { baseUrl: "http://127.0.0.1:9", config: {} });
  const samples: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    samples.push(await measure(new URL(`/#token=${served.token}`, served.url).href));
  }
  return samples;
}
