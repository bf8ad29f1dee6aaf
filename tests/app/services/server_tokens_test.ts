import assert from "node:assert/strict";
import { serverTokens } from "../../../src/app/services/server_tokens.ts";
import { DEFAULT_CONFIG } from "../../../src/config/defaults.ts";
import { AUDIENCE, startIssuer } from "../../channels/http/_issuer.ts";

const TOKEN = "test-token-0123456789";

async function sourceOf(jwt: Partial<typeof DEFAULT_CONFIG.server.jwt>) {
  const server = { ...DEFAULT_CONFIG.server, jwt: { ...DEFAULT_CONFIG.server.jwt, ...jwt } };
  const settings = { home: null, config: { ...DEFAULT_CONFIG, server } };
  return (await serverTokens({ token: TOKEN }, { env: {}, settings })).source;
}

Deno.test("serverTokens() accepts tokens of an issuer besides its own only if one is set", async () => {
  await using issuer = startIssuer(Math.floor(Date.now() / 1000));
  const key = await issuer.add("one");
  assert.equal((await sourceOf({})).signed, undefined);
  const source = await sourceOf({ issuer: issuer.url, audience: AUDIENCE });
  assert.deepEqual(issuer.asked, [], "no keys are read before a token needs them");
  assert.deepEqual((await source.grants()).map(({ name }) => name), ["server"]);
  assert.equal((await source.signed?.(await key.sign()))?.name, "jwt:ana");
});

Deno.test("serverTokens() refuses an issuer without an audience: its tokens for others would count", async () => {
  await assert.rejects(
    sourceOf({ issuer: "https://id.example" }),
    /Cannot accept tokens of server\.jwt\.issuer: server\.jwt\.audience is not set; set it to the audience/,
  );
});
