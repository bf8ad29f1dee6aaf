import assert from "node:assert/strict";
import type { ConfigAdmin, OpenRequest } from "../../../../src/channels/channel.ts";
import { buildProgram, runCli } from "../../../../src/channels/cli/cli.ts";
import { ConfigError } from "../../../../src/domain/errors.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const layerOf = (given: readonly string[], cwd = "") =>
  ({ layer: "run", values: { given, cwd }, where: String }) as const;

async function run(...flags: string[]): Promise<{ readonly asked: OpenRequest | null; readonly err: string }> {
  let asked: OpenRequest | null = null;
  const services = fakeServices({
    configAdmin: ({ cwd }) => {
      const layer = (given: readonly string[]) => Promise.resolve(layerOf(given, cwd));
      return Promise.resolve({ layer } as Partial<ConfigAdmin> as ConfigAdmin);
    },
    open: (request) => {
      asked = request;
      return Promise.reject(new ConfigError("enough"));
    },
  });
  const io = fakeIo({ args: ["run", ...flags, "x"] });
  await runCli(services, io);
  return { asked, err: io.err };
}

Deno.test("vis run reads times and amounts as people write them", async () => {
  const times: [string, number][] = [["90", 90_000], ["90s", 90_000], ["1.5m", 90_000], ["2h", 7_200_000], ["5ms", 5]];
  for (const [told, ms] of times) assert.equal((await run("--timeout", told)).asked?.timeoutMs, ms, told);
  for (const [told, usd] of [["0.5", 0.5], ["$2", 2], [".25", 0.25]] as const) {
    assert.equal((await run("--max-cost", told)).asked?.maxCostUsd, usd, told);
  }
});

Deno.test("vis run refuses invalid times, amounts and levels before anything is opened", async () => {
  const cases: [string, string, RegExp][] = [
    ...["0", "-1s", "5x", "", "1d"].map((
      told,
    ): [string, string, RegExp] => ["--timeout", told, /a duration, such as 90s/]),
    ...["0", "-1", "free", "1e400", "0x1"].map((
      told,
    ): [string, string, RegExp] => ["--max-cost", told, /amount in US/]),
    ["--reasoning", "hard", /quick, balanced, deep/],
  ];
  for (const [flag, told, says] of cases) {
    const { asked, err } = await run(`${flag}=${told}`);
    assert.equal(asked, null, `${flag} ${told}`);
    assert.match(err, says, `${flag} ${told}`);
  }
});

Deno.test("vis run gathers extensions to load and to leave out, each for itself", async () => {
  const { asked } = await run("--extension", "a", "--no-extension", "web", "--extension", "b", "--no-extension", "fs");
  assert.deepEqual([asked?.extension, asked?.noExtension], [["a", "b"], ["web", "fs"]]);
  assert.deepEqual((await run()).asked?.noExtension, []);
  assert.equal((await run("--reasoning", "deep")).asked?.reasoning, "deep");
});

Deno.test("vis run refuses options whose value is empty, as of a variable of the shell that is not set", async () => {
  for (
    const flag of ["--conversation", "--fork", "--model", "--provider", "--db", "--cwd", "--context", "--extension"]
  ) {
    const { asked, err } = await run(flag, "");
    assert.equal(asked, null, flag);
    assert.match(err, new RegExp(`^vis: option '${flag} <.+>' argument '' is invalid. Write a value\n`), flag);
  }
});

Deno.test("commands that read settings pass the checked settings of --set on", async () => {
  const { asked } = await run("--set", "model=m", "--set=web.hosts=a", "--cwd", "/w");
  assert.deepEqual(asked?.set, layerOf(["model=m", "web.hosts=a"], "/w"));
  assert.equal((await run()).asked?.set, undefined);
  const all = buildProgram({ services: fakeServices(), io: fakeIo(), finish: () => {} }).commands;
  const having = all.filter(({ options }) => options.some(({ long }) => long === "--set")).map((one) => one.name());
  assert.deepEqual(having.sort(), ["acp", "doctor", "mcp", "prompt", "review", "run", "serve", "telegram"]);
});

Deno.test("vis conversations retry has the options that a refused call of a retry names", () => {
  const all = buildProgram({ services: fakeServices(), io: fakeIo(), finish: () => {} }).commands;
  const retry = all.find((one) => one.name() === "conversations")?.commands.find((one) => one.name() === "retry");
  const names = retry?.options.map(({ long }) => long) ?? [];
  assert.deepEqual(["--set", "--root"].filter((name) => !names.includes(name)), []);
});

Deno.test("flags of similar programs for settings and approvals name --set", async () => {
  const cases: [readonly string[], RegExp][] = [
    [
      ["-c", "model=m", "fix it"],
      /^vis: unknown setting '-c model=m'\n\(Vis has --set KEY=VALUE; -c continues the latest/,
    ],
    [["--config", "model=m"], /\(Vis has --set KEY=VALUE, a setting for this run\)/],
    [["--allowedTools", "Bash"], /--set web\.hosts=example\.org lets the web functions reach a host/],
    [["--disallowedTools", "Bash"], /--set extensions\.deny=NAME/],
  ];
  for (const [flags, says] of cases) {
    const { asked, err } = await run(...flags);
    assert.equal(asked, null, flags.join(" "));
    assert.match(err, says);
  }
});
