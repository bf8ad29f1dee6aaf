import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { encodeText, isExact, textWithStrays } from "../../../extensions/fs/text_format.ts";
import { decodeText } from "../../../src/domain/kit/bytes.ts";
import { anyText } from "../../helpers/any_text.ts";
import { runs } from "../../helpers/long_part.ts";
import { Workspace } from "./_workspace.ts";

const SAMPLES: Readonly<Record<string, readonly string[]>> = {
  "windows-1252": [
    "café résumé naïve\n",
    "// Größe der Fläche ändern\n",
    "“smart quotes” – dash…\n",
    "grüß\n",
    "é",
    "© 2020 Müller",
    "señor, ¿qué?",
  ],
  "shift_jis": ["日本語のテキストです。\nこんにちは世界\n", "// 設定ファイル\nvalue = 1\n", "ソース"],
  "euc-jp": ["日本語のテキストです。\nこんにちは\n", "設定ファイル"],
  "gbk": ["中文文本文件测试\n", "// 注释\nint x = 1;\n", "你好，世界\n", "返回错误代码"],
  "big5": ["繁體中文測試檔案\n", "這是一個測試"],
  "euc-kr": ["한국어 텍스트 파일\n", "안녕하세요", "// 설정 파일"],
  "windows-1251": ["Привет мир, это текст\n", "// Ошибка файла"],
  "koi8-r": ["Привет мир\n", "// Ошибка файла"],
  "ibm866": ["Ошибка файла\n"],
  "windows-1250": ["zażółć gęślą jaźń\n", "příliš žluťoučký kůň"],
};
const of = (text: string, encoding: string, hasMark = false) => encodeText(text, { encoding, hasMark });
const read = (workspace: Workspace, path: string) => Deno.readFile(join(workspace.root, path));

Deno.test("decodeText() guesses the encodings of old files, and marks the guess", () => {
  for (const [encoding, texts] of Object.entries(SAMPLES)) {
    for (const text of texts) {
      const { text: found, encoding: name, isGuess } = decodeText(of(text, encoding)) ?? {};
      assert.deepEqual([name, found, isGuess], [encoding, text, true]);
    }
    // A line without its necessary end is cut in every place.
    for (const before of ["", "x", "xy"]) {
      const line = before + (texts[0] ?? "").replaceAll("\n", " ").repeat(5_000);
      const { text: found, encoding: name } = decodeText(of(line, encoding)) ?? {};
      assert.deepEqual([name, found === line], [encoding, true]);
    }
  }
});

Deno.test("decodeText() recognises UTF-8 by its mark, and in a text that was cut", () => {
  for (const bytes of [[0xef, 0xbb, 0xbf, 97, 0xe9, 0xe8], [...of("für alle", "utf-8"), 0xc3]]) {
    assert.equal(decodeText(Uint8Array.from(bytes))?.encoding, "utf-8");
  }
});

Deno.test("decodeText() takes a text for UTF-8 that is so except for some bytes", () => {
  const utf8 = (text: string, ...more: number[]) => Uint8Array.from([...of(text, "utf-8"), ...more]);
  for (const text of ["café déjà vu\n", "a – b\n", "注释\n", "Привет\n", "\uFFFD \uFFFD\n", "😀\n"]) {
    for (const stray of [0xff, 0xe9, 0x93]) {
      const { text: found, encoding, isGuess, replaced } = decodeText(utf8(text, stray, 10)) ?? {};
      assert.deepEqual([found, encoding, isGuess, replaced], [`${text}\uFFFD\n`, "utf-8", false, 1]);
    }
  }
  assert.equal(decodeText(of("ещё\n", "koi8-r"))?.encoding, "koi8-r");
  assert.equal(decodeText(utf8("é, d", 0xe9, 0x6a, 0xe0, 0x20, 0x74, 0x72, 0xe8, 0x73))?.encoding, "windows-1252");
});

Deno.test("textWithStrays() and encodeText() restore any bytes, and a reader sees U+FFFD for bytes that are not text", () => {
  const some = fc.oneof(fc.nat(255), fc.constantFrom(0xc3, 0xa9, 0xe0, 0xed, 0xa0, 0xbf, 0xf0, 0x9f, 0x98, 0xf4, 0x90));
  fc.assert(
    fc.property(fc.array(some, { maxLength: 40 }), (all) => {
      const bytes = Uint8Array.from(all);
      const { text, strays } = textWithStrays(bytes) ?? assert.fail();
      assert.deepEqual(encodeText(text, { encoding: "utf-8", hasMark: false, strays }), bytes);
      assert.equal(text.toWellFormed(), new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    }),
    { numRuns: runs(400, 2_000) },
  );
});

Deno.test("decodeText() and encodeText() restore any bytes of single-byte encodings, and any text of UTF-16", () => {
  fc.assert(fc.property(
    fc.uint8Array({ max: 255, maxLength: 60 }),
    fc.constantFrom("windows-1252", "windows-1251", "koi8-r", "ibm866", "macintosh", "windows-1250"),
    (bytes, encoding) => {
      const decoded = decodeText(bytes, encoding);
      assert.ok(decoded !== null && isExact(bytes, decoded));
    },
  ));
  fc.assert(fc.property(
    anyText().filter((text) => text.isWellFormed() && !text.startsWith("\uFEFF")),
    fc.constantFrom("utf-16le", "utf-16be"),
    (text, encoding) => {
      const bytes = of(text, encoding, true);
      if (/^\0/.test(text)) return; // The text has the mark of UTF-32, or is a binary file.
      const decoded = decodeText(bytes);
      assert.deepEqual([decoded?.text, decoded?.encoding, decoded?.hasMark], [text, encoding, true]);
    },
  ));
});

Deno.test("decodeText() takes bytes for UTF-16 without a mark only where that is clear", () => {
  for (const encoding of ["utf-16le", "utf-16be"]) {
    assert.deepEqual(decodeText(of("name = 1\n", encoding))?.encoding, encoding);
    assert.equal(decodeText(of("日本語\n", encoding))?.encoding === encoding, false);
  }
  for (const bytes of [[0, 0, 0, 0], [1, 0, 2], [1, 0, 2, 0], [0xff, 0xfe, 0, 0, 65, 0, 0, 0]]) {
    assert.equal(decodeText(Uint8Array.from(bytes)), null);
  }
});

Deno.test("fs reads, edits and patches files in their encoding, and names a guess", async () => {
  const text = "erste Zeile\nzweite Größe\ndritte\n";
  await using workspace = await Workspace.with({
    "wide.txt": of(text, "utf-16le", true),
    "big.txt": of(text, "utf-16be", true),
    "latin.txt": of(text, "windows-1252"),
    "日本.txt": of("一行目\n二行目のテキスト\n", "shift_jis"),
  });
  for (
    const [path, encoding, hasMark] of [["wide.txt", "utf-16le", true], ["big.txt", "utf-16be", true], [
      "latin.txt",
      "windows-1252",
      false,
    ]] as const
  ) {
    assert.equal(await workspace.call("readFile", path), text);
    assert.equal(await workspace.call("readFile", path, { from: 2, to: 2 }), "zweite Größe");
    assert.match(await workspace.refusal("readFile", path, { from: 9 }), /the file has 3 lines/);
    const first = await workspace.call("readLines", path, { count: 1 });
    assert.deepEqual(first.lines, ["erste Zeile"]);
    assert.deepEqual((await workspace.call("readLines", path, { at: first.next })).lines, ["zweite Größe", "dritte"]);
    const { diff } = await workspace.call("edit", path, { old: "zweite Größe", new: "zweite Länge" });
    assert.match(diff, /\n-zweite Größe\n\+zweite Länge\n/);
    await workspace.call("patch", `--- a/${path}\n+++ b/${path}\n@@ -3 +3 @@\n-dritte\n+vierte für\n`);
    const wanted = text.replace("Größe", "Länge").replace("dritte", "vierte für");
    assert.deepEqual(await read(workspace, path), of(wanted, encoding, hasMark));
    await workspace.call("writeFile", path, "neu: ü\n");
    assert.deepEqual(await read(workspace, path), of("neu: ü\n", encoding, hasMark));
    await workspace.call("undo", { steps: 3 });
    assert.deepEqual(await read(workspace, path), of(text, encoding, hasMark));
  }
  assert.deepEqual([...new Set(workspace.notes)], [
    "latin.txt is read as windows-1252, a guess; fs.readFile(path, {encoding}) reads another encoding",
  ]);
  await workspace.call("edit", "日本.txt", { old: "二行目", new: "三行目" });
  assert.deepEqual(await read(workspace, "日本.txt"), of("一行目\n三行目のテキスト\n", "shift_jis"));
  assert.equal(
    await workspace.refusal("edit", "latin.txt", { old: "dritte", new: "drei → vier" }),
    'Cannot edit latin.txt: line 3 has "→" (U+2192), which windows-1252 lacks; ' +
      'fs.writeFile(path, text, {encoding: "utf-8"}) writes the whole file as UTF-8',
  );
  assert.match(
    await workspace.refusal("readFile", "latin.txt", { encoding: "klingon" }),
    /the encoding "klingon" is unknown/,
  );
});

Deno.test("fs.readFile() takes an encoding from the model, and later changes keep it", async () => {
  await using workspace = await Workspace.with({ "a.txt": of("ÄÖÜ\nx\n", "windows-1252") });
  assert.equal(await workspace.call("readFile", "a.txt", { encoding: "latin1" }), "ÄÖÜ\nx\n");
  assert.deepEqual(workspace.notes, []);
  await workspace.call("edit", "a.txt", { old: "x", new: "ß" });
  assert.deepEqual(await read(workspace, "a.txt"), of("ÄÖÜ\nß\n", "windows-1252"));
  await workspace.call("writeFile", "a.txt", "→\n", { encoding: "utf-8" });
  assert.equal(await workspace.text("a.txt"), "→\n");
  await workspace.call("writeFile", "a.txt", "→\n", { encoding: "utf-16" });
  assert.deepEqual(await read(workspace, "a.txt"), of("→\n", "utf-16le", true));
});

Deno.test("fs takes a byte order mark off for the reader, and every change puts it back", async () => {
  await using workspace = await Workspace.with({ "a.json": '\uFEFF{"a": 1}\r\n' });
  assert.deepEqual(JSON.parse(await workspace.call("readFile", "a.json")), { a: 1 });
  assert.deepEqual((await workspace.call("readLines", "a.json")).lines, ['{"a": 1}']);
  assert.deepEqual((await workspace.call("readFiles", ["a.json"]))[0].text, '{"a": 1}\r\n');
  await workspace.call("edit", "a.json", { old: '{"a": 1}', new: '{"a": 2}' });
  await workspace.call("patch", '--- a/a.json\n+++ b/a.json\n@@ -1 +1 @@\n-{"a": 2}\n+{"a": 3}\n');
  assert.equal(await workspace.text("a.json"), '\uFEFF{"a": 3}\r\n');
  await workspace.call("writeFile", "a.json", '{\n"a": 4}\n');
  assert.equal(await workspace.text("a.json"), '\uFEFF{\r\n"a": 4}\r\n');
  await workspace.call("patch", '--- a/a.json\n+++ b/a.json\n@@ -1,2 +1,2 @@\n-\uFEFF{\r\n+{\r\n "a": 4}\r\n');
  assert.equal(await workspace.text("a.json"), '{\r\n"a": 4}\r\n');
});

Deno.test("fs.writeFile() keeps CRLF if every line has it, unless `eol` is given", async () => {
  const files = { "crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\n", "lf.txt": "a\nb\n" };
  await using workspace = await Workspace.with(files);
  const after = async (name: string, text: string, options?: object) => {
    await workspace.call("writeFile", name, text, ...options ? [options] : []);
    const now = await workspace.text(name);
    await workspace.call("undo");
    return now;
  };
  assert.equal(await after("crlf.txt", "x\ny\n"), "x\r\ny\r\n");
  assert.equal(await after("crlf.txt", "x\r\ny\n"), "x\r\ny\n");
  assert.equal(await after("crlf.txt", "x\ny\n", { eol: "lf" }), "x\ny\n");
  assert.equal(await after("mixed.txt", "x\ny\n"), "x\ny\n");
  assert.equal(await after("lf.txt", "x\r\ny\n", { eol: "crlf" }), "x\r\ny\r\n");
  assert.equal(await after("lf.txt", "x\ny\n"), "x\ny\n");
  assert.match(await workspace.refusal("writeFile", "lf.txt", "x", { eol: "cr" }), /eol/);
});

Deno.test("fs notes JSON, JavaScript and TypeScript that a change leaves unparsable", async () => {
  await using workspace = await Workspace.with({
    "a.json": '{\n  "a": 1\n}\n',
    "tsconfig.json": "{\n  // strict\n}\n",
    "a.ts": "const a = 1;\nfunction f() {\n  return a;\n}\n",
    "old.js": "x = (;\ny = 1;\n",
  });
  const told = async (name: string, ...args: unknown[]) => {
    workspace.notes.length = 0;
    await workspace.call(name, ...args);
    return workspace.notes.join("\n");
  };
  assert.equal(
    await told("edit", "a.json", { old: "1\n", new: "1,\n" }),
    'a.json was written, but does not parse at line 3: a comma before "}" is not JSON',
  );
  assert.match(
    await told("edit", "a.json", { old: '"a"', new: "a" }),
    /line 2: expected a name in double quotes, found a$/,
  );
  assert.equal(await told("writeFile", "a.json", '{"a": 2}\n'), "");
  assert.equal(await told("edit", "tsconfig.json", { old: "strict", new: "strict mode" }), "");
  assert.match(
    await told("patch", "--- a/a.ts\n+++ b/a.ts\n@@ -3,2 +3 @@\n   return a;\n-}\n"),
    /^a\.ts was written, but does not parse at line 3: /,
  );
  assert.match(await told("writeFile", "new.mjs", "export default 1 1\n"), /^new\.mjs was written, but .* line 1: /);
  assert.equal(await told("edit", "old.js", { old: "y = 1", new: "y = 2" }), "");
  assert.match(await told("edit", "old.js", { old: "x = (;", new: "x = [;" }), /^old\.js was written/);
  assert.equal(await told("writeFile", "a.txt", "{"), "");
});

Deno.test("fs raises no alarm over syntax that a parser of JavaScript does not know", async () => {
  await using workspace = await Workspace.with();
  const texts = {
    "a.tsx": "export const A = <T,>(x: T) => <div key={1}>{x as any}</div>;\n",
    "a.jsx": "export default () => <><b>hi</b></>;\n",
    "b.js": "const a = <div />;\n@dec class B { @field x = 1 }\n",
    "flow.js": "// @flow\ntype X = {| a: number |};\nfunction f(a: ?string): number { return 1 }\n",
    "c.cjs": "#!/usr/bin/env node\nreturn require('x');\n",
    "d.ts":
      "@Component({})\nexport abstract class D<const T> { accessor x = 1; constructor(private readonly y: T) {} declare z: string }\n" +
      "enum E { A = 1 << 2 } namespace N { export const a = 1 } using u = f();\nlet v = <any>w satisfies X; import x = require('y');\n" +
      "import json from './x.json' with { type: 'json' };\nimport defer * as later from './later.ts';\nexport type { Q } from 'q';\n",
    "e.d.ts": "declare module 'x' { export function f(a: string): asserts a is 'b'; }\nexport = x;\n",
    ".vscode/settings.json": '{\n  // mine\n  "a": [1,],\n}\n',
    "x.jsonc": "/* a */ {}\n",
  };
  for (const [path, text] of Object.entries(texts)) await workspace.call("writeFile", path, text);
  assert.deepEqual(workspace.notes, []);
});
