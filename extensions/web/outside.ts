import { lookup } from "node:dns/promises";

/** The few ways out, so that tests can stand in for them. */
export interface Outside {
  /** All addresses of a name. */
  resolve(host: string): Promise<readonly string[]>;
  /** To an address, never to a name. */
  connect(address: string, port: number): Promise<Deno.TcpConn>;
  /** Certificates beside the system's, as PEM. */
  readonly caCerts: readonly string[];
}

export const OUTSIDE: Outside = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: (hostname, port) => Deno.connect({ hostname, port }),
  caCerts: [],
};
