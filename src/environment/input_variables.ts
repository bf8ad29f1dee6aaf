import { UsageError } from "../domain/errors.ts";
import { Utf8Pieces } from "../domain/kit/bytes.ts";
import { jsonOrUndefined } from "../domain/kit/json.ts";
import type { VariableImage, VariableSummary } from "../domain/query/variable.ts";
import type { NamedFile } from "../extension/spec.ts";
import type { LargeTextStore } from "../persistence/store.ts";
import { summarize } from "../sandbox/child/view/summary.ts";
import { decode, encode } from "../sandbox/codec/codec.ts";

export interface InputVariable {
  readonly image: VariableImage;
  readonly text: string;
  /** `whole` is null if the value is too long for each model call. */
  readonly whole: ShownInput | null;
  /** The request shows these texts instead of `text` and `whole`. */
  readonly parts?: readonly ShownInput[];
}

export interface VariableSource {
  readonly label: string;
  readonly json: boolean;
  readonly encoding?: "utf-8";
  /** If true, the request shows the end of a long text instead of its beginning. */
  readonly showsEnd?: true;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Vis does not hold a larger text in memory as a whole, except JSON. */
const SMALL_BYTES = 1 << 20;
const JSON_BYTES = 32 << 20;
const PIECE_BYTES = 4 << 20;
const PREVIEW_CHARS = 300;
const WHOLE_CHARS = 8_000;
const CHANGES_CHARS = 16_000;
/** `isReviewedChanges` recognizes stored changes by this label. */
export const CHANGES_LABEL = "the changes to review, as a list of files and a diff";
const NAMED_NAME = "namedFiles";
const NAMED_LABEL = "the files that the request names with @";
const MAX_CHARS = 2 ** 29 - 24;

export async function readInputVariables(
  name: string,
  { source, store }: { readonly source: VariableSource; readonly store: LargeTextStore },
): Promise<InputVariable> {
  const most = source.json ? JSON_BYTES : SMALL_BYTES;
  const utf8 = new Utf8Pieces({ encoding: source.encoding });
  const pieces = inPieces(utf8.of(source.pieces))[Symbol.asyncIterator]();
  const given = { source, utf8 };
  const first: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value, done } = await pieces.next();
    if (done) return small(name, { ...given, text: decodeAll(first) });
    first.push(value);
    bytes += value.length;
    if (bytes > most) return await large(name, { ...given, store, pieces: joined(first, pieces) });
  }
}

export function namedFilesVariable(files: readonly NamedFile[]): InputVariable {
  const summary = { ...summarize(files, facts(NAMED_LABEL)), inline: null };
  const image = imageOf(NAMED_NAME, { summary, bytes: encode(files) });
  return { ...described(image, { what: image.summary.shape, label: NAMED_LABEL, text: "" }), parts: partsOf(files) };
}

function partsOf(files: readonly NamedFile[]): readonly ShownInput[] {
  return files.map(({ path, about, text }) => ({
    text: `[@${path} in the request: ${about}${text === null ? "" : ":"}]`,
    whole: text,
  }));
}

export function isNamedFiles({ name, summary }: VariableImage): boolean {
  return name === NAMED_NAME && summary.doc === facts(NAMED_LABEL).doc;
}

interface Given {
  readonly source: VariableSource;
  readonly utf8: Utf8Pieces;
}

function small(
  name: string,
  { source, utf8, text }: Given & { readonly text: string },
): InputVariable {
  refuseBinary(source, utf8);
  const parsed = source.json ? jsonOrUndefined(text) : undefined;
  const value = parsed === undefined ? text : parsed;
  const image = imageOf(name, { summary: summarize(value, facts(source.label)), bytes: encode(value) });
  const what = parsed === undefined
    ? contents(text.length, { source, utf8 })
    : `${image.summary.shape}, from JSON${encodingText(utf8)}`;
  const { label, showsEnd = false } = source;
  return described(image, { what, label, text, showsEnd });
}

async function large(
  name: string,
  { source, utf8, store, pieces }: Given & {
    readonly store: LargeTextStore;
    readonly pieces: AsyncIterable<Uint8Array>;
  },
): Promise<InputVariable> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let chars = 0, preview = "", tail = "";
  const reference = await store.putLarge(async function* () {
    for await (const piece of pieces) {
      refuseBinary(source, utf8);
      const text = decoder.decode(piece, { stream: true });
      if (preview.length < PREVIEW_CHARS) preview += text.slice(0, PREVIEW_CHARS);
      if (source.showsEnd) tail = (tail + text).slice(-WHOLE_CHARS);
      chars += text.length;
      if (chars > MAX_CHARS) {
        throw new UsageError(
          `Cannot use ${source.label}: it has more than ${MAX_CHARS} characters, the limit; split the text`,
        );
      }
      yield piece;
    }
    refuseBinary(source, utf8);
  }());
  const known = { type: "string", size: chars, shape: `string(${chars})`, inline: null };
  const image = imageOf(name, { summary: { ...known, ...facts(source.label) }, bytes: new Uint8Array() });
  const about = { what: contents(chars, { source, utf8 }), label: source.label };
  return {
    ...{ image: { ...image, large: reference }, whole: null },
    text: describeInputVariables(name, { ...about, preview }),
    ...source.showsEnd ? { parts: [endOf(name, { ...about, text: tail })] } : {},
  };
}

function imageOf(
  name: string,
  { summary, bytes }: { readonly summary: VariableSummary; readonly bytes: Uint8Array<ArrayBuffer> },
): VariableImage {
  return { name, kind: "data", bytes, root: null, source: "", requires: [], reason: "", summary };
}

function described(
  image: VariableImage,
  { what, label, text, showsEnd = false }: {
    readonly what: string;
    readonly label: string;
    readonly text: string;
    readonly showsEnd?: boolean;
  },
): InputVariable {
  const { name } = image;
  const head = headOf(name, { what, label });
  const most = label === CHANGES_LABEL ? CHANGES_CHARS : WHOLE_CHARS;
  const described = describeInputVariables(name, { what, label, preview: text });
  if (text.length <= most) return { image, whole: { text: `${head}. All of it:]`, whole: text }, text: described };
  if (showsEnd) return { image, whole: null, text: described, parts: [endOf(name, { what, label, text })] };
  if (label !== CHANGES_LABEL) return { image, whole: null, text: described };
  const shown = text.slice(0, text.lastIndexOf("\n", most) + 1 || most).toWellFormed();
  const cut =
    `${head}. Its first ${shown.length} characters; read the rest of the variable in code with ${name}.slice(${shown.length}):]`;
  return { image, whole: { text: cut, whole: shown }, text: described };
}

function endOf(
  name: string,
  { what, label, text }: { readonly what: string; readonly label: string; readonly text: string },
): ShownInput {
  const end = text.slice(-WHOLE_CHARS);
  const shown = end.slice(end.indexOf("\n") + 1).toWellFormed();
  const rest = `read the rest of the variable in code with ${name}.slice(0, -${shown.length})`;
  return { text: `${headOf(name, { what, label })}. Its last ${shown.length} characters; ${rest}:]`, whole: shown };
}

export function isReviewedChanges({ name, summary }: VariableImage): boolean {
  return name === "context" && summary.doc === facts(CHANGES_LABEL).doc;
}

function facts(label: string): Pick<VariableSummary, "declaration" | "doc"> {
  return { declaration: "const", doc: `from ${label}`.slice(0, 80) };
}

function contents(chars: number, { source, utf8 }: Given): string {
  return `string of ${chars} characters${source.json ? ", JSON text that was not parsed" : ""}${encodingText(utf8)}`;
}

function encodingText({ encoding, isGuess, replaced }: Utf8Pieces): string {
  const guess = isGuess ? `; read as ${encoding}, a guess` : "";
  const lost = replaced === 0
    ? ""
    : `; ${replaced} of the characters are U+FFFD for bytes that are not ${encoding === "utf-8" ? "UTF-8" : encoding}`;
  return guess + lost;
}

function refuseBinary({ label }: VariableSource, { isBinary }: Utf8Pieces): void {
  if (isBinary) {
    throw new UsageError(`Cannot use ${label}: it contains binary data, not text; convert it to text first`);
  }
}

function decodeAll(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("");
}

async function* joined(first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  for (let step = await rest.next(); !step.done; step = await rest.next()) yield step.value;
}

async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(PIECE_BYTES), used = 0;
  for await (let bytes of source) {
    while (bytes.length > 0) {
      const part = bytes.subarray(0, PIECE_BYTES - used);
      piece.set(part, used);
      used += part.length;
      bytes = bytes.subarray(part.length);
      if (used < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      used = 0;
    }
  }
  if (used > 0) yield piece.slice(0, used);
}

export async function repeatInputVariables(
  image: VariableImage,
  store: LargeTextStore,
): Promise<InputVariable> {
  const { name, large, summary } = image;
  const label = summary.doc.replace(/^from /, "");
  if (large !== undefined) {
    const [what, preview] = [`string of ${summary.size} characters`, await beginning(store, large)];
    return { image, whole: null, text: describeInputVariables(name, { what, label, preview }) };
  }
  const value: unknown = decode(image.bytes);
  if (isNamedFiles(image)) return namedFilesVariable(value as readonly NamedFile[]);
  if (typeof value === "string") {
    return described(image, { what: `string of ${value.length} characters`, label, text: value });
  }
  return described(image, { what: `${summary.shape}, from JSON`, label, text: JSON.stringify(value) ?? "" });
}

async function beginning(store: LargeTextStore, large: string): Promise<string> {
  const decoder = new TextDecoder();
  for await (const piece of store.largePieces(large)) return decoder.decode(piece.subarray(0, 4096), { stream: true });
  return "";
}

/** The preview is a JSON string, so that it cannot look like a part of the message. */
function describeInputVariables(
  name: string,
  { what, label, preview }: { readonly what: string; readonly label: string; readonly preview: string },
): string {
  const shown = JSON.stringify(preview.slice(0, PREVIEW_CHARS).toWellFormed()).slice(0, PREVIEW_CHARS + 2);
  return `${headOf(name, { what, label })}. Work on it in code; never print all of it. It begins: ${shown}]`;
}

function headOf(name: string, { what, label }: { readonly what: string; readonly label: string }): string {
  return `[The variable ${name} holds ${label.slice(0, 200)}: ${what}`;
}

export interface ShownInput {
  readonly text: string;
  readonly whole: string | null;
}

export class InputVariables {
  #unstored: readonly InputVariable[] = [];
  #shown: readonly ShownInput[] = [];

  get unstored(): readonly InputVariable[] {
    return this.#unstored;
  }

  get images(): readonly VariableImage[] {
    return this.#unstored.map(({ image }) => image);
  }

  get shown(): readonly ShownInput[] {
    return this.#shown;
  }

  begin(given: readonly InputVariable[]): void {
    // An interrupted query without a row may have left variables.
    this.#unstored = [...this.#unstored.filter((one) => !given.includes(one)), ...given];
    this.describe(given);
  }

  /** The caller must call this method instead of `begin` for variables that the store already has. */
  describe(given: readonly InputVariable[]): void {
    let room = WHOLE_CHARS;
    this.#shown = given.flatMap(({ image, text, whole, parts }) => {
      if (parts) return parts;
      const size = isReviewedChanges(image) ? 0 : whole?.whole?.length ?? Infinity;
      if (whole === null || size > room) return { text, whole: null };
      room -= size;
      return whole;
    });
  }

  add(given: InputVariable): void {
    this.#unstored = [...this.#unstored, given];
  }

  stored(): void {
    this.#unstored = [];
  }

  end(): void {
    this.#shown = [];
  }
}
