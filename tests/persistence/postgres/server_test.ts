import assert from "node:assert/strict";
import { isLost } from "../../../src/persistence/postgres/postgres_error.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";

/** Returns a message of PostgreSQL's protocol
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
function message(type: string, body: string): string {
  const length = body.length + 4;
  return type + String.fromCharCode(length >> 24, length >> 16 & 255, length >> 8 & 255, length & 255) + body;
}

const ACCEPTED = message("R", "\0\0\0\0") + message("Z", "I");
const ENDED = message("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0");

Deno.test("a connection begins with no setting that a pooler refuses by default", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const told = (async () => {
    const connection = await listener.accept();
    const bytes = new Uint8Array(1024);
    const length = await connection.read(bytes) ?? 0;
    connection.close();
    return new TextDecoder().decode(bytes.subarray(8, length)).split("\0");
  })();
  const { port } = listener.addr;
  const server = new Server(readAddress(`postgres://vis@127.0.0.1:${port}/vis?sslmode=disable`), { patienceMs: 0 });
  await assert.rejects(server.take(), isLost);
  const names = (await told).filter((word, at) => at % 2 === 0 && word !== "");
  assert.deepEqual(names.sort(), ["application_name", "client_encoding", "database", "user"]);
  await server.close();
  listener.close();
});

Deno.test("a connection that ends as it begins does not affect others", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const accepted = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(1024));
    // Both messages arrive together.
    await connection.write(Uint8Array.from(ACCEPTED + ENDED, (char) => char.charCodeAt(0)));
    connection.close();
  })();
  const { port } = listener.addr;
  const server = new Server(readAddress(`postgres://vis@127.0.0.1:${port}/vis?sslmode=disable`), { patienceMs: 0 });
  const connection = await server.take();
  await accepted;
  await assert.rejects(connection.query("SELECT 1"), isLost);
  connection.release(true);
  await server.close();
  listener.close();
});

Deno.test("a percent sign that begins no code in a database URL is part of its name", () => {
  const { user, database, password } = readAddress("postgres://vis%40home:50%off@127.0.0.1/d%zz");
  assert.deepEqual({ user, database, password }, { user: "vis@home", database: "d%zz", password: "50%off" });
});
