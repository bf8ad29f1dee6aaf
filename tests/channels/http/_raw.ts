import { connect, type Socket } from "node:net";

/** What comes back for raw bytes, until the server or the time ends it. */
export async function raw(url: string, text: string, { waitMs = 2_000 } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let got = "";
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => void socket.write(text));
  const timer = setTimeout(() => socket.destroy(), waitMs);
  socket.on("data", (bytes) => {
    got += bytes.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(got);
  });
  return await promise;
}

/** A connection on which these bytes were sent, and nothing is read. */
export async function held(url: string, text: string): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text, () => resolve(socket)));
  socket.on("error", () => {});
  socket.pause();
  return await promise;
}

export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
