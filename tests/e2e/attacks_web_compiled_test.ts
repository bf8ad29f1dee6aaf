import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHROMIUM, launchChromium } from "../helpers/browser/chromium.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { compiledLauncher } from "./_launcher.ts";
import { client, urlOf } from "./helpers/server.ts";
import { launched } from "./helpers/together.ts";
import { User } from "./helpers/user.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const launcher = await compiledLauncher();

/** An address of the internet, which belongs to this machine in the test's own network. */
const OUTSIDE = "93.184.215.14";
const NETWORK = `ip link set lo up && ip addr add ${OUTSIDE}/32 dev lo && mount --bind "$1" /etc/resolv.conf`;
const noNetwork = await made(`${NETWORK} && true`) ? "" : "no network for it can be made here, run it as root";

async function made(command: string, ...args: readonly string[]): Promise<Deno.CommandOutput | null> {
  if (Deno.build.os !== "linux") return null;
  const resolver = await Deno.makeTempFile({ prefix: "vis-resolver-" });
  try {
    await Deno.writeTextFile(resolver, "nameserver 127.0.0.1\n");
    const words = ["--net", "--mount", "sh", "-c", command, "sh", resolver, ...args];
    const output = await new Deno.Command("unshare", { args: words, cwd: ROOT }).output();
    return output.success ? output : null;
  } finally {
    await Deno.remove(resolver);
  }
}

launched(
  { ...launcher, missing: launcher.missing || noNetwork },
  "a name that moves after it was looked up gains nothing by web",
  async () => {
    await launcher.ready();
    const main = join(ROOT, "tests/e2e/_moving_names_main.ts");
    const output = await made(
      `${NETWORK} && shift && exec "$@"`,
      Deno.execPath(),
      "run",
      "-A",
      "--quiet",
      "--no-check",
      main,
      OUTSIDE,
    );
    assert.equal(new TextDecoder().decode(output?.stdout), "public,refused,refused, 0 times\n");
  },
);

const MARKUP =
  "<script>globalThis.hit = 1</script><img src=x onerror='globalThis.hit = 2'>[x](javascript:globalThis.hit=3)";
/** Returns the page of another site in the user's browser. It reports the data that it could read or send. */
const foreign = (url: string): string =>
  `<!doctype html><iframe name="sink"></iframe><iframe src="${url}" id="framed"></iframe>
<script src="${url}api/v1/conversations"></script>
<form id="form" method="post" action="${url}api/v1/conversations" enctype="text/plain" target="sink"><input name='{"title":"' value='"}'></form>
<script>
const tries = {
  read: () => fetch("${url}api/v1/conversations").then((r) => r.text()),
  post: () => fetch("${url}api/v1/conversations", { method: "POST", mode: "no-cors", body: "{}" }).then((r) => r.type === "opaque" ? Promise.reject() : "sent"),
  json: () => fetch("${url}api/v1/conversations", { method: "POST", headers: { "content-type": "application/json", authorization: "Bearer x" }, body: "{}" }),
  socket: () => new Promise((done, fail) => { const s = new WebSocket("${url}".replace("http", "ws")); s.onopen = () => done(); s.onerror = fail; }),
  events: () => new Promise((done, fail) => { const s = new EventSource("${url}api/v1/queries/x/events"); s.onopen = () => done(); s.onerror = fail; }),
  frame: async () => document.getElementById("framed").contentDocument.body.textContent.length > 0 || Promise.reject(),
};
document.getElementById("form").submit();
(async () => {
  const got = [];
  for (const [name, one] of Object.entries(tries)) await one().then(() => got.push(name), () => {});
  document.title = "got " + got.join();
})();
</script>`;

launched(
  { ...launcher, missing: launcher.missing || (CHROMIUM === "" ? "there is no Chromium" : "") },
  "scripts of answers and of other pages do nothing in a browser",
  async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson(`console.log(${JSON.stringify(MARKUP)})`), final(MARKUP)],
    });
    const token = "a-token-of-this-test";
    const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: token } });
    const url = await urlOf(running);
    const other = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response(foreign(url), { headers: { "content-type": "text/html" } }),
    );
    const { browser, close } = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${other.addr.port}/`);
      await page.waitForFunction("document.title.startsWith('got')");
      assert.equal(await page.title(), "got", "none of the tries");
      assert.deepEqual(await (await client(url, token)("/api/v1/conversations")).json().then(({ items }) => items), []);
      const own = await browser.newPage();
      await own.goto(`${url}#token=${token}`);
      await own.locator("#request").fill(MARKUP);
      await own.locator("#request").press("Enter");
      await own.locator(".done > footer").waitFor();
      assert.equal(await own.evaluate("globalThis.hit ?? 0"), 0);
      assert.equal(await own.locator("#thread script, #thread img").count(), 0);
    } finally {
      await close();
      await other.shutdown();
      running.kill("SIGTERM");
      await running.ended;
    }
  },
);
