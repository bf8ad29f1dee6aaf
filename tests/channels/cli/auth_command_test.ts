import assert from "node:assert/strict";
import type { Io, ProviderAdmin } from "../../../src/channels/channel.ts";
import { AuthCommand } from "../../../src/channels/cli/auth_command.ts";
import { Cancelled, UsageError } from "../../../src/domain/errors.ts";
import type { KeyReport } from "../../../src/domain/provider_report.ts";
import { fakeAdmin } from "./_fake_admin.ts";
import { fakeIo, fakeServices } from "./_fakes.ts";

const FLAGS = { keyStdin: false, domain: "github.com" };
const KEY: KeyReport = {
  provider: "zai",
  title: "Z.ai",
  need: "required",
  from: "auth.json",
  shown: "••••4711",
  mend: "",
};

function rig(admin: Partial<ProviderAdmin>, io: Partial<Io> & { readonly stdin?: string } = {}) {
  const fake = fakeIo(io);
  const services = fakeServices({ providerAdmin: () => Promise.resolve(fakeAdmin(admin)) });
  return { io: fake, auth: new AuthCommand({ services, io: fake }) };
}

function keeping() {
  const saved: string[] = [];
  const admin: Partial<ProviderAdmin> = {
    loginKind: () => Promise.resolve("key"),
    saveKey: (provider, key) => {
      saved.push(`${provider}=${key}`);
      return Promise.resolve("/h/auth.json");
    },
  };
  return { saved, admin };
}

Deno.test("AuthCommand.login() asks for the key on the terminal and prints none of it", async () => {
  const { saved, admin } = keeping();
  const questions: string[] = [];
  const { auth, io } = rig(admin, {
    askSecret: (question) => {
      questions.push(question);
      return Promise.resolve(" sk-4711 ");
    },
  });
  assert.equal(await auth.login("zai", FLAGS), 0);
  assert.deepEqual([saved, questions], [["zai=sk-4711"], ["Key of zai: "]]);
  assert.deepEqual([io.out, io.err], ["", "vis: the key of zai is kept in /h/auth.json\n"]);
});

Deno.test("AuthCommand.login() reads the key from stdin, also in place of a device login", async () => {
  for (const kind of ["key", "device-login"] as const) {
    const { saved, admin } = keeping();
    const { auth } = rig({ ...admin, loginKind: () => Promise.resolve(kind) }, { stdin: "sk-4711\n" });
    assert.equal(await auth.login("zai", { ...FLAGS, keyStdin: true }), 0);
    assert.deepEqual(saved, ["zai=sk-4711"]);
  }
});

Deno.test("AuthCommand.login() wants the name of a provider", async () => {
  const { auth } = rig({ loginNames: () => ["anthropic", "zai"] });
  await assert.rejects(auth.login(undefined, FLAGS), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, /one of anthropic, zai$/);
    return true;
  });
});

Deno.test("AuthCommand.login() shows the code and the page of a device login", async () => {
  const { auth, io } = rig({
    loginKind: () => Promise.resolve("device-login"),
    deviceLogin: (_provider, { domain, onCode }) => {
      onCode({ userCode: "AB\x1b-12", verificationUri: `https://${domain}/login/device` });
      return Promise.resolve("/h/auth.json");
    },
  });
  assert.equal(await auth.login("github-copilot", { ...FLAGS, domain: "company.ghe.com" }), 0);
  assert.match(io.err, /^Open https:\/\/company\.ghe\.com\/login\/device and enter the code AB\\u001b-12\nWaiting…\n/);
  assert.match(io.err, /logged in; .* \/h\/auth\.json\n$/);
});

Deno.test("AuthCommand.login() ends a device login at Ctrl-C", async () => {
  const { auth, io } = rig({
    loginKind: () => Promise.resolve("device-login"),
    deviceLogin: (_provider, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Cancelled("Cancelled")))),
  });
  const running = auth.login("github-copilot", FLAGS);
  const rejected = assert.rejects(running, Cancelled);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  io.interrupt();
  await rejected;
});

Deno.test("AuthCommand.status() shows where keys come from, and what to do about missing ones", async () => {
  const keys: KeyReport[] = [
    KEY,
    { ...KEY, provider: "anthropic", from: "", shown: "", mend: "set ANTHROPIC_API_KEY" },
    { ...KEY, provider: "ollama", need: "optional", from: "", shown: "" },
  ];
  const { auth, io } = rig({ keys: () => Promise.resolve(keys) });
  assert.equal(await auth.status({ output: "text" }), 0);
  assert.deepEqual(io.out.split("\n").map((line) => line.replace(/ +/g, " ")), [
    "zai ••••4711 from auth.json",
    "anthropic missing: set ANTHROPIC_API_KEY",
    "ollama none needed",
    "",
  ]);
  const json = rig({ keys: () => Promise.resolve(keys) });
  await json.auth.status({ output: "json" });
  assert.deepEqual(JSON.parse(json.io.out), keys);
  const none = rig({ keys: () => Promise.resolve([]) });
  await none.auth.status({ output: "text" });
  assert.match(none.io.out, /vis auth login\n$/);
});

Deno.test("AuthCommand.logout() says what it did, and where a key still is", async () => {
  const { auth, io } = rig({
    logout: () => Promise.resolve(true),
    keys: () => Promise.resolve([{ ...KEY, from: "ZAI_API_KEY" }]),
  });
  assert.equal(await auth.logout("zai"), 0);
  assert.equal(io.err, "vis: removed the key of zai\nvis: ZAI_API_KEY still has one\n");
  const none = rig({ logout: () => Promise.resolve(false), keys: () => Promise.resolve([]) });
  await none.auth.logout("zai");
  assert.equal(none.io.err, "vis: no key was kept for zai\n");
});
