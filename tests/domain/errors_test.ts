import assert from "node:assert/strict";
import {
  BusyError,
  Cancelled,
  ConfigError,
  HostCallError,
  ProviderError,
  SandboxGone,
  StoreError,
  UsageError,
} from "../../src/domain/errors.ts";

Deno.test("errors carry their name, so that a log and a model can tell them apart", () => {
  const cause = new Error("inner");
  const errors = [
    new UsageError("m"),
    new ConfigError("m"),
    new BusyError("m"),
    new Cancelled("m"),
    new StoreError("m", "busy", { cause }),
    new HostCallError("m", { namespace: "fs", symbol: "readFile", hint: "h" }, { cause }),
    new ProviderError("m", { kind: "rate", retryable: true, cause }),
    new SandboxGone("it was killed"),
  ];
  for (const error of errors) {
    assert.equal(error.name, error.constructor.name);
    assert.ok(error instanceof Error);
  }
  assert.equal(errors.filter((error) => error.cause === cause).length, 3);
});

Deno.test("ProviderError fills in what is not known", () => {
  const error = new ProviderError("m", { kind: "server", retryable: false });
  assert.deepEqual([error.status, error.retryAfterMs, error.cause], [null, null, undefined]);
  const full = new ProviderError("m", { kind: "rate", retryable: true, status: 429, retryAfterMs: 1500 });
  assert.deepEqual([full.kind, full.retryable, full.status, full.retryAfterMs], ["rate", true, 429, 1500]);
});

Deno.test("SandboxGone says why in its message", () => {
  assert.equal(new SandboxGone("it was killed").message, "Sandbox ended: it was killed");
});
