import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";

export const AUDIENCE = "https://vis.example";

export type Claims = Readonly<Record<string, unknown>>;

/** An issuer of tokens on loopback. Its document of keys has the content of `keys`. */
export interface Issuer extends AsyncDisposable {
  readonly url: string;
  readonly keys: object[];
  readonly asked: string[];
  answer: (() => Response) | null;
  add(kid: string, alg?: string): Promise<Signer>;
}

export interface Signer {
  readonly kid: string;
  readonly pem: string;
  /** Returns a valid token, except for the given claims and header. */
  sign(claims?: Claims, header?: { readonly kid?: string }): Promise<string>;
}

/** Starts an issuer whose tokens are valid at `now`, in seconds since the epoch. */
export function startIssuer(now: number): Issuer {
  const keys: object[] = [];
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    if (issuer.answer) return issuer.answer();
    if (pathname === "/.well-known/openid-configuration") {
      return Response.json({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` });
    }
    return Response.json({ keys });
  });
  const issuer: Issuer = {
    ...{ keys, asked, answer: null },
    url: `http://127.0.0.1:${server.addr.port}`,
    add: async (kid, alg = "ES256") => {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      keys.push({ ...await exportJWK(publicKey), kid, alg, use: "sig" });
      return {
        kid,
        pem: await exportSPKI(publicKey),
        sign: (claims = {}, header = {}) =>
          new SignJWT({
            ...{ iss: issuer.url, aud: AUDIENCE, sub: "ana", exp: now + 600, scope: "openid vis:write", ...claims },
          }).setProtectedHeader({ alg, kid, ...header }).sign(privateKey),
      };
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return issuer;
}
