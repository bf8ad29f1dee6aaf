import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

export const CHROMIUM = findChromium();

function findChromium(): string {
  const folders = [...(Deno.env.get("PATH") ?? "").split(":"), "/usr/bin"];
  const paths = folders.flatMap((folder) => NAMES.map((name) => `${folder}/${name}`));
  const named = Deno.env.get("VIS_TEST_CHROMIUM");
  return [...named ? [named] : [], ...paths].find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  }) ?? "";
}

export interface LaunchedBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function launchChromium(): Promise<LaunchedBrowser> {
  const main = fileURLToPath(new URL("browser_main.ts", import.meta.url));
  const config = fileURLToPath(new URL("../../../deno.json", import.meta.url));
  const args = ["run", "-A", "--quiet", "--config", config, main, CHROMIUM];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  const address = await firstLine(child.stdout);
  const browser = await chromium.connect(address);
  return {
    browser,
    close: async () => {
      await browser.close();
      await child.stdin.close();
      await child.status;
    },
  };
}

async function firstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n")) break;
  }
  assert.match(text, /^ws:/, "the browser did not start");
  return text.trim();
}
