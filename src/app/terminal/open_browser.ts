import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { OpenedBrowser } from "../../channels/channel.ts";
import { messageOf } from "../../domain/errors.ts";

export interface BrowserParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly os?: typeof Deno.build.os;
  readonly run?: (program: string, args: readonly string[]) => Promise<boolean>;
}

/** Other users can see the arguments of a program. A fragment may be a token, so the browser then opens a private file
 * that leads to the address. */
export async function openBrowser(
  address: string,
  { env, os = Deno.build.os, run = start }: BrowserParts,
): Promise<OpenedBrowser> {
  if (os === "linux" && !env["DISPLAY"] && !env["WAYLAND_DISPLAY"]) {
    return { problem: Promise.resolve("this session has no display"), close: () => Promise.resolve() };
  }
  const folder = address.includes("#") ? await Deno.makeTempDir({ prefix: "vis-open-" }) : null;
  const target = folder === null ? address : await fileIn(folder, address);
  const [program, ...args] = PROGRAMS[os] ?? ["xdg-open"];
  return {
    problem: run(program, [...args, target]).then(
      (worked) => worked ? "" : `${program} failed`,
      (error: unknown) =>
        error instanceof Deno.errors.NotFound
          ? `this machine has no program ${program}`
          : `${program} does not start (${messageOf(error)})`,
    ),
    close: async () => {
      if (folder !== null) await Deno.remove(folder, { recursive: true }).catch(() => {});
    },
  };
}

const PROGRAMS: Readonly<Partial<Record<typeof Deno.build.os, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  windows: ["rundll32", "url.dll,FileProtocolHandler"],
};

async function fileIn(folder: string, address: string): Promise<string> {
  const path = join(folder, "open.html");
  const text = JSON.stringify(address).replaceAll("<", "\\u003c");
  const page = `<!doctype html><meta charset="utf-8"><title>Vis</title><script>location.replace(${text})</script>\n`;
  await Deno.writeTextFile(path, page, { createNew: true, mode: 0o600 });
  return pathToFileURL(path).href;
}

/** The browser gets its own process group, so that Ctrl-C in the terminal ends only Vis. */
async function start(program: string, args: readonly string[]): Promise<boolean> {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  child.unref();
  return (await child.status).success;
}
