import assert from "node:assert/strict";
import { Cancelled, ConfigError, ProviderError } from "../../../src/domain/errors.ts";
import type { Image } from "../../../src/domain/images.ts";
import { type ModelMessage, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { Router } from "../../../src/providers/router/router.ts";
import { collect, endOf, request, textOf } from "../../conformance/provider_calls.ts";
import { failures, LARGE_REPLIES, LONG } from "../../conformance/provider_failures.ts";
import { providerSuite } from "../../conformance/provider_suite.ts";
import { HandClock } from "../../helpers/hand_clock.ts";
import { startWireMock } from "../../helpers/wires/wire_mock.ts";
import { KEY, PROTOCOLS, provide, WIRES, withMock } from "../../helpers/wires/wire_rig.ts";

for (const protocol of PROTOCOLS) {
  const { wire, marksEnd, words } = WIRES[protocol];
  providerSuite({
    name: `createProvider(${protocol})`,
    wire: { marksEnd, failures: [...failures(words), ...LARGE_REPLIES] },
    start: async (reply) => {
      const mock = await startWireMock(wire, { reply, key: KEY });
      return {
        provider: await provide(protocol, { baseUrl: mock.baseUrl, graceMs: 500 }),
        connections: () => mock.connections,
        asked: () => mock.requests.map(({ texts }) => texts),
        left: (count) => mock.waitForLeft(count),
        close: () => mock.close(),
      };
    },
  });
}

const ENDLESS = new AbortController().signal;
const PIXEL: Image = { kind: "bytes", mediaType: "image/png", bytes: Uint8Array.of(137, 80, 78, 71) };

async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(() => null, (error: unknown) => error);
  assert.ok(error instanceof ProviderError, `no ProviderError: ${error}`);
  return error;
}

async function readAll(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _event of events) { /* to the end */ }
}

for (const protocol of PROTOCOLS) {
  Deno.test(`createProvider(${protocol}) asks for a token before each call`, async () => {
    await withMock(protocol, { reply: "yes", key: "token-2-0123" }, async ({ baseUrl, requests }) => {
      let asked = 0;
      const token = () => Promise.resolve(`token-${++asked}-0123`);
      const provider = await provide(protocol, { baseUrl, token });
      const refused = await failureOf(collect(provider));
      assert.equal(refused.code, "auth");
      assert.match(refused.message, /check the key of mocked/);
      assert.doesNotMatch(refused.message, /token-1/);
      assert.equal(textOf(await collect(provider), "text"), "yes");
      assert.equal(requests.length, 1);
    });
  });

  Deno.test(`createProvider(${protocol}) passes on why there is no token`, async () => {
    const gone = new ProviderError("Cannot sign in: vis auth login", { code: "auth", retryable: false });
    const provider = await provide(protocol, { token: () => Promise.reject(gone) });
    assert.equal(await failureOf(collect(provider)), gone);
    assert.equal(await failureOf(provider.models({ signal: ENDLESS }).then()), gone);
  });

  Deno.test(`createProvider(${protocol}) ends with Cancelled while it waits for a token`, async () => {
    const abort = new AbortController();
    const token = (signal: AbortSignal) =>
      new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const provider = await provide(protocol, { token });
    const reply = collect(provider, { signal: abort.signal });
    setTimeout(() => abort.abort(), 5);
    await assert.rejects(reply, Cancelled);
  });

  Deno.test(`createProvider(${protocol}) sends no key where there is none`, async () => {
    await withMock(protocol, { reply: { status: 401 } }, async ({ baseUrl, requests }) => {
      const provider = await provide(protocol, { baseUrl, token: () => Promise.resolve(null) });
      assert.match((await failureOf(collect(provider))).message, /set the key of mocked/);
      for (const name of ["authorization", "x-api-key", "x-goog-api-key"]) {
        assert.equal(requests[0]?.headers[name], undefined);
      }
    });
  });

  Deno.test(`createProvider(${protocol}) never shows the key, however the service echoes it`, async () => {
    const secret = `sk-"odd"+/=&key-nine`;
    const echo = `got ${secret} and ${encodeURIComponent(secret)} and ${JSON.stringify(secret)} and tenant-token-four`;
    const replies = [
      ...[400, 401, 404, 413, 429, 500].map((status) => ({ status, error: { message: echo } })),
      { fault: "error_chunk" as const, text: "some text", error: { message: echo } },
      { body: echo, headers: { "content-type": "text/plain" } },
      { body: JSON.stringify({ other: echo }) },
      { refusal: echo },
    ];
    await withMock(protocol, { reply: replies }, async ({ baseUrl }) => {
      const headers = { "x-tenant-token": "tenant-token-four" };
      const provider = await provide(protocol, { baseUrl, headers, token: () => Promise.resolve(secret) });
      for (const reply of replies) {
        const error = await failureOf(collect(provider));
        const shown = Deno.inspect(error, { depth: 10, showHidden: true }) + String(error.cause);
        assert.doesNotMatch(shown, /key-nine|token-four/, JSON.stringify(reply));
      }
    });
  });

  Deno.test(`createProvider(${protocol}) refuses a key that cannot be sent, without showing it`, async () => {
    const provider = await provide(protocol, { token: () => Promise.resolve("sk-secret\nsk-other") });
    const error = await failureOf(collect(provider));
    assert.equal(error.code, "auth");
    assert.match(error.message, /^Cannot send the key/);
    assert.doesNotMatch(error.message, /secret/);
  });

  Deno.test(`createProvider(${protocol}) refuses an address that is none`, async () => {
    await assert.rejects(
      provide(protocol, { baseUrl: "localhost:8080" }),
      (error) => error instanceof ConfigError && error.message.includes("set the base URL of mocked to an address"),
    );
  });

  Deno.test(`createProvider(${protocol}) refuses images for a model without sight before any request`, async () => {
    await withMock(protocol, { reply: "yes" }, async (mock) => {
      const provider = await provide(protocol, { baseUrl: mock.baseUrl });
      const messages: ModelMessage[] = [{ role: "user", text: "What is it?", images: [PIXEL] }];
      const error = await failureOf(readAll(provider.stream(request({ messages }))));
      assert.match(error.message, /^Cannot send an image to mock-1 of mocked: as far as is known, it reads only text/);
      assert.deepEqual([error.code, error.retryable, mock.connections], ["refused", false, 0]);
    });
  });

  Deno.test(`createProvider(${protocol}) makes one user message for models that want it`, async () => {
    await withMock(protocol, { reply: "yes" }, async ({ baseUrl, requests }) => {
      const capabilities = () => ({ ...UNKNOWN_MODEL, alternatingRoles: true });
      await collect(await provide(protocol, { baseUrl, capabilities }));
      const body = requests[0]?.body;
      const messages = body.messages ?? body.input ?? body.contents;
      assert.deepEqual(messages.map(({ role }: { role: string }) => role), ["user"]);
      assert.equal(body.system ?? body.systemInstruction ?? body.instructions, undefined);
      assert.match(requests[0]?.texts.join("\n\n") ?? "", /^You are terse\.\n+Hello\n+Context 1$/);
    });
  });

  Deno.test(`createProvider(${protocol}) sends no reasoning level to models without reasoning`, async () => {
    await withMock(protocol, { reply: "yes" }, async ({ baseUrl, requests }) => {
      await collect(await provide(protocol, { baseUrl }));
      assert.doesNotMatch(JSON.stringify(requests[0]?.body), /reason|think|effort/i);
    });
  });

  Deno.test(`createProvider(${protocol}) sends the same bytes for the same request`, async () => {
    await withMock(protocol, { reply: "yes" }, async ({ baseUrl, requests }) => {
      const provider = await provide(protocol, { baseUrl });
      await collect(provider);
      await collect(provider);
      assert.equal(JSON.stringify(requests[0]?.body), JSON.stringify(requests[1]?.body));
    });
  });

  Deno.test(`createProvider(${protocol}) takes the place of an address with a query`, async () => {
    await withMock(protocol, { reply: "yes" }, async ({ baseUrl, requests }) => {
      await collect(await provide(protocol, { baseUrl: `${baseUrl}/?tenant=t1` }));
      assert.match(requests[0]?.path ?? "", /[?&]tenant=t1/);
    });
  });

  for (const fault of ["no_headers", "no_token", "silence"] as const) {
    Deno.test(`createProvider(${protocol}) is left by the router when the service shows ${fault}`, async () => {
      const clock = new HandClock();
      const onRequest = () => void (fault === "silence" || clock.pass(60));
      await withMock(protocol, { reply: { text: LONG, fault }, onRequest }, async (mock) => {
        const provider = await provide(protocol, { baseUrl: mock.baseUrl });
        const routes = [{ provider, model: "mock-1" }];
        const router = new Router({
          routes,
          attempts: 1,
          patienceMs: 0,
          ...{ clock, firstTokenMs: 60, silenceMs: 30 },
        });
        const { messages, reasoning } = request();
        // After every event, so that it is silent after the last one.
        const onEvent = () => {
          setTimeout(() => clock.pass(30));
          return false;
        };
        const error = await failureOf(router.ask({ messages, reasoning }, { signal: ENDLESS, onEvent }));
        assert.equal(error.code, "stall");
        assert.match(error.message, fault === "silence" ? /nothing came for 0 s/ : /no first word came/);
        await mock.waitForLeft(1);
      });
    });
  }

  Deno.test(`createProvider(${protocol}) names the model that served`, async () => {
    await withMock(protocol, { reply: { text: "yes", model: "mock-1-20260101" } }, async ({ baseUrl }) => {
      assert.equal(endOf(await collect(await provide(protocol, { baseUrl }))).model, "mock-1-20260101");
    });
  });
}
