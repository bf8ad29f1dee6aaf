import assert from "node:assert/strict";
import type { Services } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { startEngine } from "../../../helpers/engine.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import { engineServices } from "../_engine_services.ts";
import { fakeAdmin } from "../_fake_admin.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

async function tab(words: readonly string[], services: Services = fakeServices()) {
  const io = fakeIo({ args: ["__complete", "--", ...words] });
  assert.equal(await runCli(services, io), 0);
  assert.equal(io.err, "");
  const [paths = "", ...lines] = io.out.trimEnd().split("\n");
  return { paths, values: lines.map((line) => line.split("\t")[0] ?? ""), lines };
}

Deno.test("vis __complete offers commands with their descriptions, also of groups and of help", async () => {
  assert.deepEqual((await tab(["conv"])).values, ["conversations"]);
  assert.match((await tab(["doc"])).lines[0] ?? "", /^doctor\ttest this installation/);
  assert.deepEqual((await tab(["conversations", "re"])).values, ["retry", "rename"]);
  assert.deepEqual((await tab(["help", "conversations", "sh"])).values, ["show"]);
  assert.ok(!(await tab([""])).values.includes("__complete"));
  assert.deepEqual((await tab(["nothing", ""])).values, []);
});

Deno.test("vis __complete offers flags, and the values that a flag has", async () => {
  assert.deepEqual((await tab(["run", "--mod"])).values, ["--model"]);
  assert.deepEqual((await tab(["run", "--output", ""])).values, ["text", "json", "jsonl"]);
  assert.deepEqual((await tab(["run", "--output=j"])).values, ["--output=json", "--output=jsonl"]);
  assert.deepEqual((await tab(["run", "--reasoning", "d"])).values, ["deep"]);
  assert.deepEqual((await tab(["completions", ""])).values, ["bash", "zsh", "fish"]);
  assert.deepEqual((await tab(["run", "--", "--mod"])).values, [], "behind -- stands no flag");
  assert.deepEqual((await tab(["run", "--model", "x", "--outp"])).values, ["--output"]);
});

Deno.test("vis __complete leaves files and folders to the shell", async () => {
  for (const flag of ["--context", "--image", "--schema", "--db"]) {
    assert.equal((await tab(["run", flag, ""])).paths, ":files", flag);
  }
  assert.equal((await tab(["run", "--cwd", ""])).paths, ":folders");
  assert.equal((await tab(["conversations", "import", ""])).paths, ":files");
  assert.equal((await tab(["run", "some words "])).paths, ":none");
});

Deno.test("vis __complete offers stored conversations and variables, as text for a terminal", async () => {
  await using engine = await startEngine([replyJson(["const total = 3"], { final: "It is 3" })], {
    workspace: "/nowhere",
  });
  const { services, requests } = engineServices(engine);
  const where = { title: "Sum\x1b[2J it\nup", channel: "cli", workspace: "/nowhere" };
  const branch = await engine.conversations.create(where);
  await engine.conversations.ask(branch, "sum", { signal: new AbortController().signal, emit: () => {} });
  for (const words of [["conversations", "show", ""], ["run", "--conversation", ""], ["replay", "0"]]) {
    const { lines } = await tab(words, services);
    assert.equal(lines[0], `${branch.conversationId}\tSum\\u001b[2J it up`, words.join(" "));
  }
  assert.ok((await tab(["vars", "to"], services)).values.includes("total"));
  assert.ok((await tab(["vars", "--history", ""], services)).values.includes("total"));
  await tab(["vars", "--cwd", "/elsewhere", "--db", "x.db", ""], services);
  assert.deepEqual([requests.at(-1)?.cwd, requests.at(-1)?.db], ["/elsewhere", "x.db"]);
});

Deno.test("vis __complete offers providers, models, settings and extensions", async () => {
  const key = { provider: "x", title: "X", need: "optional", from: "", shown: "", fix: "" } as const;
  const provider = {
    name: "mine",
    title: "Mine",
    protocol: "p",
    baseUrl: "",
    model: "m",
    root: true,
    key,
    reach: null,
  };
  const model = { contextTokens: null, price: null, reasoning: false, images: false, known: true, root: true };
  const services = fakeServices({
    providerAdmin: () =>
      Promise.resolve(fakeAdmin({
        loginNames: () => ["anthropic", "mistral", "telegram"],
        loginChoices: () =>
          Promise.resolve([
            { name: "mlocal", title: "A server", need: "optional" },
            { name: "mine", title: "Mine", need: "required" },
            { name: "mistral", title: "Mistral", need: "required" },
            { name: "telegram", title: "the token of a bot", need: "required" },
          ]),
        keys: () =>
          Promise.resolve([key, { ...key, provider: "telegram", from: "auth.json" }, { ...key, from: "X_API_KEY" }]),
        providers: () => Promise.resolve({ providers: [provider], problem: "", notes: [] }),
        models: ({ provider }) => {
          const list = { source: "data" as const, detail: "", models: [{ name: "qwen:8b", ...model }] };
          return provider === "gone" ? Promise.reject(new UsageError("Unknown")) : Promise.resolve([
            { ...list, provider: provider ?? "mine" },
          ]);
        },
      })),
    configAdmin: () => {
      const settings = [
        { key: "localServers", doc: "Whether to look", choices: [true, false] },
        { key: "model", doc: "Model used", choices: [] },
      ];
      return Promise.resolve({ ...Object(null), keys: () => Promise.resolve(settings) });
    },
  });
  assert.deepEqual((await tab(["run", "--set", "l"], services)).lines, ["localServers=\tWhether to look"]);
  assert.deepEqual((await tab(["run", "--set=localServers=f"], services)).values, ["--set=localServers=false"]);
  assert.deepEqual((await tab(["run", "--set", "model=q"], services)).values, ["model=qwen:8b"]);
  assert.deepEqual((await tab(["run", "--provider", "m"], services)).values, ["mine", "mlocal", "mistral"]);
  assert.deepEqual((await tab(["run", "--provider", ""], services)).values, [
    "mine",
    "mlocal",
    "mistral",
    "demo",
    "files",
  ]);
  assert.deepEqual((await tab(["auth", "login", "t"], services)).values, ["telegram"]);
  assert.deepEqual((await tab(["auth", "logout", ""], services)).values, ["telegram"]);
  assert.deepEqual((await tab(["auth", "login", "a"], services)).values, ["anthropic"]);
  assert.deepEqual((await tab(["run", "--model", ""], services)).lines, ["qwen:8b\tmine"]);
  assert.deepEqual((await tab(["run", "--model", "mine/qw"], services)).lines, ["mine/qwen:8b\tmine"]);
  assert.deepEqual((await tab(["run", "--model=mine/"], services)).values, ["--model=mine/qwen:8b"]);
  assert.deepEqual((await tab(["run", "--model", "mi"], services)).values, ["mine/qwen:8b"]);
  assert.deepEqual((await tab(["run", "--model", "unused/q"], services)).values, ["unused/qwen:8b"]);
  assert.deepEqual((await tab(["run", "--model", "gone/q"], services)).values, []);
  assert.deepEqual((await tab(["config", "set", "model", "mine/"], services)).values, ["mine/qwen:8b"]);
  assert.deepEqual((await tab(["config", "set", "lo"], services)).lines, ["localServers\tWhether to look"]);
  assert.deepEqual((await tab(["config", "set", "localServers", ""], services)).values, ["true", "false"]);
  assert.deepEqual((await tab(["config", "set", "model", "q"], services)).values, ["qwen:8b"]);
});

Deno.test("vis __complete prints nothing after a fault", async () => {
  const services = fakeServices({ open: () => Promise.reject(new TypeError("a defect")) });
  const { paths, values } = await tab(["conversations", "show", ""], services);
  assert.deepEqual([paths, values], [":none", []]);
});

Deno.test("vis __complete offers commands of extensions behind the program's own, and their flags", async () => {
  const commands = [
    {
      name: "memo",
      doc: "Keeps a note",
      flags: [{ flag: "--user", kind: "boolean" }, { flag: "--tag", kind: "string" }],
    },
    { name: "undo", doc: "The program has one of this name", flags: [] },
  ];
  const services = fakeServices({
    extensionAdmin: () => Promise.resolve({ ...Object(null), commands: () => Promise.resolve(commands) }),
  });
  assert.deepEqual((await tab(["me"], services)).lines, ["memo\tKeeps a note"]);
  assert.deepEqual((await tab(["help", "me"], services)).values, ["memo"]);
  assert.equal((await tab(["und"], services)).values.length, 1);
  assert.deepEqual((await tab(["memo", "--"], services)).lines, ["--user\t", "--tag\ta string"]);
  assert.deepEqual(await tab(["memo", ""], services), { paths: ":files", values: [], lines: [] });
  assert.deepEqual((await tab(["unknown", "--"], services)).values, []);
  const broken = fakeServices({ extensionAdmin: () => Promise.reject(new TypeError("a defect")) });
  assert.deepEqual((await tab(["doc"], broken)).values, ["doctor"]);
});
