import assert from "node:assert/strict";
import type { MockFault, MockOptions, MockReply } from "../../helpers/wires/openai_mock.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { client, urlOf } from "../helpers/server.ts";
import { launched, together } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

const SHOWN = replyJson("const a = 1", { thinking: "Half of it is counted, I think. ".repeat(4) });
/** No part of an answer is shown before it was accepted. */
const HIDDEN = final("Seven and ".repeat(30));
/** Maps the faults of a reply that breaks off after its first half to their messages. */
const BROKEN: Readonly<Partial<Record<MockFault, string>>> = {
  cut: "the connection ended too early",
  ends_early: "the connection ended too early",
  garbage_chunk: "it does not have the format of the chat completions API",
  error_chunk: "Overloaded",
};
const MANY = "word ".repeat(2_500_000);
/** A server with one conversation takes about 150 MB. Twice the largest reply is added to that. */
const MOST_MIB = 450;

const LARGE: Readonly<Record<string, MockReply>> = {
  "12 MB": { text: replyJson("1", { thinking: MANY }), chunk: 20_000 },
  "text without an end": { text: "word ".repeat(50_000), chunk: 5_000, fault: "endless" },
  "thinking without an end": { reasoning: "word ".repeat(50_000), chunk: 5_000, fault: "endless" },
  "a line without an end": { text: SHOWN, fault: "endless_line" },
  "comments without an end": { text: SHOWN, fault: "endless_comments" },
  "JSON without an end": { fault: "endless_body" },
};

/** Returns the maximum memory of a process so far, in MiB; 0 if the system does not report it. */
async function peakOf(pid: number): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/status`).catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}

export function streamsSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run survives replies that break off", async (t) => {
    await together(t, {
      "by a reset, early, with bad JSON, an error or at the length limit, or stay open after their end": withUser(
        async (user) => {
          const begun = performance.now();
          const ran = await user.run(["run", "--max-iterations", "9", "x"]);
          assert.deepEqual([ran.code, ran.stdout], [0, "At last\n"], ran.stderr);
          // The last reply ends after half a minute. Up to the limit for silence, it would take more than a minute.
          assert.ok(performance.now() - begun < 58_000);
          const told = Object.values(BROKEN);
          told.forEach((says, at) => {
            assert.match(ran.stderr, new RegExp(`^\\[${at + 1}\\] no usable reply: .*${says}`, "m"));
            assert.match(
              user.mock.requests[at + 1]?.context ?? "",
              /<notes>[\s\S]*no usable reply[\s\S]*Half of it is counted/,
            );
          });
          assert.match(ran.stderr, /^\[5\] retrying in 1 s \(try 2\): Cannot read the complete reply/m);
          assert.equal(user.mock.requests[4]?.context, user.mock.requests[5]?.context);
          assert.match(ran.stderr, /^\[5\] no usable reply: The length limit of the model mock-1 cut the reply\. /m);
          assert.match(ran.stderr, /^6 steps /m);
          const { queries } = await user.queries();
          const stored = await user.look((store) => store.iterations(queries[0]?.queryId ?? ""));
          assert.deepEqual(stored.map(({ status }) => status), [...Array(5).fill("error"), "done"]);
          for (const { response } of stored.slice(0, 4)) assert.ok(SHOWN.startsWith(response || "-"), response);
        },
        {
          reply: [
            ...Object.keys(BROKEN).map((fault) => ({ text: SHOWN, fault: fault as MockFault })),
            { text: HIDDEN, fault: "cut" },
            { text: '{"thinking":"all', finish: "length" },
            { text: final("At last"), fault: "stays_open" },
          ],
        },
      ),
      "a model that does not begin within its limit: it is asked once, and the limit is named": async () => {
        await using user = await User.make(launcher, { reply: { fault: "no_token" } });
        const models = [{ name: "mock-1" }];
        const providers = [{ name: "slow", baseUrl: user.mock.baseUrl, firstTokenMs: 700, models }];
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ localServers: false, providers }));
        const ran = await user.run(["run", "x"], { env: { VIS_BASE_URL: "", VIS_MODEL: "" } });
        assert.equal(ran.code, 1);
        assert.match(
          ran.stdout + ran.stderr,
          /its first word did not come within 0\.7 s; raise firstTokenMs of its entry in providers/,
        );
        assert.equal(user.mock.requests.length, 1);
      },
      "a service that sends nothing for longer than its limit in the middle of a reply: the reply breaks off":
        async () => {
          const reply = [{ text: SHOWN, fault: "silence" as const }, final("At last")];
          await using user = await User.make(launcher, { reply });
          const models = [{ name: "mock-1" }];
          const providers = [{ name: "quiet", baseUrl: user.mock.baseUrl, silenceMs: 700, models }];
          await Deno.mkdir(user.path("vis"));
          await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ localServers: false, providers }));
          const ran = await user.run(["run", "x"], { env: { VIS_BASE_URL: "", VIS_MODEL: "" } });
          assert.deepEqual([ran.code, ran.stdout], [0, "At last\n"], ran.stderr);
          assert.match(ran.stderr, /it sent nothing for 0\.7 s; .*silenceMs of its entry in providers/);
          assert.match(user.mock.requests[1]?.context ?? "", /no usable reply[\s\S]*Half of it is counted/);
        },
      "tool calls, thoughts only and drafts in thinking: the model is told, and no draft runs": withUser(
        async (user) => {
          const ran = await user.run(["run", "--max-iterations", "9", "x"]);
          assert.deepEqual([ran.code, ran.stdout], [0, "At last\n"], ran.stderr);
          const told = user.mock.requests.map(({ context }) => context);
          assert.match(told[1] ?? "", /The reply calls grep\(\{"q":"x"\}\), but there are no tools/);
          assert.match(told[2] ?? "", /The reply held thinking only/);
          assert.match(told[3] ?? "", /thinking that .*analysis.* begins has no end/);
          const { queries } = await user.queries();
          const stored = await user.look((store) => store.iterations(queries[0]?.queryId ?? ""));
          assert.deepEqual(stored.flatMap(({ blocks }) => blocks.map(({ code }) => code)), ["const real = 1"]);
        },
        {
          reply: [
            {
              body: JSON.stringify({
                choices: [{
                  message: { content: null, tool_calls: [{ function: { name: "grep", arguments: '{"q":"x"}' } }] },
                  finish_reason: "tool_calls",
                }],
              }),
            },
            { reasoning: "I think." },
            { text: `<|channel|>analysis<|message|>A draft: ${replyJson("const draft = 1")}` },
            {
              text: `<|channel|>analysis<|message|>${replyJson("const draft = 1")}<|end|><|start|>assistant` +
                `<|channel|>final<|message|>${replyJson("const real = 1")}`,
            },
            { text: final("At last") },
          ],
        },
      ),
    });
  });

  launched(launcher, "vis serve ends replies that are too large, names them and goes on", async (t) => {
    const large = Object.entries(LARGE);
    let at = 0;
    await using user = await User.make(launcher, {
      handler: ({ context }) => context.includes("no usable reply") ? final("At last") : large[at]?.[1] ?? "",
    });
    const token = "an-operators-own-token";
    const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: token } });
    const ask = client(await urlOf(running), token);
    for (const [name] of large) {
      await t.step(name, async () => {
        const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
        const { answer, queryId } = await (await ask(`/api/v1/conversations/${conversationId}/messages`, {
          request: "x",
        })).json();
        assert.equal(answer, "At last");
        const path = `/api/v1/conversations/${conversationId}/queries/${queryId}/iterations`;
        const { items: [first] } = await (await ask(path)).json();
        assert.match(first.error, /^Cannot use the reply of http.*(more than|larger than) .*, so Vis ended it/);
      });
      at++;
    }
    const peak = await peakOf(running.pid);
    running.kill("SIGTERM");
    assert.equal((await running.ended).code, 0);
    assert.ok(peak < MOST_MIB, `${peak} MiB`);
  });

  launched(launcher, "vis serve cancels a query whose client leaves the wait for its result", async () => {
    await using user = await User.make(launcher, { reply: { fault: "no_token" } });
    const token = "an-operators-own-token";
    const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: token } });
    const url = await urlOf(running);
    const gone = new AbortController();
    const asked = fetch(new URL("v1/chat/completions", url), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "vis", messages: [{ role: "user", content: "x".repeat(5_000) }] }),
      signal: gone.signal,
    });
    await running.until("model call", () => user.mock.requests.length === 1);
    gone.abort();
    await assert.rejects(asked, { name: "AbortError" });
    await user.mock.waitForLeft(1);
    running.kill("SIGTERM");
    assert.equal((await running.ended).code, 0);
    assert.deepEqual((await user.queries()).queries.map(({ reason }) => reason), ["cancelled"]);
  });
}
