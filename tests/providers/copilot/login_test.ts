import assert from "node:assert/strict";
import { Cancelled, ProviderError } from "../../../src/domain/errors.ts";
import { copilotDeviceLogin, type DeviceCode } from "../../../src/providers/copilot/login.ts";
import { type CopilotMock, startCopilotMock } from "../../helpers/wires/copilot_mock.ts";
import { FakeClock } from "../../helpers/fake_clock.ts";

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

Deno.test("copilotDeviceLogin() slows down when it is told to, for good", async () => {
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
  ["refused", { error: "device_flow_disabled", error_description: "It is off" }, /does not continue: It is off$/],
  ["nonsense", { hello: 1 }, /does not continue$/],
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

Deno.test("copilotDeviceLogin() says that GitHub cannot be reached", async () => {
  const mock = startCopilotMock();
  await mock[Symbol.asyncDispose]();
  const { outcome } = await login(mock, []);
  assert.ok(outcome instanceof ProviderError);
  assert.equal(outcome.code, "network");
});
