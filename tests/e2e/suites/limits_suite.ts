import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { client, urlOf } from "../helpers/server.ts";
import { descendants, runs } from "../helpers/processes.ts";
import { launched, together } from "../helpers/together.ts";
import { type Ran, type Running, User } from "../helpers/user.ts";

const LOOKS = replyJson("1 + 1");
const SLEEPS = "await new Promise((done) => setTimeout(done, 60_000))";
const PRICED = { VIS_BASE_URL: "", VIS_MODEL: "" };
const TOKEN = "a-token-of-this-test";

interface Served {
  readonly user: User;
  readonly running: Running;
  readonly ask: ReturnType<typeof client>;
}

/** Runs the program with limits of the settings. docs/generated/configuration.md describes the effect of each. */
export function limitsSuite(launcher: Launcher): void {
  const withUser = (config: object, model: MockOptions, work: (user: User) => Promise<void>) => async () => {
    await using user = await User.make(launcher, model);
    await Deno.mkdir(user.path("vis"));
    const models = [{ name: "mock-1", price: { input: 100, output: 100 } }];
    const providers = [{ name: "priced", baseUrl: user.mock.baseUrl, keyEnv: "VIS_API_KEY", models }];
    await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ providers, ...config }));
    await work(user);
  };
  /** Asserts that `vis run` ends for this reason, after this number of calls of the model. */
  const ends = (config: object, reply: string, wanted: { reason: string; calls: number }) =>
    withUser(config, { reply }, async (user) => {
      const { stdout, stderr } = await user.run(["run", "x", "--output", "json"], { env: PRICED });
      assert.equal(JSON.parse(stdout).reason, wanted.reason, stderr);
      assert.equal(user.mock.requests.length, wanted.calls);
    });
  const says = (config: object, reply: string, told: readonly RegExp[]) =>
    withUser(config, { reply: [reply, final("At last")] }, async (user) => {
      answered(await user.run(["run", "x"], { env: PRICED }));
      const context = user.mock.requests[1]?.context ?? "";
      for (const one of told) assert.match(context, one);
    });
  const serving = (config: object, model: MockOptions, work: (served: Served) => Promise<void>) =>
    withUser(config, model, async (user) => {
      const running = user.start(["serve", "--port", "0"], { env: { ...PRICED, VIS_TOKEN: TOKEN } });
      await work({ user, running, ask: client(await urlOf(running), TOKEN) });
      running.kill("SIGTERM");
      assert.equal((await running.ended).code, 0);
    });

  launched(launcher, "limits of the settings are kept: queries", async (t) => {
    await together(t, {
      // The first look is new and adds four. The same look again adds none.
      "budget.iterations": ends({ budget: { iterations: 2 } }, LOOKS, { reason: "max_iterations", calls: 7 }),
      "budget.ceiling": ends(
        { budget: { iterations: 1, ceiling: 2 } },
        replyJson("await requestMoreIterations(10)"),
        { reason: "max_iterations", calls: 3 },
      ),
      "budget.tokens": ends({ budget: { tokens: 10 } }, LOOKS, { reason: "limit_tokens", calls: 1 }),
      "budget.costUsd": ends({ budget: { costUsd: 0.01 } }, LOOKS, { reason: "limit_cost", calls: 1 }),
      "budget.wallMs": withUser({ budget: { wallMs: 2_000 } }, { reply: replyJson(SLEEPS) }, async (user) => {
        const { stdout, stderr } = await user.run(["run", "x", "--output", "json"], { env: PRICED });
        assert.equal(JSON.parse(stdout).reason, "limit_time", stderr);
        // On a busy machine, it may end before the model was called.
        assert.ok(user.mock.requests.length <= 1);
      }),
      "budget.subcalls": withUser(
        { budget: { subcalls: 2 } },
        {
          handler: ({ context, texts }) =>
            texts.at(-1)?.startsWith("say")
              ? "said"
              : /reached its limit of 2 for both together/.test(context)
              ? final("At last")
              : replyJson("for (let i = 0; i < 3; i++) await rlm.ask('say ' + i)"),
        },
        async (user) => {
          answered(await user.run(["run", "x"], { env: PRICED }));
          assert.equal(user.mock.requests.length, 4);
        },
      ),
      "retry.patienceMs": serving(
        { retry: { patienceMs: 0 } },
        {
          reply: [
            final("At last"),
            { status: 500 },
            { status: 500 },
            { status: 500 },
          ],
        },
        async ({ ask, user }) => {
          const { path } = await conversation(ask);
          assert.equal((await (await ask(path, { request: "x" })).json()).answer, "At last");
          assert.equal((await (await ask(path, { request: "x" })).json()).reason, "provider");
          assert.equal(user.mock.requests.length, 4);
        },
      ),
    });
  });

  launched(launcher, "limits of the settings are kept: blocks", async (t) => {
    const takes = (ms: number, timeMs?: number) => ({
      expr: `await new Promise((done) => setTimeout(done, ${ms})); 'over after ${ms}'`,
      timeMs,
    });
    const bomb = "const bomb = []; for (;;) bomb.push({ a: [bomb.length], b: 'x' + bomb.length })";
    await together(t, {
      "sandbox.timeoutMinMs, sandbox.timeoutMs and sandbox.timeoutMaxMs": says(
        { sandbox: { timeoutMinMs: 2_500, timeoutMs: 3_000, timeoutMaxMs: 3_500 } },
        JSON.stringify({ code: [takes(50, 1), takes(60_000), takes(60_000, 600_000)] }),
        [/'over after 50'.* → "over after 50"/, /Timeout \(3s\)/, /Timeout \(3\.5s\)/],
      ),
      "budget.depth and sandbox.memoryMiB": says(
        { budget: { depth: 0 }, sandbox: { memoryMiB: 64 } },
        JSON.stringify({ code: [{ expr: "await rlm.run('x')" }, { expr: bomb, timeMs: 120_000 }] }),
        [/at depth 1: the limit is 0/, /OUT OF MEMORY/],
      ),
    });
  });

  launched(launcher, "limits of the settings are kept: what a model is sent", async (t) => {
    const part = (name: string, context: string): string =>
      new RegExp(`<${name}>([^]*)</${name}>`).exec(context)?.[1] ?? assert.fail(context);
    const short = (most: number, text: string): void => assert.ok(text.length <= most, `${text.length}: ${text}`);
    const variables = (count: number): string =>
      Array.from({ length: count }, (_, at) => `const v${at} = "${"v".repeat(100 + at)}"`).join("\n");
    const long = [
      "'p'.repeat(5_000)",
      "print('o'.repeat(5_000))",
      "console.error('e'.repeat(5_000))",
      "throw new Error('t'.repeat(5_000))",
      variables(60),
      ...Array.from(
        { length: 30 },
        (_, at) => `await Promise.resolve(); setTimeout(() => { throw new Error("n${at}".repeat(50)) })`,
      ),
    ];
    const attempts = Array.from({ length: 7 }, (_, at) => replyJson(`'attempt ${at}'.length // ${"c".repeat(60)}`));
    await together(t, {
      "context.earlierChars, context.previewChars, context.stdoutChars, context.stderrChars, context.errorChars, context.thinkingChars, context.indexChars, context.notesChars, context.attempts and context.attemptsChars":
        withUser(
          {
            budget: { iterations: 9 },
            context: {
              earlierChars: 200,
              previewChars: 200,
              stdoutChars: 200,
              stderrChars: 200,
              errorChars: 200,
              thinkingChars: 200,
              indexChars: 400,
              notesChars: 300,
              attempts: 2,
              attemptsChars: 300,
            },
          },
          { reply: [replyJson(long, { thinking: "h".repeat(5_000) }), ...attempts, final("At last")] },
          async (user) => {
            answered(await user.run(["run", "x"], { env: PRICED }));
            const context = user.mock.requests[1]?.context ?? "";
            const journal = part("journal", context);
            for (const letter of ["p", "o", "e", "t"]) {
              const shown = journal.match(new RegExp(`${letter}{20,}`, "g"))?.join("") ?? assert.fail(journal);
              assert.ok(shown.length <= 200, `${shown.length} of ${letter}`);
            }
            short(400, part("prior_thinking", context));
            short(600, part("var_index", context));
            short(800, part("notes", context));
            const last = part("attempts", user.mock.requests.at(-1)?.context ?? "");
            short(400, last);
            short(600, part("earlier", user.mock.requests.at(-1)?.context ?? ""));
            assert.equal(last.match(/'attempt \d'/g)?.length, 2, last);
          },
        ),
      "context.journalChars, context.indexRows and context.inlineChars": withUser(
        { context: { journalChars: 2_000, indexRows: 3, inlineChars: 30 } },
        {
          reply: [
            replyJson([...Array.from({ length: 8 }, (_, at) => `"${at}".repeat(900)`), variables(20)]),
            final("At last"),
          ],
        },
        async (user) => {
          answered(await user.run(["run", "x"], { env: PRICED }));
          const context = user.mock.requests[1]?.context ?? "";
          short(2_600, part("journal", context));
          const index = part("var_index", context);
          assert.equal(index.match(/const v\d+/g)?.length, 3, index);
          assert.doesNotMatch(index, /v{100}/);
        },
      ),
    });
  });

  launched(launcher, "limits of the settings are kept: clients of vis serve", async (t) => {
    await together(t, {
      "server.bodyMiB, sandbox.idleMs, server.quota.queriesPerDay, server.requestsPerMinute and server.burst": serving(
        {
          server: { requestsPerMinute: 1, burst: 8, bodyMiB: 1, quota: { queriesPerDay: 1 } },
          sandbox: { idleMs: 500 },
        },
        { reply: replyJson("1", { final: "At last" }) },
        async ({ ask, running }) => {
          const large = await ask("/api/v1/conversations", { request: "x".repeat(2 << 20) });
          assert.equal(large.status, 413);
          assert.equal((await messaged(ask)).status, 200);
          await running.until("end of the sandbox", () => descendants(running.pid).filter(runs).length === 0);
          await refused(await messaged(ask), /used its limit of 1 request for today/);
          // Some of the budget may have returned meanwhile, but not this much.
          let allowed = 0;
          while ((await ask("/api/v1/conversations")).status === 200) allowed++;
          assert.ok(allowed >= 3 && allowed < 8, `${allowed} requests`);
          await refused(
            await ask("/api/v1/conversations"),
            /^Cannot serve the request: this address exceeds its limit for requests \(1 a minute/,
          );
        },
      ),
      "server.quota.concurrent and server.quota.costUsdPerDay": serving(
        { server: { quota: { concurrent: 1, costUsdPerDay: 0.01 } } },
        { handler: ({ texts }) => texts[1]?.includes("wait") ? { fault: "no_token" } : final("At last") },
        async ({ ask }) => {
          const { path } = await conversation(ask);
          const first = await ask(path, { request: "wait" }, { accept: "text/event-stream" });
          await refused(await messaged(ask), /already runs 1 request, its limit/);
          await ask(path.replace(/messages$/, "cancel"), {});
          await first.text();
          // A sent call counts, though no reply arrived.
          await refused(await messaged(ask), /spent its limit of \$0\.01 for today/);
        },
      ),
    });
  });
}

async function conversation(ask: ReturnType<typeof client>): Promise<{ readonly path: string }> {
  const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
  return { path: `/api/v1/conversations/${conversationId}/messages` };
}

async function refused(response: Response, says: RegExp): Promise<void> {
  assert.equal(response.status, 429);
  assert.match((await response.json()).detail, says);
}

async function messaged(ask: ReturnType<typeof client>): Promise<Response> {
  return await ask((await conversation(ask)).path, { request: "x" });
}

function answered({ code, stdout, stderr }: Ran): void {
  assert.deepEqual([code, stdout], [0, "At last\n"], stderr);
}
