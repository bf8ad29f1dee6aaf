import { isWanted, type Wants, whyUnwanted } from "../../src/extension/discover.ts";
import assert from "node:assert/strict";

const wanted = (wants: Wants, facts: { readonly onByDefault?: boolean } = {}): boolean =>
  isWanted("one", { namespace: "a.one", ...facts }, wants);

Deno.test("isWanted() goes by the lists, with either name of an extension", () => {
  assert.ok(wanted({}) && wanted({ allow: ["one"] }) && wanted({ allow: ["a.one"], deny: ["two"] }));
  for (const wants of [{ allow: [] }, { allow: ["two"] }, { deny: ["one"] }, { allow: ["one"], deny: ["a.one"] }]) {
    assert.ok(!wanted(wants), JSON.stringify(wants));
  }
});

Deno.test("isWanted() skips an extension that must be switched on, until it is; the locked profile always skips it", () => {
  const optIn = { onByDefault: false };
  const on = { config: { "a.one": { enabled: true } } };
  const asked: readonly Wants[] = [on, { allow: ["one"] }, { ...on, allow: ["a.one"] }, { off: true }];
  for (const wants of asked) {
    assert.ok(wanted(wants, optIn), JSON.stringify(wants));
    for (const writable of [true, false]) assert.ok(!wanted({ ...wants, locked: { writable } }, optIn));
    assert.ok(!wanted({ ...wants, deny: ["one"] }, optIn));
  }
  const not: readonly Wants[] = [{}, { config: { "a.one": { enabled: "yes" } } }, { ...on, allow: ["two"] }, {
    config: { "a.one": null, one: { enabled: true } },
  }];
  for (const wants of not) assert.ok(!wanted(wants, optIn), JSON.stringify(wants));
});

Deno.test("isWanted() loads an extension that is on by default until it is switched off; the locked profile never does", () => {
  const onByDefault = { onByDefault: true };
  const off = { config: { "a.one": { enabled: false } } };
  for (const wants of [{}, { config: { "a.one": { enabled: true } } }, { allow: ["one"] }, { ...off, off: true }]) {
    assert.ok(wanted(wants, onByDefault), JSON.stringify(wants));
    for (const writable of [true, false]) assert.ok(!wanted({ ...wants, locked: { writable } }, onByDefault));
  }
  for (const wants of [off, { ...off, allow: ["one"] }, { allow: ["two"] }, { deny: ["one"] }]) {
    assert.ok(!wanted(wants, onByDefault), JSON.stringify(wants));
  }
});

Deno.test("whyUnwanted() names the setting that leaves an extension out", () => {
  const why = (wants: Wants, onByDefault?: boolean) => whyUnwanted("one", { namespace: "a.one", onByDefault }, wants);
  assert.equal(why({ deny: ["a.one"], allow: [] }), "it is in extensions.deny");
  assert.equal(why({ allow: ["two"] }), "it is not in extensions.allow");
  assert.equal(why({ allow: ["one"], locked: { writable: true } }, true), "it is never in the locked profile");
  assert.equal(why({ allow: ["one"], locked: { writable: true } }), null);
});
