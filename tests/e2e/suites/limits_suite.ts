import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { client, urlOf } from "../helpers/server.ts";
import { descendants, runs } from "../helpers/processes.ts";
import { launched, together } from "../helpers/together.ts";
import { type Ran, User } from "../helpers/user.ts";

const LOOKS = replyJson("1 + 1");
const SLEEPS = "await new Promise((done) => setTimeout(done, 60_000))";
/** The provider of the settings, whose model has a price. */
const PRICED = { VIS_BASE_URL: "", VIS_MODEL: "" };
const TOKEN = "a-token-of-this-test";

/** Runs of the program with limits of the settings, by the settings; docs/limits.md says what happens at each. */
export function limitsSuite(launcher: Launcher): void {
  const withUser = (config: object, model: MockOptions, work: (user: User) => Promise<void>) => async () => {
    await using user = await User.make(launcher, model);
    await Deno.mkdir(user.path("vis"));
    const models = [{ name: "mock-1", price: { input: 100, output: 100 } }];
    const providers = [{ name: "priced", baseUrl: user.mock.baseUrl, keyEnv: "VIS_API_KEY", models }];
    await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ providers, ...config }));
    await work(user);
  };
  /** `vis run` ends for this reason, after so many calls of the model. */
  const ends = (config: object, reply: string, wanted: { reason: string; calls: number }) =>
    withUser(config, { reply }, async (user) => {
      const { stdout, stderr } = await user.run(["run", "x", "--output", "json"], { env: PRICED });
      assert.equal(JSON.parse(stdout).reason, wanted.reason, stderr);
      assert.equal(user.mock.requests.length, wanted.calls);
    });
  /** The second context after one reply says this. */
  const says = (config: object, reply: string, told: RegExp | readonly RegExp[]) =>
    withUser(config, { reply: [reply, final("At last")] }, async (user) => {
      answered(await user.run(["run", "x"], { env: PRICED }));
      const context = user.mock.requests[1]?.context ?? "";
      for (const one of [told].flat()) assert.match(context, one);
    });
  const serving = (config: object, model: MockOptions, work: (ask: ReturnType<typeof client>) => Promise<void>) =>
    withUser({ server: { port: 0, ...config } }, model, async (user) => {
      const running = user.start(["serve"], { env: { ...PRICED, VIS_TOKEN: TOKEN } });
      await work(client(await urlOf(running), TOKEN));
      running.kill("SIGTERM");
      await running.ended;
    });

  launched(launcher, "limits of the settings are kept: queries", async (t) => {
    await together(t, {
      "budget.iterations": ends({ budget: { iterations: 2 } }, LOOKS, { reason: "max_iterations", calls: 3 }),
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
        // On a busy machine it may be over before the model was called.
        assert.ok(user.mock.requests.length <= 1);
      }),
      "budget.subcalls": withUser(
        { budget: { subcalls: 2 } },
        {
          handler: ({ context, texts }) =>
            texts.at(-1)?.startsWith("say")
              ? "said"
              : /limit of 2 sub-calls is reached/.test(context)
              ? final("At last")
              : replyJson("for (let i = 0; i < 3; i++) await rlm.ask('say ' + i)"),
        },
        async (user) => {
          answered(await user.run(["run", "x"], { env: PRICED }));
          assert.equal(user.mock.requests.length, 4);
        },
      ),
      "budget.depth": says({ budget: { depth: 0 } }, replyJson("await rlm.run('x')"), /at depth 1: the limit is 0/),
      "autoForget.afterQueries": withUser(
        { autoForget: { afterQueries: 1 } },
        { reply: [replyJson("const gone = 1", { final: "At last" }), final("At last"), final("At last")] },
        async (user) => {
          answered(await user.run(["run", "x"], { env: PRICED }));
          answered(await user.run(["run", "-c", "y"], { env: PRICED }));
          answered(await user.run(["run", "-c", "z"], { env: PRICED }));
          assert.match(user.mock.requests.at(-1)?.context ?? "", /^forgotten: gone/m);
        },
      ),
      "retry.patienceMs": withUser({ retry: { patienceMs: 0 } }, { reply: { status: 500 } }, async (user) => {
        assert.equal((await user.run(["run", "x"], { env: PRICED })).code, 1);
        assert.equal(user.mock.requests.length, 3);
      }),
    });
  });

  launched(launcher, "limits of the settings are kept: blocks", async (t) => {
    const slow = (timeMs?: number): string => JSON.stringify({ code: [{ expr: SLEEPS, timeMs }] });
    await together(t, {
      "sandbox.memoryMiB": says(
        { sandbox: { memoryMiB: 64 } },
        replyJson("const bomb = []; for (;;) bomb.push({ a: [bomb.length], b: 'x' + bomb.length })"),
        /OUT OF MEMORY/,
      ),
      "sandbox.timeoutMs": says({ sandbox: { timeoutMs: 3_000 } }, slow(), /Timeout \(3s\)/),
      "sandbox.timeoutMaxMs": says({ sandbox: { timeoutMaxMs: 3_000 } }, slow(600_000), /Timeout \(3s\)/),
      "sandbox.timeoutMinMs": says(
        { sandbox: { timeoutMinMs: 60_000 } },
        JSON.stringify({ code: [{ expr: "await new Promise((done) => setTimeout(done, 1_000)); 'late'", timeMs: 1 }] }),
        /'late'.* → "late"/,
      ),
    });
  });

  launched(launcher, "limits of the settings are kept: what a model is sent", async (t) => {
    const journal = (context: string): string => /<journal>([^]*)<\/journal>/.exec(context)?.[1] ?? "";
    /** The second context, after a reply that fills it. */
    const context = (settings: object, reply: string, check: (context: string) => void) =>
      withUser({ context: settings }, { reply: [reply, final("At last")] }, async (user) => {
        answered(await user.run(["run", "x"], { env: PRICED }));
        check(user.mock.requests[1]?.context ?? "");
      });
    const short = (most: number) => (text: string): void => assert.ok(text.length <= most, `${text.length}: ${text}`);
    const many = replyJson(Array.from({ length: 8 }, (_, at) => `"${at}".repeat(900)`));
    await together(t, {
      "context.journalChars": context({ journalChars: 2_000 }, many, (text) => short(2_600)(journal(text))),
      "context.previewChars": context(
        { previewChars: 200 },
        replyJson("'p'.repeat(5_000)"),
        (text) => short(500)(journal(text)),
      ),
      "context.stdoutChars": context(
        { stdoutChars: 200 },
        replyJson("print('o'.repeat(5_000))"),
        (text) => short(500)(journal(text)),
      ),
      "context.stderrChars": context(
        { stderrChars: 200 },
        replyJson("console.error('e'.repeat(5_000))"),
        (text) => short(500)(journal(text)),
      ),
      "context.errorChars": context(
        { errorChars: 200 },
        replyJson("throw new Error('e'.repeat(5_000))"),
        (text) => short(700)(journal(text)),
      ),
      "context.thinkingChars": context(
        { thinkingChars: 200 },
        replyJson("1", { thinking: "t".repeat(5_000) }),
        (text) => short(400)(/<prior_thinking>([^]*)<\/prior_thinking>/.exec(text)?.[1] ?? assert.fail(text)),
      ),
      "context.indexChars": context(
        { indexChars: 400 },
        replyJson([Array.from({ length: 60 }, (_, at) => `const v${at} = "${"v".repeat(100 + at)}"`).join("\n")]),
        (text) => short(600)(/<var_index>([^]*)<\/var_index>/.exec(text)?.[1] ?? assert.fail(text)),
      ),
      "context.indexRows and context.inlineChars": context(
        { indexRows: 3, inlineChars: 30 },
        replyJson([Array.from({ length: 20 }, (_, at) => `const v${at} = "${"v".repeat(100 + at)}"`).join("\n")]),
        (text) => {
          const index = /<var_index>([^]*)<\/var_index>/.exec(text)?.[1] ?? assert.fail(text);
          assert.equal(index.match(/const v\d+/g)?.length, 3, index);
          assert.doesNotMatch(index, /v{100}/);
        },
      ),
      "context.attempts and context.attemptsChars": withUser(
        { budget: { iterations: 9 }, context: { attempts: 2, attemptsChars: 300 } },
        { reply: [...Array.from({ length: 7 }, (_, at) => replyJson(`'attempt ${at}'`)), final("At last")] },
        async (user) => {
          answered(await user.run(["run", "x"], { env: PRICED }));
          const attempts = /<attempts>([^]*)<\/attempts>/.exec(user.mock.requests.at(-1)?.context ?? "")?.[1] ?? "";
          short(400)(attempts);
          assert.equal(attempts.match(/'attempt \d'/g)?.length, 2, attempts);
        },
      ),
      "context.notesChars": context(
        { notesChars: 300 },
        replyJson(
          Array.from(
            { length: 30 },
            (_, at) => `await Promise.resolve(); setTimeout(() => { throw new Error("n${at}".repeat(50)) })`,
          ),
        ),
        (text) => short(800)(/<notes>([^]*)<\/notes>/.exec(text)?.[1] ?? ""),
      ),
    });
  });

  launched(launcher, "limits of the settings are kept: clients of vis serve", async (t) => {
    await together(t, {
      "server.requestsPerMinute and server.burst": serving({ requestsPerMinute: 1, burst: 3 }, {}, async (ask) => {
        const states = [];
        for (let i = 0; i < 5; i++) states.push((await ask("/api/v1/conversations")).status);
        assert.deepEqual(states, [200, 200, 200, 429, 429]);
      }),
      "server.bodyMiB": serving({ bodyMiB: 1 }, {}, async (ask) => {
        const response = await ask("/api/v1/conversations", { request: "x".repeat(2 << 20) });
        assert.equal(response.status, 413);
      }),
      "server.quota.queriesPerDay": serving(
        { quota: { queriesPerDay: 1 } },
        { reply: final("At last") },
        async (ask) => {
          assert.equal((await messaged(ask)).status, 200);
          assert.equal((await messaged(ask)).status, 429);
        },
      ),
      "server.quota.costUsdPerDay": serving(
        { quota: { costUsdPerDay: 0.01 } },
        { reply: [final("At last"), final("At last")] },
        async (ask) => {
          assert.equal((await messaged(ask)).status, 200);
          assert.equal((await messaged(ask)).status, 429);
        },
      ),
      "sandbox.idleMs": withUser(
        { server: { port: 0 }, sandbox: { idleMs: 500 } },
        { reply: replyJson("1", { final: "At last" }) },
        async (user) => {
          const running = user.start(["serve"], { env: { ...PRICED, VIS_TOKEN: TOKEN } });
          assert.equal((await messaged(client(await urlOf(running), TOKEN))).status, 200);
          await running.until("end of the sandbox", () => descendants(running.pid).filter(runs).length === 0);
          running.kill("SIGTERM");
          await running.ended;
        },
      ),
      "server.quota.concurrent and server.shutdownMs": serving(
        { quota: { concurrent: 1 }, shutdownMs: 50 },
        { reply: { fault: "no_token" } },
        async (ask) => {
          const first = await messaged(ask, { accept: "text/event-stream" });
          assert.equal((await messaged(ask)).status, 429);
          await first.body?.cancel();
        },
      ),
    });
  });
}

async function messaged(ask: ReturnType<typeof client>, headers: Readonly<Record<string, string>> = {}) {
  const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
  return await ask(`/api/v1/conversations/${conversationId}/messages`, { request: "x" }, headers);
}

function answered({ code, stdout, stderr }: Ran): void {
  assert.deepEqual([code, stdout], [0, "At last\n"], stderr);
}
