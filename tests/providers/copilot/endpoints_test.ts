import assert from "node:assert/strict";
import { ConfigError } from "../../../src/domain/errors.ts";
import { copilotEndpoints } from "../../../src/providers/copilot/endpoints.ts";

Deno.test("copilotEndpoints() are those of github.com, or of an enterprise", () => {
  assert.deepEqual(copilotEndpoints("github.com"), {
    deviceCode: "https://github.com/login/device/code",
    accessToken: "https://github.com/login/oauth/access_token",
    exchange: "https://api.github.com/copilot_internal/v2/token",
    api: "https://api.githubcopilot.com",
  });
  const { exchange, api } = copilotEndpoints("company.ghe.com");
  assert.deepEqual([exchange, api], [
    "https://api.company.ghe.com/copilot_internal/v2/token",
    "https://copilot-api.company.ghe.com",
  ]);
});

Deno.test("copilotEndpoints() refuses what is no domain", () => {
  for (
    const domain of ["", "localhost", "https://github.com", "a.b/c", "a b.com", "user@github.com", "github.com:8080"]
  ) {
    assert.throws(() => copilotEndpoints(domain), ConfigError, domain);
  }
});
