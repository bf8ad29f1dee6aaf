import assert from "node:assert/strict";
import { CopilotTokens } from "../../../src/providers/copilot/token.ts";
import { type CopilotMock, startCopilotMock } from "../../helpers/wires/copilot_mock.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

const ALWAYS = new AbortController().signal;

function rig(mock: CopilotMock) {
  const clock = new FakeClock();
  const endpoints = { exchange: `${mock.url}/copilot_internal/v2/token`, api: "https://api.example.org" };
  return { clock, tokens: new CopilotTokens(endpoints, { githubToken: "gho_4711", clock }) };
}

Deno.test("CopilotTokens.get() exchanges once and keeps the token as long as it is good", async () => {
  await using mock = startCopilotMock();
  mock.exchange = { refreshIn: 1500, expiresAt: 1 };
  const { tokens, clock } = rig(mock);
  const { token, api } = await tokens.get(ALWAYS);
  assert.deepEqual([token, api], ["tid=1;exp=1", mock.url]);
  clock.advance(1_499_000);
  assert.equal((await tokens.get(ALWAYS)).token, token);
  clock.advance(1_000);
  assert.equal((await tokens.get(ALWAYS)).token, "tid=2;exp=1");
  const [request] = mock.requests;
  assert.equal(request?.headers.get("authorization"), "token gho_4711");
  for (const name of ["editor-version", "editor-plugin-version", "copilot-integration-id"]) {
    assert.ok(request?.headers.get(name), name);
  }
  assert.match(request?.headers.get("user-agent") ?? "", /^GitHubCopilotChat\//);
});

Deno.test("CopilotTokens.get() renews before the time that the service names", async () => {
  await using mock = startCopilotMock();
  const { tokens, clock } = rig(mock);
  mock.exchange = { expiresAt: (clock.now() + 600_000) / 1000 };
  await tokens.get(ALWAYS);
  clock.advance(479_000);
  await tokens.get(ALWAYS);
  assert.equal(mock.exchanged, 1);
  clock.advance(2_000);
  await tokens.get(ALWAYS);
  assert.equal(mock.exchanged, 2);
});

Deno.test("CopilotTokens.get() does not exchange with every call where the clocks differ", async () => {
  await using mock = startCopilotMock();
  mock.exchange = { expiresAt: 1 };
  const { tokens } = rig(mock);
  await tokens.get(ALWAYS);
  await tokens.get(ALWAYS);
  assert.equal(mock.exchanged, 1);
});

Deno.test("CopilotTokens.get() makes one exchange for all who wait, and one who leaves does not end it", async () => {
  await using mock = startCopilotMock();
  const { tokens } = rig(mock);
  const abort = new AbortController();
  const left = tokens.get(abort.signal);
  const others = [tokens.get(ALWAYS), tokens.get(ALWAYS)];
  abort.abort();
  await assert.rejects(left, { name: "Cancelled" });
  assert.deepEqual((await Promise.all(others)).map(({ token }) => token), ["tid=1;exp=1", "tid=1;exp=1"]);
  assert.equal(mock.exchanged, 1);
});

Deno.test("CopilotTokens.drop() forgets the token that was refused, not a newer one", async () => {
  await using mock = startCopilotMock();
  const { tokens } = rig(mock);
  const first = await tokens.get(ALWAYS);
  tokens.drop(first.token);
  const second = await tokens.get(ALWAYS);
  tokens.drop(first.token);
  assert.equal((await tokens.get(ALWAYS)).token, second.token);
  assert.equal(mock.exchanged, 2);
});

const REFUSALS = [
  { status: 401, code: "auth", retryable: false, says: /the login has expired; run vis auth login github-copilot$/ },
  { status: 403, code: "auth", retryable: false, says: /has no access to GitHub Copilot: No access$/ },
  { status: 404, code: "auth", retryable: false, says: /has no access to GitHub Copilot/ },
  { status: 429, code: "rate", retryable: true, says: /\(429\)/ },
  { status: 503, code: "server", retryable: true, says: /\(503\)/ },
] as const;
for (const { status, code, retryable, says } of REFUSALS) {
  Deno.test(`CopilotTokens.get() says what ${status} means, and tries again the next time`, async () => {
    await using mock = startCopilotMock();
    const { tokens } = rig(mock);
    mock.exchange = { status };
    await assert.rejects(tokens.get(ALWAYS), { code, retryable, status, message: says });
    mock.exchange = { refreshIn: 10 };
    await tokens.get(ALWAYS);
  });
}
