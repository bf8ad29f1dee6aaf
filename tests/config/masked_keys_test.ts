import assert from "node:assert/strict";
import { isSecret, maskSecrets } from "../../src/config/masked_keys.ts";

Deno.test("isSecret() recognizes keys by their form and by their names", () => {
  const keys = [
    "sk-ant-api03-0123456789abcdefABCDEF-x_y",
    "sk-proj-abcdefghijklmnopqrst",
    "ghp_0123456789abcdefghij0123456789abcdef",
    "github_pat_11ABCDEFG0123456789abc_x",
    "xai-0123456789abcdefghijABCDEFGHIJ",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "Bearer abcdefgh1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "https://me:pass@host/v1",
    "https://token@host/v1",
    "postgres://me:pass@host/vis",
    "postgres://me@host/vis?sslmode=require&password=pass",
    "https://host/mcp?apiKey=abc",
  ];
  for (const key of keys) assert.ok(isSecret("model", key), key);
  for (const name of ["apiKey", "api_key", "botToken", "TOKEN", "password", "Authorization", "client_secret"]) {
    assert.ok(isSecret(name, "x"), name);
  }
  assert.ok(!isSecret("update.publicKey", "x"));
  assert.ok(isSecret("headers", { "X-Api-Key": "x" }));
  assert.ok(isSecret("list", ["fine", "ghp_0123456789abcdefghij0123456789abcdef"]));
});

Deno.test("isSecret() accepts references to secrets, and nothing next to them", () => {
  for (const value of ["${auth:acme}", "Bearer ${TOKEN}", "token ${GITHUB_TOKEN}", "https://host/?key=${auth:acme}"]) {
    assert.equal(isSecret(value.startsWith("https:") ? "url" : "authorization", value), false, value);
  }
  assert.equal(isSecret("authorization", "Bearer ${TOKEN}x"), true);
  assert.equal(isSecret("apiKey", "abc${X}"), true);
});

Deno.test("isSecret() accepts names of models, files and numbers", () => {
  const names = [
    ...["anthropic/claude-sonnet-4-5", "skywork-o1-open-llama-3.1-8b", "xai-grok-4-fast-reasoning", "sk-small-model"],
    ...[
      "hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:latest",
      "gpt-5-2025-08-07",
      "http://127.0.0.1:8080/v1",
      "rm -rf *",
    ],
  ];
  for (const name of names) assert.ok(!isSecret("model", name), name);
  assert.ok(!isSecret("database", "postgres://vis@db.example.org/vis?sslmode=require"));
  for (const name of ["keyEnv", "tokenFile", "tokensFile", "model"]) assert.ok(!isSecret(name, "OPENAI_API_KEY"), name);
  assert.ok(!isSecret("tokens", 100_000));
  assert.ok(!isSecret("apiKey", ""));
});

Deno.test("maskSecrets() keeps harmless values, and masks every header's value", () => {
  const value = {
    baseUrl: "https://me:4711@host/v1?x=4711",
    headers: { "X-Team": "4711" },
    nested: [{ apiKey: "4711", model: "m" }],
    count: 4,
  };
  const masked = maskSecrets("providers", value);
  assert.deepEqual(masked, {
    baseUrl: "https://••••@host/v1",
    headers: { "X-Team": "••••" },
    nested: [{ apiKey: "••••", model: "m" }],
    count: 4,
  });
});
