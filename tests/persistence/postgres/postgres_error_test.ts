import assert from "node:assert/strict";
import fc from "fast-check";
import { StoreError } from "../../../src/domain/errors.ts";
import { isLost, lostOr, toPostgresError } from "../../../src/persistence/postgres/postgres_error.ts";

const coded = (code: string, message = "write failed"): Error => Object.assign(new Error(message), { code });

Deno.test("any failure of the socket is a lost connection", () => {
  const names = fc.stringMatching(/^E[A-Z]{2,12}$/);
  fc.assert(fc.property(names, fc.string(), (name, message) => {
    const error = lostOr(coded(name, `write ${name} ${message}`));
    const told = toPostgresError(error, "postgres://vis@db/vis");
    assert.ok(isLost(error) || /certificate|SSL/i.test(message));
    assert.ok(told instanceof StoreError);
    assert.equal(told.code, "unavailable");
  }));
  for (const code of ["EBADF", "EPIPE", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED", ""]) {
    assert.ok(isLost(lostOr(coded(code))), code);
  }
});

Deno.test("an error that the server sends, and one of the program, is no lost connection", () => {
  for (const code of ["23505", "40001", "53100", "25006", "57014", "EX000"]) {
    const error = coded(code);
    assert.equal(lostOr(error), error);
    assert.ok(!isLost(error), code);
  }
  for (const code of ["57P01", "57P02", "57P03", "57P05", "08006", "25P03"]) assert.ok(isLost(coded(code)), code);
  const error = new TypeError("Cannot bind a value to an SQL statement: its type is Date");
  assert.equal(lostOr(error), error);
});

Deno.test("a missing password and an expired certificate are not waited for, and the words name them", () => {
  const cases = {
    "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string": /requires a password; set VIS_DATA/,
    "invalid peer certificate: Expired": /has expired or is not yet valid; renew it/,
  };
  for (const [message, words] of Object.entries(cases)) {
    const error = lostOr(new Error(message));
    assert.ok(!isLost(error));
    assert.match(String(toPostgresError(error, "x")), words);
  }
});

Deno.test("a certificate that is not trusted is not waited for", () => {
  const error = lostOr(new Error("invalid peer certificate: UnknownIssuer"));
  assert.ok(!isLost(error));
  assert.match(String(toPostgresError(error, "x")), /sslrootcert/);
});
