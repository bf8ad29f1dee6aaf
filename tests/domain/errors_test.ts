import {
  advised,
  BusyError,
  Cancelled,
  ConfigError,
  fileFault,
  HostCallError,
  messageOf,
  ProviderError,
  reasonOf,
  retold,
  SandboxEnded,
  SettingError,
  StoreError,
  UsageError,
  withoutAdvice,
} from "../../src/domain/errors.ts";
import assert from "node:assert/strict";

Deno.test("errors carry their name, so that a log and a model can distinguish them", () => {
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
  assert.equal(setting.message, "Cannot use /f: a.b it may not; move it");
  assert.deepEqual([setting.key, setting.why, setting.code], ["a.b", "it may not", "untrusted"]);
});

Deno.test("ProviderError has defaults for unknown facts", () => {
  const error = new ProviderError("m", { code: "server", retryable: false });
  assert.deepEqual([error.status, error.retryAfterMs, error.cause], [null, null, undefined]);
  const full = new ProviderError("m", { code: "rate", retryable: true, status: 429, retryAfterMs: 1500 });
  assert.deepEqual([full.code, full.retryable, full.status, full.retryAfterMs], ["rate", true, 429, 1500]);
});

Deno.test("SandboxEnded contains the reason in its message", () => {
  assert.equal(new SandboxEnded("it was killed").message, "Sandbox ended: it was killed");
});

Deno.test("messageOf() and reasonOf() describe any thrown value, the latter for use after a colon", () => {
  assert.deepEqual([messageOf(new Error("It ended")), messageOf("text"), messageOf(null)], [
    "It ended",
    "text",
    "null",
  ]);
  const reasons = ["It ended", "TLS failed", "A part is wrong", "done"].map((text) => reasonOf(new Error(text)));
  assert.deepEqual(reasons, ["it ended", "TLS failed", "a part is wrong", "done"]);
});

Deno.test("fileFault() describes errors of Deno and of Node in words", async () => {
  const fault = async (work: () => Promise<unknown>): Promise<string> => {
    try {
      await work();
    } catch (error) {
      return fileFault(error);
    }
    return "";
  };
  assert.equal(await fault(() => Deno.readTextFile("/nowhere/at/all")), "there is no such file or folder");
  assert.equal(await fault(() => Deno.readTextFile("/")), "it is a folder");
  const full = Object.assign(new Error("No space left on device (os error 28)"), { code: "ENOSPC" });
  assert.match(fileFault(full), /^the disk is full or has no inodes left/);
  assert.match(fileFault(new Error("File too large (os error 27)")), /would exceed a size limit, .*ulimit -f/);
  assert.equal(fileFault(new Deno.errors.NotCapable("Requires all access")), "access is denied");
  assert.equal(fileFault(new Error("something else")), "something else");
  assert.equal(fileFault(new Error("with a secret"), "Error"), "Error");
  assert.equal(fileFault("text"), "text");
});

Deno.test("retold() keeps the advice of an error at its end, and people read the message without it", () => {
  const plain = retold(new Error("The name is empty"), (reason) => `Cannot call: ${reason}`);
  assert.deepEqual({ ...plain, message: plain.message }, { message: "Cannot call: the name is empty" });
  const inner = advised(new Error("The name is empty"), "pass a name");
  const outer = retold(inner, (reason) => `Cannot call: ${reason}, and nothing ran`);
  assert.equal(outer.message, "Cannot call: the name is empty, and nothing ran; pass a name");
  assert.equal(Reflect.get(outer, "advice"), "pass a name");
  assert.equal(withoutAdvice(outer), "Cannot call: the name is empty, and nothing ran");
});
