import assert from "node:assert/strict";
import { z } from "zod";
import { ConfigSchema } from "../../src/config/schema.ts";
import { settingList } from "../../src/config/setting_list.ts";

const ROOT = new URL("../../", import.meta.url);
const NO_LIMITS = [
  "providers[].models[].contextTokens",
  "providers[].models[].price",
  "providers[].models[].speed",
  "providers[].models[].intelligence",
  "server.port",
  "telegram.allow",
];
/** Limits that tests/e2e/suites/limits_suite.ts does not test, with the file that does. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "providers[].firstTokenMs": "tests/e2e/suites/streams_suite.ts",
  "providers[].silenceMs": "tests/e2e/suites/streams_suite.ts",
  "providers[].rateLimit.requests": "tests/providers/router/router_routes_test.ts",
  "providers[].rateLimit.tokens": "tests/providers/router/router_routes_test.ts",
  "providers[].rateLimit.perMs": "tests/providers/router/router_routes_test.ts",
  "sandbox.live": "tests/e2e/suites/children_suite.ts",
  "server.shutdownMs": "tests/e2e/suites/failures/serve_again_suite.ts",
  "telegram.shutdownMs": "tests/channels/telegram/chat_worker_test.ts",
};

const limits = settingList(z.toJSONSchema(ConfigSchema, { io: "input" })).filter(({ key, type }) =>
  /\b(?:integer|number)\b/.test(type) && !NO_LIMITS.some((name) => key === name || key.startsWith(`${name}.`))
);

Deno.test("every setting that is a limit describes its effect", () => {
  assert.ok(limits.length > 30, "the limits are found");
  assert.deepEqual(limits.filter(({ doc }) => !/\bAt the limit, /.test(doc)).map(({ key }) => key), []);
});

Deno.test("every setting that limits something has a test that sets it", async () => {
  assert.deepEqual(Object.keys(ELSEWHERE).filter((name) => !limits.some(({ key }) => key === name)), []);
  for (const { key } of limits) {
    const path = ELSEWHERE[key] ?? "tests/e2e/suites/limits_suite.ts";
    const text = await Deno.readTextFile(new URL(path, ROOT));
    assert.ok(text.includes(key in ELSEWHERE ? key.split(".").at(-1) ?? "" : key), `${path} has no ${key}`);
  }
});
