import assert from "node:assert/strict";
import { openNotes, reachedAt } from "../../../src/app/services/serve.ts";

Deno.test("openNotes() warns about a server that other machines can reach, and names the setting that admits them", () => {
  assert.deepEqual([...openNotes("127.0.0.1", []), ...openNotes("localhost", [])], []);
  assert.match(openNotes("0.0.0.0", []).join(), /server\.hosts.*other machines can reach 0\.0\.0\.0.*TLS/);
  const known = openNotes("0.0.0.0", [], { port: "7357", own: () => ["192.168.1.7", "10.0.0.7"] }).join();
  assert.match(known, /run vis config set server\.hosts 192\.168\.1\.7, and start vis serve again; /);
  assert.match(known, /this machine has http:\/\/192\.168\.1\.7:7357 or http:\/\/10\.0\.0\.7:7357/);
  assert.match(
    openNotes("0.0.0.0", [], { own: () => [] }).join(),
    /vis config set server\.hosts HOST, and start vis serve/,
  );
  assert.match(openNotes("::", []).join(), /server\.hosts/);
  const named = openNotes("0.0.0.0", ["vis.example.org", "192.168.1.7"], { port: "7357" });
  assert.match(named.join(), /^other machines can reach http:\/\/192\.168\.1\.7:7357, and/);
  for (const notes of [openNotes("0.0.0.0", ["vis.example.org"]), openNotes("192.168.1.7", [])]) {
    assert.doesNotMatch(notes.join(), /server\.hosts/);
  }
});

Deno.test("reachedAt() returns addresses for other machines", () => {
  const at = (host: string, hosts: readonly string[] = []) => reachedAt("http://0.0.0.0:7357/", { host, hosts });
  assert.deepEqual(at("127.0.0.1", ["192.0.2.2"]), []);
  assert.deepEqual(at("0.0.0.0"), []);
  assert.deepEqual(at("0.0.0.0", ["vis.example", "192.0.2.2"]), ["http://192.0.2.2:7357"]);
  assert.deepEqual(reachedAt("http://192.0.2.2:80/", { host: "192.0.2.2", hosts: [] }), ["http://192.0.2.2:80/"]);
});
