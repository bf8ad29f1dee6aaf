import assert from "node:assert/strict";
import vm from "node:vm";
import fc from "fast-check";
import { CodecError, decode, encode } from "../../../src/sandbox/codec/codec.ts";
import { runs } from "../../helpers/long_part.ts";

Deno.test("decode() defines properties and never assigns", () => {
  const back = decode(encode(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 1}'))) as Record<
    string,
    unknown
  >;
  assert.ok(Object.hasOwn(back, "__proto__"));
  assert.equal(Object.getPrototypeOf(back), Object.prototype);
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

const text = (table: unknown[], segments = ""): Uint8Array<ArrayBuffer> => {
  const json = new TextEncoder().encode(JSON.stringify(table)), parts = new TextEncoder().encode(segments);
  const bytes = new Uint8Array(1 + parts.length + json.length + 4);
  bytes[0] = 1;
  bytes.set(parts, 1);
  bytes.set(json, 1 + parts.length);
  new DataView(bytes.buffer).setUint32(bytes.length - 4, json.length, true);
  return bytes;
};

Deno.test("decode() refuses bytes that no value has", () => {
  assert.deepEqual(decode(text(["~", "A", 1, 5])), [5]);
  const hostileTables: unknown[][] = [
    [],
    [{}],
    [[1]],
    ["~"],
    ["~@0", "A", 0],
    ["~", "A", 2, 1],
    ["~", "A", -1],
    ["~", "A", 1.5, 1, 1],
    ["~", "A", 4294967295],
    ["~", "Z"],
    ["~", "O", 0],
    ["~", "o", 1, 2, 3],
    ["~", "A", 1, "~h", "A", 0],
    ["~", "E", 1, "~h"],
    ["~", "A", 1, "~@7"],
    ["~", "A", 0, "A", 0],
    ["~", "P", 4294967295, 0],
    ["~", "P", 1, 1, "5", 1],
    ["~", "R", "(", ""],
    ["~", "R", "a", "gg", 0],
    ["~", "U", "no url"],
    ["~", "D", "x"],
    ["~", "X", "Evil", 0],
    ["~", "B", 1, 100],
    ["~", "V", "Uint8Array", 0, 1, 0],
    ["~", "V", "Function", 0, 0, 1, "B", 0, 0],
    ["~", "V", "Uint8Array", 0, 99, 1, "B", 0, 0],
    ["~", "+", 1, "a", 1],
    ["~", "C", "A"],
    ["~bxyz"],
    ["~s0:99999"],
    ["~s1:-5"],
    ["~sx:y"],
    ["~q"],
    ["~h"],
    [1, "A", 0],
  ];
  for (const table of hostileTables) {
    assert.throws(() => decode(text(table), { prototypeOf: () => null }), CodecError, JSON.stringify(table));
  }
  for (const bytes of [[], [1], [2, 0, 0, 0, 0, 0], [1, 0, 0, 0, 255, 255, 255, 255]]) {
    assert.throws(() => decode(new Uint8Array(bytes)), CodecError);
  }
  const twenty = Array.from({ length: 20 }, () => "~s1:40");
  assert.throws(() => decode(text(["~", "A", 20, ...twenty], "abcd".repeat(10))), /overlap/);
  let deep: unknown[] = ["~"];
  for (let i = 0; i < 1100; i++) deep = deep.concat(["A", 1, "~"]);
  assert.throws(() => decode(text(deep.concat(["A", 0]))), /they contain more than 1000 nested levels/);
});

Deno.test("decode() of damaged bytes either throws CodecError or returns a value", () => {
  const sample = {
    a: [1, "x".repeat(1100), new Map([[{}, new Date(0)]])],
    b: new Uint8Array([1, 2]),
    c: /x/g,
    d: [new Error("e")],
  };
  const good = encode(sample);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
      const bytes = good.slice();
      for (const [at, byte] of changes) bytes[at] = byte;
      try {
        decode(bytes);
      } catch (error) {
        assert.ok(error instanceof CodecError);
      }
    }),
    { numRuns: runs(500, 2_000) },
  );
});

Deno.test("encode() decode() work while the prototypes they could use are broken", () => {
  const value = {
    a: [1, , "~x", { b: new Map([[1, { c: new Set(["x".repeat(2000)]) }]]) }],
    d: new Date(5),
    e: [/x/g],
    f: 5n,
  };
  const script = new vm.Script(`(() => {
    const saved = [];
    const breaks = [Array.prototype, Map.prototype, Set.prototype, Date.prototype, RegExp.prototype, String.prototype,
      Uint8Array.prototype, Object.getPrototypeOf(Uint8Array.prototype), TextEncoder.prototype, TextDecoder.prototype];
    for (const proto of breaks) for (const key of Reflect.ownKeys(proto)) {
      const d = Object.getOwnPropertyDescriptor(proto, key);
      if (key === "constructor" || !d.configurable) continue;
      saved[saved.length] = [proto, key, d];
    }
    const set = Object.defineProperty, poison = () => { throw new Error("poisoned"); };
    const extra = [[Array.prototype, "0"], [Array.prototype, "toJSON"], [Object.prototype, "toJSON"], [Object.prototype, "get"], [Object.prototype, "a"]];
    return {
      break() {
        for (let i = 0; i < saved.length; i++) set(saved[i][0], saved[i][1], { __proto__: null, get: poison, configurable: true });
        for (let i = 0; i < extra.length; i++) set(extra[i][0], extra[i][1], { __proto__: null, get: poison, set: poison, configurable: true });
      },
      fix() {
        for (let i = 0; i < extra.length; i++) delete extra[i][0][extra[i][1]];
        for (let i = 0; i < saved.length; i++) set(saved[i][0], saved[i][1], saved[i][2]);
      },
    };
  })()`);
  const realm: { break: () => void; fix: () => void } = script.runInThisContext();
  const expected = encode(value);
  let bytes: Uint8Array<ArrayBuffer> | null = null, back: unknown, failure: unknown = null;
  realm.break();
  try {
    bytes = encode(value);
    back = decode(bytes);
  } catch (error) {
    failure = error;
  } finally {
    realm.fix();
  }
  assert.equal(failure, null);
  assert.deepStrictEqual(bytes, expected);
  assert.deepStrictEqual(back, value);
});
