import { Cancelled, ConfigError, ProviderError } from "../../src/domain/errors.ts";
import {
  copilotDeviceLogin,
  copilotEndpoints,
  CopilotProvider,
  CopilotTokens,
  type DeviceCode,
} from "../../src/providers/copilot.ts";
import { type ModelEvent, type ModelMessage, type Provider, UNKNOWN_MODEL } from "../../src/providers/provider.ts";
import type { WireProtocol } from "../../src/providers/wire/wire.ts";
import { createProvider } from "../../src/providers/wire/wire_provider.ts";
import { FakeClock } from "../helpers/fake_clock.ts";
import { type CopilotMock, startCopilotMock } from "../helpers/wires/copilot_mock.ts";
import assert from "node:assert/strict";

const ALWAYS = new AbortController().signal;

function rig(mock: CopilotMock) {
  const clock = new FakeClock();
  const protocols: WireProtocol[] = [];
  const provider = new CopilotProvider({
    name: "github-copilot",
    defaultModel: "gpt-6-luna",
    endpoints: { exchange: `${mock.url}/copilot_internal/v2/token`, api: mock.url },
    githubToken: "gho_4711",
    capabilities: () => ({ ...UNKNOWN_MODEL, images: true }),
    usesResponses: (model) => model === "responds",
    create: (protocol, options) => {
      protocols.push(protocol);
      return createProvider(protocol, options);
    },
    clock,
  });
  return { clock, provider, protocols };
}

async function textOf(
  provider: Provider,
  { model = "gpt-6-luna", messages = [{ role: "user", text: "hi" }], signal = ALWAYS }: {
    readonly model?: string;
    readonly messages?: readonly ModelMessage[];
    readonly signal?: AbortSignal;
  } = {},
): Promise<string> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream({ model, messages, reasoning: "balanced", signal })) events.push(event);
  assert.equal(events.at(-1)?.type, "end");
  return events.map((event) => event.type === "text" ? event.delta : "").join("");
}

Deno.test("CopilotProvider() asks the host of the token, with the headers that the service wants", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  assert.equal(await textOf(provider), "hello");
  const chat = mock.requests.at(-1);
  assert.equal(chat?.path, "/chat/completions");
  assert.equal(chat?.headers.get("authorization"), "Bearer tid=1;exp=1");
  assert.equal(chat?.headers.get("copilot-integration-id"), "vscode-chat");
  assert.match(chat?.headers.get("editor-version") ?? "", /^vscode\//);
  assert.equal(chat?.headers.get("copilot-vision-request"), null);
  assert.doesNotMatch(JSON.stringify([...chat?.headers ?? []]), /gho_4711/);
});

Deno.test("CopilotProvider() gets one fresh token when the service refuses the one it has", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  await textOf(provider);
  mock.good.clear();
  assert.equal(await textOf(provider), "hello");
  assert.equal(mock.exchanged, 2);
  mock.good.clear();
  mock.exchange = { status: 401 };
  await assert.rejects(textOf(provider), { code: "auth", status: 401, message: /vis auth login/ });
});

Deno.test("CopilotProvider() gives up when a fresh token is refused as well", async () => {
  await using mock = startCopilotMock();
  mock.good.add = () => mock.good;
  const { provider } = rig(mock);
  await assert.rejects(textOf(provider), (error) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /401/);
    assert.doesNotMatch(error.message, /tid=/);
    return true;
  });
  assert.equal(mock.exchanged, 2);
});

Deno.test("CopilotProvider() renews the token in the middle of its work", async () => {
  await using mock = startCopilotMock();
  const { provider, clock } = rig(mock);
  await textOf(provider);
  clock.advance(1_500_000);
  await textOf(provider);
  assert.equal(mock.requests.at(-1)?.headers.get("authorization"), "Bearer tid=2;exp=1");
});

Deno.test("CopilotProvider() chooses the wire format by the model", async () => {
  await using mock = startCopilotMock();
  const { provider, protocols } = rig(mock);
  await textOf(provider);
  await assert.rejects(textOf(provider, { model: "responds" }), { name: "ProviderError" });
  assert.deepEqual(protocols, ["openai-chat", "openai-responses"]);
  assert.ok(mock.requests.some(({ path }) => path === "/responses"));
});

Deno.test("CopilotProvider() announces images", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  const images = [{ kind: "url", url: "https://example.org/a.png" }] as const;
  await textOf(provider, { messages: [{ role: "user", text: "what?", images }] });
  assert.equal(mock.requests.at(-1)?.headers.get("copilot-vision-request"), "true");
});

Deno.test("CopilotProvider() lists the models of the account", async () => {
  await using mock = startCopilotMock();
  assert.deepEqual(await rig(mock).provider.models({ signal: ALWAYS }), ["gpt-6-luna"]);
});

Deno.test("CopilotProvider() is cancelled before it has a token", async () => {
  await using mock = startCopilotMock();
  const { provider } = rig(mock);
  await assert.rejects(textOf(provider, { signal: AbortSignal.abort() }), Cancelled);
});

function tokensRig(mock: CopilotMock) {
  const clock = new FakeClock();
  const endpoints = { exchange: `${mock.url}/copilot_internal/v2/token`, api: "https://api.example.org" };
  return { clock, tokens: new CopilotTokens(endpoints, { githubToken: "gho_4711", clock }) };
}

Deno.test("CopilotTokens.get() exchanges once and keeps the token as long as it is good", async () => {
  await using mock = startCopilotMock();
  mock.exchange = { refreshIn: 1500, expiresAt: 1 };
  const { tokens, clock } = tokensRig(mock);
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
  const { tokens, clock } = tokensRig(mock);
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
  const { tokens } = tokensRig(mock);
  await tokens.get(ALWAYS);
  await tokens.get(ALWAYS);
  assert.equal(mock.exchanged, 1);
});

Deno.test("CopilotTokens.get() makes one exchange for all who wait, and one who leaves does not end it", async () => {
  await using mock = startCopilotMock();
  const { tokens } = tokensRig(mock);
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
  const { tokens } = tokensRig(mock);
  const first = await tokens.get(ALWAYS);
  tokens.drop(first.token);
  const second = await tokens.get(ALWAYS);
  tokens.drop(first.token);
  assert.equal((await tokens.get(ALWAYS)).token, second.token);
  assert.equal(mock.exchanged, 2);
});

const REFUSALS = [
  {
    status: 401,
    code: "auth",
    retryable: false,
    says: /GitHub does not accept the login \(status 401\); run vis auth login github-copilot$/,
  },
  {
    status: 403,
    code: "auth",
    retryable: false,
    says: /GitHub refuses access to Copilot \(status 403, No access\); check the account and its subscription$/,
  },
  { status: 404, code: "auth", retryable: false, says: /GitHub refuses access to Copilot/ },
  {
    status: 429,
    code: "rate",
    retryable: true,
    says: /GitHub responded with status 429 \(No access\); try again later$/,
  },
  {
    status: 503,
    code: "server",
    retryable: true,
    says: /GitHub responded with status 503 \(No access\); try again later$/,
  },
] as const;
for (const { status, code, retryable, says } of REFUSALS) {
  Deno.test(`CopilotTokens.get() explains status ${status}, and tries again the next time`, async () => {
    await using mock = startCopilotMock();
    const { tokens } = tokensRig(mock);
    mock.exchange = { status };
    await assert.rejects(tokens.get(ALWAYS), { code, retryable, status, message: says });
    mock.exchange = { refreshIn: 10 };
    await tokens.get(ALWAYS);
  });
}

async function login(mock: CopilotMock, polls: readonly Record<string, unknown>[], abort = new AbortController()) {
  mock.polls.push(...polls);
  const clock = new FakeClock();
  const codes: DeviceCode[] = [];
  const endpoints = {
    deviceCode: `${mock.url}/login/device/code`,
    accessToken: `${mock.url}/login/oauth/access_token`,
  };
  const run = copilotDeviceLogin(endpoints, { signal: abort.signal, onCode: (code) => codes.push(code), clock });
  const outcome = await run.catch((error: unknown) => error);
  return { outcome, codes, clock };
}

Deno.test("copilotDeviceLogin() shows the code, waits for the user and resolves with the token", async () => {
  await using mock = startCopilotMock();
  const { outcome, codes, clock } = await login(mock, [
    { error: "authorization_pending" },
    { error: "authorization_pending" },
    { access_token: "gho_4711", token_type: "bearer", scope: "read:user" },
  ]);
  assert.equal(outcome, "gho_4711");
  assert.deepEqual(codes, [{
    userCode: "ABCD-1234",
    verificationUri: "https://github.com/login/device",
    expiresInMs: 900_000,
  }]);
  assert.deepEqual(clock.slept, [5000, 5000, 5000]);
  const [code, poll] = mock.requests;
  assert.deepEqual(Object.fromEntries(new URLSearchParams(code?.body)), {
    client_id: "Iv1.b507a08c87ecfe98",
    scope: "read:user",
  });
  assert.deepEqual(Object.fromEntries(new URLSearchParams(poll?.body)), {
    client_id: "Iv1.b507a08c87ecfe98",
    device_code: "device-4711",
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
  });
  assert.equal(poll?.headers.get("accept"), "application/json");
});

Deno.test("copilotDeviceLogin() slows down permanently when the server requests it", async () => {
  await using mock = startCopilotMock();
  const { outcome, clock } = await login(mock, [
    { error: "slow_down" },
    { error: "slow_down", interval: 20 },
    { error: "authorization_pending" },
    { access_token: "gho_1" },
  ]);
  assert.equal(outcome, "gho_1");
  assert.deepEqual(clock.slept, [5000, 10_000, 20_000, 20_000]);
});

const ENDS: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
  ["expired", { error: "expired_token" }, /the code expired/],
  ["declined", { error: "access_denied" }, /declined/],
  [
    "refused",
    { error: "device_flow_disabled", error_description: "It is off" },
    /GitHub refused to continue \(It is off\); run the login again$/,
  ],
  ["nonsense", { hello: 1 }, /GitHub refused to continue; run the login again$/],
];
for (const [name, answer, says] of ENDS) {
  Deno.test(`copilotDeviceLogin() ends where the login is ${name}`, async () => {
    await using mock = startCopilotMock();
    const { outcome } = await login(mock, [answer]);
    assert.ok(outcome instanceof ProviderError);
    assert.deepEqual([outcome.code, outcome.retryable], ["auth", false]);
    assert.match(outcome.message, /^Cannot log in to GitHub Copilot: /);
    assert.match(outcome.message, says);
  });
}

Deno.test("copilotDeviceLogin() asks no longer than the code lives", async () => {
  await using mock = startCopilotMock();
  const { outcome, clock } = await login(mock, [{ error: "authorization_pending" }]);
  assert.match(String(outcome), /the code expired/);
  assert.equal(clock.slept.reduce((sum, ms) => sum + ms, 0), 900_000);
});

Deno.test("copilotDeviceLogin() is cancelled while it waits", async () => {
  await using mock = startCopilotMock();
  const abort = new AbortController();
  mock.polls.push({ error: "authorization_pending" });
  const endpoints = {
    deviceCode: `${mock.url}/login/device/code`,
    accessToken: `${mock.url}/login/oauth/access_token`,
  };
  const run = copilotDeviceLogin(endpoints, {
    signal: abort.signal,
    onCode: () => abort.abort(),
    clock: new FakeClock(),
  });
  await assert.rejects(run, Cancelled);
});

Deno.test("copilotDeviceLogin() reports that GitHub cannot be reached", async () => {
  const mock = startCopilotMock();
  await mock[Symbol.asyncDispose]();
  const { outcome } = await login(mock, []);
  assert.ok(outcome instanceof ProviderError);
  assert.equal(outcome.code, "network");
});

Deno.test("copilotEndpoints() returns the endpoints of github.com, or of an enterprise", () => {
  assert.deepEqual(copilotEndpoints("github.com"), {
    deviceCode: "https://github.com/login/device/code",
    accessToken: "https://github.com/login/oauth/access_token",
    exchange: "https://api.github.com/copilot_internal/v2/token",
    api: "https://api.githubcopilot.com",
  });
  const { exchange, api } = copilotEndpoints("company.ghe.com");
  assert.deepEqual([exchange, api], [
    "https://api.company.ghe.com/copilot_internal/v2/token",
    "https://copilot-api.company.ghe.com",
  ]);
});

Deno.test("copilotEndpoints() refuses a text that is no domain", () => {
  for (
    const domain of ["", "localhost", "https://github.com", "a.b/c", "a b.com", "user@github.com", "github.com:8080"]
  ) {
    assert.throws(() => copilotEndpoints(domain), ConfigError, domain);
  }
});
