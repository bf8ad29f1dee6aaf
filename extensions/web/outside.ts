import { lookup } from "node:dns/promises";

/** All access to the network, so that tests can replace it. */
export interface Outside {
  /** All addresses of a name. */
  resolve(host: string): Promise<readonly string[]>;
  /** Connects to an address, never to a name. */
  connect(address: string, port: number): Promise<Deno.TcpConn>;
  /** Certificates in addition to the system's, as PEM. */
  readonly caCerts: readonly string[];
}

export const OUTSIDE: Outside = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: (hostname, port) => Deno.connect({ hostname, port }),
  caCerts: [],
};
