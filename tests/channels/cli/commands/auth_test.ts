import assert from "node:assert/strict";
import type { Io, ProviderAdmin } from "../../../../src/channels/channel.ts";
import { authLogin, authLogout, authStatus } from "../../../../src/channels/cli/commands/auth.ts";
import { Cancelled, UsageError } from "../../../../src/domain/errors.ts";
import type { KeyReport, KeyTrial, LoginChoice, ProviderReport } from "../../../../src/domain/admin_reports.ts";
import { fakeAdmin } from "../_fake_admin.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const FLAGS = { keyStdin: false, check: true, domain: "github.com" };
const KEY: KeyReport = {
  provider: "zai",
  title: "Z.ai",
  need: "required",
  from: "auth.json",
  shown: "••••4711",
  fix: "",
};

function rig(admin: Partial<ProviderAdmin>, io: Partial<Io> & { readonly stdin?: string } = {}) {
  const fake = fakeIo(io);
  const services = fakeServices({ providerAdmin: () => Promise.resolve(fakeAdmin(admin)) });
  const auth = {
    login: (name: string | undefined, flags: typeof FLAGS) => authLogin(name, { services, io: fake, flags }),
    status: (flags: { output: "text" | "json" }) => authStatus({ services, io: fake, flags }),
    logout: (name: string) => authLogout(name, { services, io: fake }),
  };
  return { io: fake, auth };
}

function keeping(trials: readonly KeyTrial[] = [{ state: "works", found: "it offers 2 models" }]) {
  const saved: string[] = [];
  const left = [...trials];
  const admin: Partial<ProviderAdmin> = {
    tryKey: () => Promise.resolve(left.shift() ?? assert.fail("tried once too often")),
    providers: () => Promise.resolve({ providers: [], problem: "", notes: [] }),
    loginKind: () => Promise.resolve("key"),
    keys: () => Promise.resolve([]),
    saveKey: (provider, key) => {
      saved.push(`${provider}=${key}`);
      return Promise.resolve("/h/auth.json");
    },
  };
  return { saved, admin };
}

Deno.test("authLogin() asks for the key on the terminal and prints none of it", async () => {
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
  assert.deepEqual([io.out, io.err], [
    "",
    'vis: zai accepted the key: it offers 2 models\nvis: saved the key of zai in /h/auth.json\nvis: next: vis run "What is in this folder?"\n',
  ]);
});

Deno.test("authLogin() asks again for a refused key, and keeps a key that cannot be tried", async () => {
  const no: KeyTrial = { state: "refused", found: "status 401" };
  const { saved, admin } = keeping([no, { state: "unknown", found: "no connection" }]);
  const keys = ["sk-wrong", "sk-right"];
  const { auth, io } = rig(admin, { askSecret: () => Promise.resolve(keys.shift() ?? "") });
  assert.equal(await auth.login("zai", FLAGS), 0);
  assert.deepEqual(saved, ["zai=sk-right"]);
  assert.match(io.err, /zai rejected the key: status 401\nvis: Vis could not verify the key. no connection\n/);
  const never = keeping([no, no, no]);
  const stubborn = rig(never.admin, { askSecret: () => Promise.resolve("sk-wrong") });
  await assert.rejects(stubborn.auth.login("zai", FLAGS), /zai rejected it \(status 401\)/);
  assert.deepEqual(never.saved, []);
});

Deno.test("authLogin() tries a piped key before it saves it, unless asked not to", async () => {
  const piped = { ...FLAGS, keyStdin: true };
  const no: KeyTrial = { state: "refused", found: "status 401" };
  const refused = keeping([no]);
  await assert.rejects(rig(refused.admin, { stdin: "sk-wrong\n" }).auth.login("zai", piped), {
    name: "ConfigError",
    message: "Cannot save the key: zai rejected it (status 401); --no-check saves the key without asking the provider",
  });
  assert.deepEqual(refused.saved, []);
  const works = keeping();
  const { auth, io } = rig(works.admin, { stdin: "sk-right\n" });
  assert.equal(await auth.login("zai", piped), 0);
  assert.equal(
    io.err,
    'vis: zai accepted the key: it offers 2 models\nvis: saved the key of zai in /h/auth.json\nvis: next: vis run "What is in this folder?"\n',
  );
  const unknown = keeping([{ state: "unknown", found: "no connection" }]);
  const offline = rig(unknown.admin, { stdin: "sk-later\n" });
  assert.equal(await offline.auth.login("zai", piped), 0);
  assert.match(offline.io.err, /^vis: Vis could not verify the key. no connection\nvis: saved/);
  const untried = keeping([]);
  assert.equal(await rig(untried.admin, { stdin: "sk-any\n" }).auth.login("zai", { ...piped, check: false }), 0);
  assert.deepEqual([works.saved, unknown.saved, untried.saved], [["zai=sk-right"], ["zai=sk-later"], ["zai=sk-any"]]);
});

Deno.test("authLogin() ends with the next command and its model", async () => {
  const providers = [{ name: "openai", root: true, model: "usual-1" } as ProviderReport];
  const nextOf = async (trial: KeyTrial): Promise<string | undefined> => {
    const { admin } = keeping([trial]);
    const known = { ...admin, providers: () => Promise.resolve({ providers, problem: "", notes: [] }) };
    const { auth, io } = rig(known, { stdin: "sk-4711" });
    assert.equal(await auth.login("openai", { ...FLAGS, keyStdin: true }), 0);
    return io.err.split("\n").at(-2);
  };
  assert.equal(
    await nextOf({ state: "works", found: "" }),
    'vis: next: vis run "What is in this folder?" (the model is usual-1)',
  );
  assert.equal(
    await nextOf({ state: "works", found: "", model: "other-2" }),
    'vis: next: vis run --model other-2 "What is in this folder?" (the model is other-2)',
  );
});

Deno.test("authLogin() warns that a variable is used instead of the saved key", async () => {
  const { admin } = keeping();
  const { auth, io } = rig({ ...admin, keys: () => Promise.resolve([{ ...KEY, from: "ZAI_API_KEY" }]) }, {
    stdin: "sk-4711\n",
  });
  assert.equal(await auth.login("zai", { ...FLAGS, keyStdin: true }), 0);
  assert.match(
    io.err,
    /saved the key of zai.*\nvis: ZAI_API_KEY is set, and Vis uses it instead of the saved key; unset the variable/,
  );
});

Deno.test("authLogin() offers a choice on a terminal, and explains how to use another provider than the first", async () => {
  const { saved, admin } = keeping();
  const choices: readonly LoginChoice[] = [
    { name: "ollama", title: "Ollama", need: "optional" },
    { name: "zai", title: "Z.ai", need: "required" },
  ];
  const known = ["other", "zai", "ollama"].map((name) => ({ name, root: name === "other" }) as ProviderReport);
  const both = {
    ...admin,
    loginChoices: () => Promise.resolve(choices),
    providers: () => Promise.resolve({ providers: known, problem: "", notes: [] }),
  };
  const at = (answer: string) => ({
    stdinIsTerminal: true,
    stderrIsTerminal: true,
    askLine: () => Promise.resolve(answer),
    askSecret: () => Promise.resolve("sk-4711"),
  });
  const key = rig(both, at("2"));
  assert.equal(await key.auth.login(undefined, FLAGS), 0);
  assert.deepEqual(saved, ["zai=sk-4711"]);
  assert.match(
    key.io.err,
    /vis run --provider zai "[^"]+" \(other is used by default; to change that: vis config set provider zai\)\n$/,
  );
  const local = rig(both, at("ollama"));
  assert.equal(await local.auth.login(undefined, FLAGS), 0);
  assert.match(local.io.err, /vis: ollama needs no key\nvis: next: vis run --provider ollama /);
  assert.equal(saved.length, 1);
});

Deno.test("authLogin() warns that a base URL keeps requests from the provider", async () => {
  const { admin } = keeping();
  const services = fakeServices({
    providerAdmin: ({ provider }) =>
      Promise.resolve(fakeAdmin({
        ...admin,
        providers: () => {
          const own = { name: "zai", baseUrl: provider === undefined ? "https://z" : "http://here", root: false };
          const providers = [{ name: "here", baseUrl: "http://here", root: true }, own] as ProviderReport[];
          return Promise.resolve({ providers, problem: "", notes: [] });
        },
      })),
  });
  const io = fakeIo({ askSecret: () => Promise.resolve("sk-4711") });
  assert.equal(await authLogin("zai", { services, io, flags: FLAGS }), 0);
  assert.match(
    io.err,
    /\nvis: VIS_BASE_URL or baseUrl is set, so model calls go to here; unset the address to use zai\n$/,
  );
});

Deno.test("authLogin() adds another server by that word, on a terminal alone", async () => {
  const { admin } = keeping();
  const named = { ...admin, loginNames: () => ["zai"] };
  for (const keyStdin of [true, false]) {
    const { auth } = rig(named, { stdin: "sk-4711\n" });
    await assert.rejects(
      auth.login("other", { ...FLAGS, keyStdin }),
      keyStdin
        ? /^UsageError: Cannot add a server: --key-stdin reads only a key; leave out --key-stdin$/
        : /^UsageError: Cannot add a server: Vis has no terminal to ask for its address/,
    );
  }
  const answers = ["http://127.0.0.1:1/v1"];
  const { auth, io } = rig({
    ...named,
    tryServer: () => Promise.resolve({ models: ["m"], problem: "", refused: false }),
    addServer: ({ baseUrl, model }) => Promise.resolve(`${baseUrl} ${model}`),
  }, {
    stdinIsTerminal: true,
    stderrIsTerminal: true,
    askLine: () => Promise.resolve(answers.shift() ?? ""),
    askSecret: () => Promise.resolve(""),
  });
  assert.equal(await auth.login("other", FLAGS), 0);
  assert.match(io.err, /^vis: added http:\/\/127\.0\.0\.1:1\/v1 m\nvis: next: vis run "/);
});

Deno.test("authLogin() reads the key from stdin, also in place of a device login", async () => {
  for (const kind of ["key", "device-login"] as const) {
    const { saved, admin } = keeping();
    const { auth } = rig({ ...admin, loginKind: () => Promise.resolve(kind) }, { stdin: "sk-4711\n" });
    assert.equal(await auth.login("zai", { ...FLAGS, keyStdin: true }), 0);
    assert.deepEqual(saved, ["zai=sk-4711"]);
  }
});

Deno.test("authLogin() wants the name of a provider", async () => {
  const { auth } = rig({ loginNames: () => ["anthropic", "zai"] });
  await assert.rejects(auth.login(undefined, FLAGS), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, /one of anthropic, zai$/);
    return true;
  });
});

Deno.test("authLogin() shows the code and the page of a device login", async () => {
  const { auth, io } = rig({
    loginKind: () => Promise.resolve("device-login"),
    providers: () => Promise.resolve({ providers: [], problem: "", notes: [] }),
    deviceLogin: (_provider, { domain, onCode }) => {
      onCode({ userCode: "AB\x1b-12", verificationUri: `https://${domain}/login/device` });
      return Promise.resolve("/h/auth.json");
    },
  });
  assert.equal(await auth.login("github-copilot", { ...FLAGS, domain: "company.ghe.com" }), 0);
  assert.match(io.err, /^Open https:\/\/company\.ghe\.com\/login\/device and enter the code AB\\u001b-12\nWaiting…\n/);
  assert.match(io.err, /logged in to github-copilot; .* \/h\/auth\.json\nvis: next: vis run /);
});

Deno.test("authLogin() ends a device login at Ctrl-C", async () => {
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

Deno.test("authStatus() shows the source of keys, and a remedy for missing ones", async () => {
  const keys: KeyReport[] = [
    KEY,
    { ...KEY, provider: "anthropic", from: "", shown: "", fix: "set ANTHROPIC_API_KEY" },
    { ...KEY, provider: "ollama", need: "optional", from: "", shown: "" },
  ];
  const { auth, io } = rig({ keys: () => Promise.resolve(keys) });
  assert.equal(await auth.status({ output: "text" }), 0);
  assert.deepEqual(io.out.split("\n").map((line) => line.replace(/ +/g, " ")), [
    "zai ••••4711 from auth.json",
    "anthropic missing: set ANTHROPIC_API_KEY",
    "ollama not needed",
    "",
  ]);
  const json = rig({ keys: () => Promise.resolve(keys) });
  await json.auth.status({ output: "json" });
  assert.deepEqual(JSON.parse(json.io.out), keys);
  const none = rig({ keys: () => Promise.resolve([]) });
  await none.auth.status({ output: "text" });
  assert.match(none.io.out, /vis auth login\n$/);
});

Deno.test("authLogout() reports its work, and the place of a remaining key", async () => {
  const { auth, io } = rig({
    logout: () => Promise.resolve(true),
    keys: () => Promise.resolve([{ ...KEY, from: "ZAI_API_KEY" }]),
  });
  assert.equal(await auth.logout("zai"), 0);
  assert.equal(io.err, "vis: deleted the saved key of zai\nvis: a key is still set in ZAI_API_KEY\n");
  const none = rig({ logout: () => Promise.resolve(false), keys: () => Promise.resolve([]) });
  await none.auth.logout("zai");
  assert.equal(none.io.err, "vis: no key is saved for zai\n");
});

Deno.test("authLogin() names the page on which a key is made", async () => {
  const { admin } = keeping();
  const { auth, io } = rig({ ...admin, keyPage: () => "https://zai.example/keys" }, {
    askSecret: () => Promise.resolve("sk-4711"),
  });
  await auth.login("zai", FLAGS);
  assert.match(io.err, /^Create a key at https:\/\/zai\.example\/keys\n/);
});

Deno.test("authLogin() adds another server with its address, key and model, and names the next step", async () => {
  const added: unknown[] = [];
  const answers = ["other", "127.0.0.1", "http://127.0.0.1:8080/v1/", "m-22", "m-2"];
  const keys = ["", "wrong", "right"];
  const { auth, io } = rig({
    loginChoices: () => Promise.resolve([]),
    tryServer: ({ key }) => Promise.resolve({ models: ["m-1", "m-2"], problem: "", refused: key !== "right" }),
    addServer: (server) => Promise.resolve(`${added.push(server) && "127.0.0.1-8080"}`),
    providers: () => Promise.resolve({ providers: [], problem: "", notes: [] }),
  }, {
    stdinIsTerminal: true,
    stderrIsTerminal: true,
    askLine: () => Promise.resolve(answers.shift() ?? ""),
    askSecret: () => Promise.resolve(keys.shift() ?? ""),
  });
  assert.equal(await auth.login(undefined, FLAGS), 0);
  assert.deepEqual(added, [{ baseUrl: "http://127.0.0.1:8080/v1", key: "right", model: "m-2" }]);
  assert.match(io.err, /vis: the server needs a key\nvis: the server rejected this key\n/);
  assert.match(io.err, /other {2}another OpenAI-compatible server\n[^]*an address starts with http/);
  assert.match(
    io.err,
    /It offers m-1, m-2\nvis: the server lists no m-22; did you mean m-2\? To keep it, write it again\nvis: added 127\.0\.0\.1-8080\nvis: next: vis run "/,
  );
});

Deno.test("authLogin() does not add a server that rejected three keys", async () => {
  const added: unknown[] = [];
  const { auth } = rig({
    loginChoices: () => Promise.resolve([]),
    tryServer: () => Promise.resolve({ models: [], problem: "status 401", refused: true }),
    addServer: (server) => Promise.resolve(`${added.push(server)}`),
  }, {
    stdinIsTerminal: true,
    stderrIsTerminal: true,
    askLine: (text) => Promise.resolve(text.startsWith("Address") ? "http://127.0.0.1:8080/v1" : "other"),
    askSecret: () => Promise.resolve("wrong"),
  });
  await assert.rejects(auth.login(undefined, FLAGS), {
    message:
      "Cannot add the server http://127.0.0.1:8080/v1: it needs a key, and 3 tries had no valid one; create a key there, and " +
      "start again",
  });
  assert.deepEqual(added, []);
});

Deno.test("authLogin() explains how to start a server that does not run", async () => {
  const choice = { name: "ollama", title: "Ollama, not found", need: "optional", start: "run: serve" };
  const { auth } = rig({ loginChoices: () => Promise.resolve([choice as LoginChoice]) }, {
    stdinIsTerminal: true,
    stderrIsTerminal: true,
    askLine: () => Promise.resolve("ollama"),
  });
  await assert.rejects(
    auth.login(undefined, FLAGS),
    /Cannot use ollama: Vis did not find the server; run: serve, then log in again/,
  );
});
