import assert from "node:assert/strict";
import * as index from "../../../extensions/index.ts";
import { diagnoseCommands } from "../../../src/app/doctor/walls.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { missing } from "../../processes/_place.ts";
import { sample } from "../../extension/_sample.ts";
import { settingsOf } from "../_settings.ts";

const parts = { ...index, env: { PATH: "/usr/local/bin:/usr/bin:/bin" } };

async function settingsHere(config: object) {
  return { ...await settingsOf({ config }), workspace: Deno.cwd() };
}

async function diagnose(shell: object, { readFolders = [], ...more }: Partial<typeof parts> & {
  readonly readFolders?: readonly string[];
} = {}) {
  const settings = { ...await settingsHere({ shell }), readFolders };
  const found = await diagnoseCommands(settings, { parts: { ...parts, ...more } });
  return new Map(found.map((one) => [one.name, one]));
}

Deno.test(
  "diagnoseCommands() runs a command behind the wall, and asks extensions",
  { ignore: missing !== "" },
  async () => {
    const off = await diagnose({ enabled: false });
    assert.match(off.get("commands")?.found ?? "", /^run behind a complete wall, with their own network/);
    assert.deepEqual(off.get("shell"), { name: "shell", state: "ok", found: "off", fix: "" });
    assert.match(off.get("git")?.found ?? "", /^git version|Cannot run git/);
    const on = await diagnose({ enabled: true, network: true, deny: ["curl *"] });
    assert.equal(on.get("shell")?.found, "on, network to anywhere, rules: 0 allow, 1 deny");
  },
);

Deno.test("diagnoseCommands() fails if shell is on and no command can run", { ignore: missing !== "" }, async () => {
  for (const [enabled, state] of [[true, "fail"], [false, "ok"]] as const) {
    const found = await diagnose({ enabled }, { readFolders: ["/no/such/folder"] });
    assert.deepEqual([found.get("commands")?.state, found.get("shell")?.state], ["warn", state]);
    assert.match(found.get("commands")?.found ?? "", /\/no\/such\/folder/);
    assert.notEqual(found.get("commands")?.fix, "");
    assert.ok(!found.has("git"), "what needs a command says nothing of its own");
  }
});

Deno.test(
  "diagnoseCommands() says that no command runs in the home folder",
  { ignore: missing !== "" },
  () =>
    withFolder(async (folder) => {
      const home = await Deno.realPath(folder), settings = { ...await settingsOf({}), workspace: home };
      const found = await diagnoseCommands(settings, { parts: { ...parts, env: { ...parts.env, HOME: home } } });
      const [own] = found.filter(({ name }) => name === "commands");
      const said = `Cannot run commands: ${home} is your home folder; start Vis in another folder`;
      assert.deepEqual([own?.state, own?.found], ["warn", said]);
      assert.ok(found.every(({ name }) => name !== "shell" && name !== "git"), "they are not active there");
    }),
);

Deno.test("diagnoseCommands() names the extension whose check throws", async () => {
  const doctor = () => Promise.reject(new Error("no idea"));
  const shipped = { one: () => Promise.resolve({ default: sample({ namespace: "test.one", doctor }) }) };
  const found = await diagnose({}, { shipped: shipped as unknown as typeof parts.shipped });
  assert.equal(found.get("extension: test.one")?.state, "warn");
  assert.equal(found.get("extension: test.one")?.found, "no idea");
});

Deno.test("diagnoseCommands() reports that no command can run if the wall is incomplete and none is wanted without it", async () => {
  const state = () => Promise.resolve({ whole: false, some: false, reason: "no wall here" } as const);
  const settings = await settingsHere({ shell: { unwalled: "off" } });
  const found = new Map((await diagnoseCommands(settings, { parts, state })).map((one) => [one.name, one]));
  assert.match(
    found.get("commands")?.found ?? "",
    /^they have no wall: no wall here; Vis runs none of them, because shell\.unwalled is off or/,
  );
  assert.equal(found.get("shell")?.found, "on, but Vis cannot run commands");
  assert.ok(!found.has("git"), "it could not start either");
});

Deno.test("diagnoseCommands() tells how a request searches the web, or why it cannot", async () => {
  const found = async (config: object) => {
    const settings = await settingsOf({ config, env: { ANTHROPIC_API_KEY: "sk-test" } });
    return (await diagnoseCommands(settings, { parts })).find(({ name }) => name === "web search");
  };
  assert.deepEqual(await found({ provider: "anthropic" }), {
    name: "web search",
    state: "ok",
    found: "by anthropic",
    fix: "",
  });
  assert.equal(
    (await found({ provider: "ollama", model: "qwen3:8b" }))?.found,
    "off: Vis knows no search of the service for qwen3:8b, and web.searchUrl is not set",
  );
  const searchUrl = "http://localhost:8888/search";
  assert.equal((await found({ provider: "anthropic", web: { searchUrl } }))?.found, `${searchUrl} (web.searchUrl)`);
});
