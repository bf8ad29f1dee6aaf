import assert from "node:assert/strict";
import { ConfigError, ProviderError } from "../../../src/domain/errors.ts";
import { type Provider, UNKNOWN_MODEL } from "../../../src/providers/provider.ts";
import { openAiChat } from "../../../src/providers/wire/openai_chat.ts";
import { WireProvider } from "../../../src/providers/wire/wire_provider.ts";
import type { ProviderOptions } from "../../../src/providers/wire/wire.ts";
import { collect, request, textOf } from "../../conformance/provider_calls.ts";
import { failures } from "../../conformance/provider_failures.ts";
import { providerSuite } from "../../conformance/provider_suite.ts";
import { type MockOptions, type OpenAiMock, startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { WIRES } from "../../helpers/wires/wire_rig.ts";

const KEY = "sk-test-0123456789abcdef";

providerSuite({
  name: "an OpenAI-compatible server",
  wire: {
    marksEnd: true,
    failures: failures(WIRES["openai-chat"].words),
  },
  start: async (reply) => {
    const mock = await startOpenAiMock({ reply, key: KEY });
    return {
      provider: provide({ baseUrl: mock.baseUrl, graceMs: 500 }),
      connections: () => mock.connections,
      asked: () => mock.requests.map(({ texts }) => texts),
      left: (count) => mock.waitForLeft(count),
      close: () => mock.close(),
    };
  },
});

/** Makes a provider as `makeProvider` does from VIS_BASE_URL, VIS_API_KEY and VIS_MODEL. */
function provide(options: Partial<ProviderOptions>): Provider {
  return new WireProvider(openAiChat(options.baseUrl ?? ""), {
    name: "local",
    baseUrl: "",
    token: KEY,
    defaultModel: "mock-1",
    advice: { key: "VIS_API_KEY", baseUrl: "VIS_BASE_URL", model: "VIS_MODEL" },
    ...options,
  });
}

async function withMock(options: MockOptions, body: (mock: OpenAiMock) => Promise<void>): Promise<void> {
  const mock = await startOpenAiMock(options);
  try {
    await body(mock);
  } finally {
    await mock.close();
  }
}

async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(() => null, (error: unknown) => error);
  assert.ok(error instanceof ProviderError, `no ProviderError: ${error}`);
  return error;
}

function everythingIn(error: Error): string {
  return Deno.inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + String(error.cause);
}

Deno.test("an OpenAI-compatible server: accepts a base URL in the forms that people paste", async () => {
  await withMock({ reply: "yes", key: KEY }, async ({ baseUrl, requests }) => {
    const forms = ["", "/", "//", "/chat/completions", "/chat/completions/", "?api-version=2", "/#top", " "];
    for (const form of forms) {
      assert.equal(textOf(await collect(provide({ baseUrl: baseUrl + form })), "text"), "yes", form);
    }
    assert.deepEqual(
      requests.map(({ path }) => path),
      forms.map((form) => `/v1/chat/completions${form.startsWith("?") ? form : ""}`),
    );
  });
});

Deno.test("an OpenAI-compatible server: suggests /v1 where the base URL has no version", async () => {
  await withMock({ reply: "yes" }, async ({ baseUrl }) => {
    const root = baseUrl.replace("/v1", "");
    const error = await failureOf(collect(provide({ baseUrl: root })));
    assert.equal(error.status, 404);
    assert.ok(error.message.includes(`model "mock-1" or the path ${root}/chat/completions`), error.message);
    assert.ok(error.message.includes(`for example ${root}/v1`), error.message);
    const listing = await failureOf(provide({ baseUrl: root }).models({ signal: new AbortController().signal }));
    assert.ok(listing.message.includes(`Cannot find ${root}/models`), listing.message);
  });
});

Deno.test("an OpenAI-compatible server: refuses an invalid base URL, without showing its secrets", () => {
  for (
    const baseUrl of ["", "localhost:8080/v1", "ftp://host/v1", "nonsense", "http://", "//u:hunter22@h/v1?k=hunter22"]
  ) {
    assert.throws(() => provide({ baseUrl }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /it is not an address like .*; correct VIS_BASE_URL/);
      assert.doesNotMatch(error.message, /hunter22/);
      return true;
    }, baseUrl);
  }
});

Deno.test("an OpenAI-compatible server: refuses a key or header that cannot be sent, without showing it", () => {
  const bad: Partial<ProviderOptions>[] = [
    { token: "sk-secret\nsk-other" },
    { token: "sk-sécret" },
    { headers: { "x-tenant": "sk-secret\r\nx: y" } },
    { headers: { "bad name": "sk-secret" } },
  ];
  for (const options of bad) {
    assert.throws(() => provide({ baseUrl: "http://127.0.0.1:9/v1", ...options }), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.doesNotMatch(error.message, /secret|sécret/);
      return true;
    });
  }
});

Deno.test("an OpenAI-compatible server: names the address of a server that is not there, without credentials", async () => {
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  taken.close();
  const provider = provide({ baseUrl: `http://me:hunter22@127.0.0.1:${port}/v1?key=hunter33`, token: "" });
  for (const call of [collect(provider), provider.models({ signal: new AbortController().signal })]) {
    const error = await failureOf(call);
    assert.equal(error.code, "network");
    assert.equal(error.retryable, true);
    assert.ok(
      error.message.startsWith(`Cannot reach http://127.0.0.1:${port}/v1: the connection was refused`),
      error.message,
    );
    assert.doesNotMatch(everythingIn(error), /hunter/);
  }
});

Deno.test("an OpenAI-compatible server: gets a name and a password of any letters, which no message shows", async () => {
  await withMock({ reply: { status: 500, error: { message: "no: bsOzecOpLXVzZXI6xIXEmcWCdw==" } } }, async (mock) => {
    const baseUrl = mock.baseUrl.replace("//", "//nóyé-user:ąęłw@");
    const error = await failureOf(collect(provide({ baseUrl, token: "" })));
    assert.doesNotMatch(error.message, /bsOz/);
    const { authorization = "" } = mock.requests[0]?.headers ?? {};
    const sent = Uint8Array.fromBase64(authorization.replace("Basic ", ""));
    assert.equal(new TextDecoder().decode(sent), "nóyé-user:ąęłw");
  });
});

Deno.test("an OpenAI-compatible server: reports an unknown host name", async () => {
  const error = await failureOf(collect(provide({ baseUrl: "http://vis-test.invalid/v1" })));
  assert.match(
    error.message,
    /^Cannot reach http:\/\/vis-test\.invalid\/v1: .*check the network and VIS_BASE_URL, and the proxy if /,
  );
  assert.equal(error.code, "network");
});

Deno.test("an OpenAI-compatible server: never shows the key, however the service echoes it", async () => {
  const secret = `sk-"odd"+/=&key-wxyz`;
  const headers = { "x-tenant-token": "tenant-token-qrst" };
  const echo = `got ${secret} and ${encodeURIComponent(secret)} and ${JSON.stringify(secret)} and Bearer ${secret} ` +
    `and tenant-token-qrst and query-secret and hunter22 and ${btoa("me:hunter22")}`;
  const replies = [
    ...[400, 401, 404, 413, 429, 500].map((status) => ({ status, error: { message: echo, code: secret } })),
    { body: JSON.stringify({ error: { message: echo } }) },
    { fault: "error_chunk" as const, text: "some text", error: { message: echo } },
    { body: echo, headers: { "content-type": "text/plain" } },
    { body: JSON.stringify({ other: echo }) },
    { status: 500, body: echo },
    { refusal: echo },
  ];
  await withMock({ reply: replies }, async ({ baseUrl }) => {
    const address = baseUrl.replace("http://", "http://me:hunter22@") + "?token=query-secret";
    const provider = provide({ baseUrl: address, token: secret, headers });
    for (const reply of replies) {
      const shown = everythingIn(await failureOf(collect(provider)));
      assert.doesNotMatch(shown, /wxyz|qrst|query-secret|hunter22|bWU6aHVud/, JSON.stringify(reply));
    }
  });
});

Deno.test("an OpenAI-compatible server: distinguishes a wrong key from a missing one", async () => {
  await withMock({ reply: "yes", key: KEY }, async ({ baseUrl, requests }) => {
    const wrong = await failureOf(collect(provide({ baseUrl, token: "sk-wrong-key-55" })));
    assert.match(wrong.message, /status 401.*; check VIS_API_KEY/);
    assert.doesNotMatch(wrong.message, /sk-wrong/);
    const missing = await failureOf(collect(provide({ baseUrl, token: "" })));
    assert.match(missing.message, /refused access without a key, with status 401.*; set VIS_API_KEY/);
    const listing = await failureOf(provide({ baseUrl, token: "" }).models({ signal: new AbortController().signal }));
    assert.equal(listing.code, "auth");
    assert.equal(requests.length, 0);
  });
});

Deno.test("an OpenAI-compatible server: an error names the refused list of models, or the refused call", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("", { status: 429 }),
  );
  try {
    const provider = provide({ baseUrl: `http://127.0.0.1:${server.addr.port}/v1` });
    const listing = await failureOf(provider.models({ signal: new AbortController().signal }));
    assert.match(
      listing.message,
      /: it refused to list its models with status 429, too many requests; /,
    );
    assert.match((await failureOf(collect(provider))).message, /: it refused the model call with status 429, /);
  } finally {
    await server.shutdown();
  }
});

Deno.test("an OpenAI-compatible server: the brief form of a failure begins with the reason and ends with the address", async () => {
  const replies = [[429, { error: { message: "Slow down." } }, "rate limit (429): Slow down"], [
    500,
    "",
    "status 500",
  ]] as const;
  for (const [status, body, brief] of replies) {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => new Response(body && JSON.stringify(body), { status }),
    );
    const baseUrl = `http://127.0.0.1:${server.addr.port}/v1`;
    assert.equal((await failureOf(collect(provide({ baseUrl })))).brief, `${brief} · ${baseUrl}`);
  }
});

Deno.test("an OpenAI-compatible server: understands every form of retry-after", async () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const forms: [Record<string, string>, number | null][] = [
    [{ "retry-after": "3" }, 3000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "-4" }, null],
    [{}, null],
  ];
  await withMock({ reply: forms.map(([headers]) => ({ status: 429, headers })) }, async ({ baseUrl }) => {
    const provider = provide({ baseUrl, now: () => now });
    for (const [headers, wait] of forms) {
      assert.equal((await failureOf(collect(provider))).retryAfterMs, wait, JSON.stringify(headers));
    }
  });
});

Deno.test("an OpenAI-compatible server: sends the key, the headers and the stable wire format", async () => {
  await withMock({ reply: "yes" }, async ({ baseUrl, requests }) => {
    await collect(provide({ baseUrl, headers: { "X-Title": "Vis" } }));
    const [asked] = requests;
    assert.ok(asked);
    assert.equal(asked.headers.authorization, `Bearer ${KEY}`);
    assert.equal(asked.headers["x-title"], "Vis");
    assert.equal(asked.headers["user-agent"], "vis");
    assert.deepEqual(asked.body, {
      model: "mock-1",
      messages: [
        { role: "system", content: "You are terse." },
        { role: "user", content: "Hello" },
        { role: "user", content: "Context 1" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});

Deno.test("an OpenAI-compatible server: sends an effort only to models that reason", async () => {
  await withMock({ reply: "yes" }, async ({ baseUrl, requests }) => {
    for (const nativeReasoning of [false, true]) {
      const provider = provide({ baseUrl, capabilities: () => ({ ...UNKNOWN_MODEL, nativeReasoning }) });
      for await (const _event of provider.stream(request({ reasoning: "deep" }))) {
        /* The stream is read to its end. */
      }
    }
    assert.deepEqual(requests.map(({ body }) => body.reasoning_effort), [undefined, "high"]);
  });
});

Deno.test("an OpenAI-compatible server: retries nothing itself", async () => {
  await withMock({ reply: { status: 503 } }, async ({ baseUrl, requests }) => {
    await failureOf(collect(provide({ baseUrl })));
    assert.equal(requests.length, 1);
  });
});

Deno.test("an OpenAI-compatible server: lists models in the shapes that servers use", async () => {
  const shapes: [unknown, string[] | null][] = [
    [{ object: "list", data: [{ id: "a" }, { id: "b" }] }, ["a", "b"]],
    [{ models: [{ name: "a" }] }, ["a"]],
    [[{ id: "a" }], ["a"]],
    [{ data: [] }, []],
    [{ hello: 1 }, null],
    ["text", null],
  ];
  for (const [body, expected] of shapes) {
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => Response.json(body));
    const listing = provide({ baseUrl: `http://127.0.0.1:${server.addr.port}/v1` })
      .models({ signal: new AbortController().signal });
    if (expected) assert.deepEqual(await listing, expected);
    else assert.match((await failureOf(listing)).message, /not have the format of the chat completions API/);
    await server.shutdown();
  }
});
