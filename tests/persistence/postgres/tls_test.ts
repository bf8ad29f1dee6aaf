import assert from "node:assert/strict";
import { StoreError, UsageError } from "../../../src/domain/errors.ts";
import { toPostgresError } from "../../../src/persistence/postgres/postgres_error.ts";
import { readAddress, Server } from "../../../src/persistence/postgres/server.ts";
import { noPostgres, type Postgres, postgresTests } from "../../helpers/postgres.ts";

const folder = Deno.makeTempDirSync({ prefix: "vis-tls-" });
const port = noPostgres === "" ? await prepare() : 0;
addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

const test = await postgresTests({
  port,
  settings: ["ssl = on", `ssl_cert_file = '${folder}/server.pem'`, `ssl_key_file = '${folder}/server.key'`],
});

test("connections over TLS are verified by the authority, for names and for addresses", async (postgres) => {
  for (const [host, subject] of [["localhost", "DNS:localhost"], ["127.0.0.1", "IP:127.0.0.1"]] as const) {
    await certify(postgres, subject);
    assert.equal(await connected(host, "sslmode=verify-full", `sslrootcert=${folder}/ca.pem`), "over TLS");
    assert.match(
      await connected(host, "sslmode=verify-full"),
      /the certificate of the PostgreSQL server is not trusted; name its authority/,
    );
    assert.equal(await connected(host, "sslmode=require"), "over TLS");
    assert.equal(await connected(host, "sslmode=disable"), "without TLS");
  }
});

test("a certificate for another name is refused", async (postgres) => {
  await certify(postgres, "DNS:db.example.org");
  for (const host of ["localhost", "127.0.0.1"]) {
    const answer = await connected(host, "sslmode=verify-full", `sslrootcert=${folder}/ca.pem`);
    assert.match(answer, /unavailable: .*the certificate of the PostgreSQL server is for another name/);
  }
});

test("an authority that cannot be read is an error of the URL", async () => {
  const file = `sslrootcert=${folder}/none.pem`;
  assert.match(
    await connected("localhost", "sslmode=verify-full", file),
    /^usage: Cannot read .*none\.pem, the sslrootcert of the database URL: there is no such file .*; correct the path/,
  );
});

test("a server without TLS is not used in plain text where TLS is asked for", async (postgres) => {
  await change(postgres, "ssl = off");
  assert.match(
    await connected("localhost", "sslmode=require"),
    /unavailable: Cannot use database there: PostgreSQL does not.* sslmode=disable if nobody else can read the network/,
  );
  await change(postgres, "ssl = on");
});

async function connected(host: string, ...parameters: readonly string[]): Promise<string> {
  const url = `postgres://admin@${host}:${port}/postgres?${parameters.join("&")}`;
  try {
    const server = new Server(readAddress(url), { patienceMs: 0 });
    await using _end = { [Symbol.asyncDispose]: () => server.close() };
    const connection = await server.take();
    const { rows } = await connection.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    connection.release();
    return rows[0]?.ssl === 1 ? "over TLS" : "without TLS";
  } catch (error) {
    if (error instanceof UsageError) return `usage: ${error.message}`;
    const known = toPostgresError(error, "there");
    if (!(known instanceof StoreError)) throw known;
    return `${known.code}: ${known.message}`;
  }
}

/** Makes an authority and the key of the server. Returns a free port. */
async function prepare(): Promise<number> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2");
  await openssl("req", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server");
  await sign("DNS:localhost");
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  if (Deno.uid() === 0) {
    for (const name of ["", "/server.key", "/server.pem"]) await Deno.chown(folder + name, 65534, null);
  }
  return listener.addr.port;
}

async function sign(subject: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/names`, `subjectAltName=${subject}\n`);
  const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names"];
  await openssl("x509", "-req", "-in", "server.csr", ...by, "-out", "server.pem", "-days", "2");
}

async function openssl(...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", { args: [...args], cwd: folder, stdin: "null" })
    .output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

async function certify(postgres: Postgres, subject: string): Promise<void> {
  await sign(subject);
  await postgres.stop("fast");
  await postgres.start();
}

async function change(postgres: Postgres, setting: string): Promise<void> {
  await postgres.sql(`ALTER SYSTEM SET ${setting}`);
  await postgres.stop("fast");
  await postgres.start();
}
