import { connect, type Socket } from "node:net";

const LONGEST_MS = 30_000;

/** Returns the response to raw bytes, until the server closes the connection or a whole response has arrived. With
 * `moreMs`, it waits that long for further bytes. */
export async function raw(url: string, text: string, { moreMs = 0 } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let got = "";
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => void socket.write(text));
  const end = (): void => void socket.destroy();
  let timer = setTimeout(end, LONGEST_MS);
  socket.on("data", (bytes) => {
    const had = isWhole(got);
    got += bytes.toString("latin1");
    if (had || !isWhole(got)) return;
    clearTimeout(timer);
    timer = setTimeout(end, moreMs);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(got);
  });
  return await promise;
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const [head, body] = [text.slice(0, end), text.slice(end + 4)];
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? body.includes("0\r\n\r\n") : body.length >= Number(length);
}

export async function held(url: string, text: string): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(text, () => resolve(socket)));
  socket.on("error", () => {});
  socket.pause();
  return await promise;
}

export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
