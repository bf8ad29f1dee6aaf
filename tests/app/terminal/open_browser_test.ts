import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../../../src/app/terminal/open_browser.ts";

const TOKEN = "secret-token-0123456789";
const ADDRESS = `http://127.0.0.1:4711/#token=${TOKEN}%3C`;

Deno.test("openBrowser() hands a token over in a file of the user, which goes with close()", async () => {
  for (const os of ["linux", "darwin", "windows"] as const) {
    const ran: string[][] = [];
    const run = (program: string, args: readonly string[]) => Promise.resolve(ran.push([program, ...args]) > 0);
    const opened = await openBrowser(ADDRESS, { env: { DISPLAY: ":0" }, os, run });
    assert.equal(await opened.problem, "");
    const [words = []] = ran;
    assert.ok(!words.join(" ").includes("token="), "other users can see the arguments of a process");
    assert.equal(words[0], { linux: "xdg-open", darwin: "open", windows: "rundll32" }[os]);
    const path = fileURLToPath(words.at(-1) ?? "");
    assert.ok((await Deno.readTextFile(path)).includes(`location.replace(${JSON.stringify(ADDRESS)})`));
    for (const one of [path, dirname(path)]) assert.equal(((await Deno.stat(one)).mode ?? 0) & 0o077, 0, one);
    await opened.close();
    await assert.rejects(Deno.stat(dirname(path)), Deno.errors.NotFound);
  }
});

Deno.test("openBrowser() passes an address without a token on, and says why no browser opened", async () => {
  const ran: string[][] = [];
  const env = { WAYLAND_DISPLAY: "wayland-0" };
  const run = (program: string, args: readonly string[]) => (ran.push([program, ...args]), Promise.resolve(false));
  const failed = await openBrowser("http://127.0.0.1:4711/", { env, os: "linux", run });
  assert.deepEqual([await failed.problem, ran], ["xdg-open failed", [["xdg-open", "http://127.0.0.1:4711/"]]]);
  const absent = await openBrowser(ADDRESS, {
    env,
    os: "linux",
    run: () => Promise.reject(new Deno.errors.NotFound("x")),
  });
  assert.equal(await absent.problem, "this machine has no program xdg-open");
  await absent.close();
  const hidden = await openBrowser(ADDRESS, { env: {}, os: "linux", run });
  assert.deepEqual([await hidden.problem, ran.length], ["this session has no display", 1]);
});
