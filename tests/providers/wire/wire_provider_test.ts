import { Cancelled, ConfigError, ProviderError } from "../../../src/domain/errors.ts";
import type { Image } from "../../../src/domain/images.ts";
import { type ModelMessage, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { Router } from "../../../src/providers/router/router.ts";
import { openAiChat } from "../../../src/providers/wire/openai_chat.ts";
import { WireProvider } from "../../../src/providers/wire/wire_provider.ts";
import { collect, endOf, request, textOf } from "../../conformance/provider_calls.ts";
import { ENDLESS_COMMENTS, ENDLESS_PINGS, failures, LARGE_REPLIES, LONG } from "../../conformance/provider_failures.ts";
import { providerSuite } from "../../conformance/provider_suite.ts";
import { HandClock } from "../../helpers/hand_clock.ts";
import { runs } from "../../helpers/long_part.ts";
import { startWireMock } from "../../helpers/wires/wire_mock.ts";
import { KEY, PROTOCOLS, provide, WIRES, withMock } from "../../helpers/wires/wire_rig.ts";
import assert from "node:assert/strict";

const OPTIONS = {
  name: "mine",
  baseUrl: "http://127.0.0.1:9/v1",
  defaultModel: "m",
  token: () => Promise.resolve(null),
};

Deno.test("WireProvider assumes nothing of models that nothing is known about", () => {
  const plain = new WireProvider(openAiChat(OPTIONS.baseUrl), OPTIONS);
  assert.deepEqual([plain.name, plain.defaultModel, plain.capabilities("x")], ["mine", "m", UNKNOWN_MODEL]);
  const known = { ...UNKNOWN_MODEL, images: true };
  const telling = new WireProvider(openAiChat(OPTIONS.baseUrl), { ...OPTIONS, capabilities: () => known });
  assert.equal(telling.capabilities("x"), known);
});

Deno.test("WireProvider checks headers when it is made, and a key that is known then", () => {
  const headers = { "x-tenant": "a\r\nb" };
  assert.throws(() => new WireProvider(openAiChat(OPTIONS.baseUrl), { ...OPTIONS, headers }), ConfigError);
  const api = openAiChat(OPTIONS.baseUrl);
  assert.throws(() => new WireProvider(api, { ...OPTIONS, token: "sk-sécret" }), ConfigError);
  new WireProvider(api, { ...OPTIONS, token: " sk-fine " });
});

Deno.test("WireProvider attributes advice to its author", async () => {
  await withMock("openai-chat", { reply: { status: 401 } }, async ({ baseUrl }) => {
    const advice = { key: "MY_KEY", baseUrl: "MY_URL", model: "MY_MODEL" };
    const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl, advice });
    await assert.rejects(collect(provider), /set MY_KEY/);
  });
});

Deno.test("WireProvider leaves one model's refusal to that model", async () => {
  const handler = ({ body }: { body: { model: string; stream_options?: object } }) =>
    body.model === "old" && body.stream_options ? { status: 400, error: { message: "stream_options?" } } : "yes";
  await withMock("openai-chat", { handler }, async ({ baseUrl, requests }) => {
    const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
    for (const model of ["old", "new", "old"]) {
      assert.equal(textOf(await Array.fromAsync(provider.stream(request({ model }))), "text"), "yes");
    }
    const asked = requests.map(({ body }) => `${body.model} ${"stream_options" in body}`);
    assert.deepEqual(asked, ["old true", "old false", "new true", "old false"]);
  });
});

Deno.test("WireProvider yields no event after a cancellation, though more have arrived", async () => {
  const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
  const body = event("a") + event("b") + event("c") + "data: [DONE]\n\n";
  const reply = { body, headers: { "content-type": "text/event-stream" } };
  await withMock("openai-chat", { reply }, async ({ baseUrl }) => {
    const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
    const abort = new AbortController();
    const seen: string[] = [];
    const onEvent = ({ type }: { type: string }) => {
      seen.push(type);
      abort.abort();
    };
    await assert.rejects(collect(provider, { signal: abort.signal, onEvent }), Cancelled);
    assert.deepEqual(seen, ["text"]);
  });
});

Deno.test("WireProvider leaves no listener on the caller's signal", async () => {
  await withMock("openai-chat", { reply: "yes" }, async ({ baseUrl }) => {
    const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
    const abort = new AbortController();
    let count = 0;
    const { addEventListener, removeEventListener } = abort.signal;
    abort.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      count++;
      return addEventListener.apply(abort.signal, args);
    };
    abort.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      count--;
      return removeEventListener.apply(abort.signal, args);
    };
    await collect(provider, { signal: abort.signal });
    assert.equal(count, 0);
  });
});

/** Redirects every call to `to`, except calls that are already there. */
function redirecting(status: number, to: (path: string) => string) {
  return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (asked) => {
    const { pathname } = new URL(asked.url);
    if (pathname.endsWith("/")) {
      return Response.json({ data: [{ id: "m" }], choices: [{ message: { content: "yes" } }] });
    }
    return new Response(null, { status, headers: { location: to(pathname) } });
  });
}

Deno.test("WireProvider never follows a redirect to another service, which would get the key", async () => {
  const seen: string[] = [];
  const other = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (asked) => {
    seen.push(asked.url);
    return new Response("thanks");
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const server = redirecting(status, (path) => `http://127.0.0.1:${other.addr.port}${path}`);
    const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
    const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
    for (const call of [collect(provider), provider.models({ signal: new AbortController().signal })]) {
      const error = await Promise.resolve(call).then(() => null, (error: Error) => error);
      const text = `it redirects to http://127.0.0.1:${other.addr.port}/v1/`;
      assert.ok(error?.message.includes(text), error?.message);
      assert.match(error?.message ?? "", new RegExp(`\\(status ${status}\\)`));
      assert.match(error?.message ?? "", /; check the base URL of mine$/);
    }
    await server.shutdown();
  }
  assert.deepEqual(seen, []);
  await other.shutdown();
});

Deno.test("WireProvider names the page of the same service to which it was redirected", async () => {
  const server = redirecting(302, () => "/login");
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const provider = new WireProvider(openAiChat(origin), { ...OPTIONS, baseUrl: `${origin}/v1` });
  await assert.rejects(collect(provider), (error: Error) => {
    assert.ok(error.message.endsWith(`it redirects to ${origin}/login (status 302); check the base URL of mine`));
    return true;
  });
  await server.shutdown();
});

Deno.test("WireProvider follows redirects within a service that keep the request, and no endless ones", async () => {
  for (const status of [307, 308]) {
    const server = redirecting(status, (path) => `${path}/`);
    const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
    const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
    assert.equal(textOf(await collect(provider), "text"), "yes");
    assert.deepEqual(await provider.models({ signal: new AbortController().signal }), ["m"]);
    await server.shutdown();
  }
  const circle = redirecting(307, (path) => path);
  const baseUrl = `http://127.0.0.1:${circle.addr.port}/v1`;
  await assert.rejects(collect(new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl })), /it redirects to/);
  await circle.shutdown();
});

Deno.test("WireProvider models() reads a bounded number, however long the list is", async () => {
  const data = Array.from({ length: 250_000 }, (_, n) => ({ id: `m${n}` }));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => Response.json({ data }));
  const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
  const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
  assert.equal((await provider.models({ signal: new AbortController().signal })).length, 10_000);
  await server.shutdown();
});

for (const [at, protocol] of PROTOCOLS.entries()) {
  const { wire, marksEnd, words } = WIRES[protocol];
  const endless = [...at === 0 ? [ENDLESS_COMMENTS] : [], ...at < runs(1, PROTOCOLS.length) ? [ENDLESS_PINGS] : []];
  providerSuite({
    name: `createProvider(${protocol})`,
    wire: { marksEnd, failures: [...failures(words), ...LARGE_REPLIES, ...endless] },
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
  for await (const _event of events) { /* The stream is read to its end. */ }
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

  Deno.test(`createProvider(${protocol}) passes on the reason for a missing token`, async () => {
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

  Deno.test(`createProvider(${protocol}) sends no key if none is set`, async () => {
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

  Deno.test(`createProvider(${protocol}) refuses an invalid address`, async () => {
    await assert.rejects(
      provide(protocol, { baseUrl: "localhost:8080" }),
      (error) =>
        error instanceof ConfigError &&
        error.message.includes("it is not an address like http://127.0.0.1:8080/v1; correct the base URL of mocked"),
    );
  });

  Deno.test(`createProvider(${protocol}) refuses images for a model without sight before any request`, async () => {
    await withMock(protocol, { reply: "yes" }, async (mock) => {
      const provider = await provide(protocol, { baseUrl: mock.baseUrl });
      const messages: ModelMessage[] = [{ role: "user", text: "What is it?", images: [PIXEL] }];
      const error = await failureOf(readAll(provider.stream(request({ messages }))));
      assert.match(
        error.message,
        /^Cannot send an image to mock-1 of mocked: Vis does not know that this model accepts images/,
      );
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
        // The handler runs after every event, so that the service is silent after the last one.
        const onEvent = () => {
          setTimeout(() => clock.pass(30));
          return false;
        };
        const error = await failureOf(router.ask({ messages, reasoning }, { signal: ENDLESS, onEvent }));
        assert.equal(error.code, "stall");
        assert.match(
          error.message,
          fault === "silence" ? /it sent nothing for 0\.\d+ s/ : /its first word did not come/,
        );
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
