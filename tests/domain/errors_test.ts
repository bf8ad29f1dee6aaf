import assert from "node:assert/strict";
import {
  BusyError,
  Cancelled,
  ConfigError,
  HostCallError,
  ProviderError,
  SandboxEnded,
  SettingError,
  StoreError,
  UsageError,
} from "../../src/domain/errors.ts";

Deno.test("errors carry their name, so that a log and a model can tell them apart", () => {
  const cause = new Error("inner");
  const errors = [
    new UsageError("m"),
    new ConfigError("m"),
    new SettingError({ source: "/f", code: "value", key: "k", why: "w" }),
    new BusyError("m"),
    new Cancelled("m"),
    new StoreError("m", "busy", { cause }),
    new HostCallError("m", { namespace: "fs", symbol: "readFile", hint: "h" }, { cause }),
    new ProviderError("m", { code: "rate", retryable: true, cause }),
    new SandboxEnded("it was killed"),
  ];
  for (const error of errors) {
    assert.equal(error.name, error.constructor.name);
    assert.ok(error instanceof Error);
  }
  assert.equal(errors.filter((error) => error.cause === cause).length, 3);
});

Deno.test("ConfigError keeps its problem, its advice and its cause apart", () => {
  const plain = new ConfigError("m");
  assert.deepEqual([plain.message, plain.problem, plain.advice, plain.code], ["m", "m", "", "other"]);
  const full = new ConfigError("it is wrong", { code: "access", advice: "fix it", cause: plain });
  assert.deepEqual([full.message, full.problem, full.code], ["it is wrong; fix it", "it is wrong", "access"]);
  assert.equal(full.cause, plain);
  const setting = new SettingError({
    source: "/f",
    code: "untrusted",
    key: "a.b",
    why: "it may not",
    advice: "move it",
  });
  assert.ok(setting instanceof ConfigError);
  assert.equal(setting.message, "Cannot use /f: a.b: it may not; move it");
  assert.deepEqual([setting.key, setting.why, setting.code], ["a.b", "it may not", "untrusted"]);
});

Deno.test("ProviderError fills in what is not known", () => {
  const error = new ProviderError("m", { code: "server", retryable: false });
  assert.deepEqual([error.status, error.retryAfterMs, error.cause], [null, null, undefined]);
  const full = new ProviderError("m", { code: "rate", retryable: true, status: 429, retryAfterMs: 1500 });
  assert.deepEqual([full.code, full.retryable, full.status, full.retryAfterMs], ["rate", true, 429, 1500]);
});

Deno.test("SandboxEnded says why in its message", () => {
  assert.equal(new SandboxEnded("it was killed").message, "Sandbox ended: it was killed");
});
