import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";

export const AUDIENCE = "https://vis.example";

export type Claims = Readonly<Record<string, unknown>>;

/** An issuer of tokens on loopback. Its document of keys has what `keys` holds at the moment. */
export interface Issuer extends AsyncDisposable {
  readonly url: string;
  /** The public keys as it shows them. */
  readonly keys: object[];
  /** Addresses that were asked for, in order. */
  readonly asked: string[];
  /** Answers in place of the keys, if set. */
  answer: (() => Response) | null;
  /** Adds a key and returns what signs with it. */
  add(kid: string, alg?: string): Promise<Signer>;
}

export interface Signer {
  readonly kid: string;
  /** The public key as PEM. */
  readonly pem: string;
  /** A token that counts, but for the given claims and the given header. */
  sign(claims?: Claims, header?: { readonly kid?: string }): Promise<string>;
}

/** Starts one whose tokens are of this moment, in seconds since the epoch. */
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
