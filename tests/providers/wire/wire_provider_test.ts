import assert from "node:assert/strict";
import { Cancelled, ConfigError } from "../../../src/domain/errors.ts";
import { UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { openAiChat } from "../../../src/providers/wire/openai_chat.ts";
import { WireProvider } from "../../../src/providers/wire/wire_provider.ts";
import { collect, request, textOf } from "../../conformance/provider_calls.ts";
import { withMock } from "../../helpers/wires/wire_rig.ts";

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

Deno.test("WireProvider tells in whose words advice is given", async () => {
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

Deno.test("WireProvider gives nothing after a cancellation, though it has more in hand", async () => {
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

/** A service that sends every call to `to`, unless it is there already. */
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
      const text = `(${status}): it redirects to http://127.0.0.1:${other.addr.port}/v1/`;
      assert.ok(error?.message.includes(text), error?.message);
      assert.match(error?.message ?? "", /; check the base URL of mine$/);
    }
    await server.shutdown();
  }
  assert.deepEqual(seen, []);
  await other.shutdown();
});

Deno.test("WireProvider says to which page of the same service it was sent", async () => {
  const server = redirecting(302, () => "/login");
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const provider = new WireProvider(openAiChat(origin), { ...OPTIONS, baseUrl: `${origin}/v1` });
  await assert.rejects(collect(provider), (error: Error) => {
    assert.ok(error.message.endsWith(`(302): it redirects to ${origin}/login; check the base URL of mine`));
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

Deno.test("WireProvider models() takes so many and no more, however long the list is", async () => {
  const data = Array.from({ length: 250_000 }, (_, n) => ({ id: `m${n}` }));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => Response.json({ data }));
  const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
  const provider = new WireProvider(openAiChat(baseUrl), { ...OPTIONS, baseUrl });
  assert.equal((await provider.models({ signal: new AbortController().signal })).length, 10_000);
  await server.shutdown();
});
