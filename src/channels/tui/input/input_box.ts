import {
  type AutocompleteProvider,
  Editor,
  type EditorTheme,
  type KeyId,
  matchesKey,
  truncateToWidth,
  type TUI,
  visibleWidth,
} from "@earendil-works/pi-tui";
import { messageOf } from "../../../domain/errors.ts";
import { REAL_CLOCK } from "../../../domain/kit/concurrency.ts";
import { counted, harmlessText, visibleText } from "../../../domain/kit/text.ts";
import { type AtWord, atWords, pastedPaths } from "../../../domain/image_paths.ts";
import type { ImageReader } from "./images.ts";
import { type AttachedImage, type Outgoing, typedText } from "./outgoing.ts";
import { VimKeys } from "./vim_keys.ts";

const START = "\x1b[200~";
const END = "\x1b[201~";
const LABELLED = { lines: 10, chars: 1_000 } as const;

const NARROWEST = 12;
const LIST_AGAIN_MS = 10, LIST_TRIES = 100;

const BACK: readonly KeyId[] = ["backspace", "ctrl+w", "alt+backspace"];

/** After one of these keys, which delete several characters, the editor would keep its list of completions open. */
const CUTS: readonly KeyId[] = ["ctrl+w", "alt+backspace", "ctrl+u", "ctrl+k", "alt+d"];

const TAKES: readonly KeyId[] = ["enter", "tab"];

const ESCAPE = "\x1b";
const BACKSPACE = "\x7f";
const DELETE = "\x1b[3~";
const UP = "\x1b[A", DOWN = "\x1b[B", LINE_START = "\x01", LINE_END = "\x05";
const PLAN = "/plan ";
const GRAPHEMES = new Intl.Segmenter();
const NO_IMAGE =
  "Cannot attach an image: the clipboard has none, or no wl-paste, xclip, pngpaste or pbpaste can read it; copy an " +
  "image first, or install one of these programs";

interface Loading {
  readonly held: () => boolean;
  readonly text: string;
  readonly read: (images: readonly AttachedImage[]) => void;
  readonly refused: (why: string) => void;
}

interface InputParts {
  readonly theme: EditorTheme;
  readonly submit: (outgoing: Outgoing) => void;
  readonly images: ImageReader;
  readonly takesImages: (text: string) => boolean;
  readonly vim: () => boolean;
  readonly chip: (text: string) => string;
  readonly placeholder: () => string;
  readonly tell: (text: string) => void;
}

export class InputBox {
  readonly #editor: Editor;
  readonly #tui: TUI;
  readonly #parts: InputParts;
  readonly #pastes = new Pastes();
  readonly #vim = new VimKeys();
  #chips = new ImageChips();
  readonly #left = new Set<string>();
  readonly #remembered = new Set<string>();
  #reading: symbol | null = null;
  #keys: string[] = [];
  #completed = "";

  constructor(tui: TUI, parts: InputParts) {
    this.#tui = tui;
    this.#parts = parts;
    this.#editor = new Editor(tui, parts.theme, { paddingX: 1, autocompleteMaxVisible: 8 });
    // The editor would replace tabs with blanks, which breaks a Makefile.
    Reflect.set(this.#editor, "normalizeText", (text: string) => text.replace(/\r\n?/g, "\n"));
    const { setTextInternal } = Editor.prototype as unknown as { readonly setTextInternal: (text: string) => void };
    // The editor would place the cursor before an older input, not after it.
    Reflect.set(this.#editor, "setTextInternal", (text: string) => setTextInternal.call(this.#editor, text));
    this.#editor.onSubmit = (text) => this.#submit(text);
  }

  get component(): Editor {
    return this.#editor;
  }

  get empty(): boolean {
    return this.#editor.getText() === "";
  }

  get choosing(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  complete(provider: AutocompleteProvider): void {
    this.#editor.setAutocompleteProvider({
      ...provider,
      getSuggestions: async (lines, row, column, options) => {
        const found = await provider.getSuggestions(lines, row, column, options);
        if (!options.signal.aborted) this.#completed = (lines[row] ?? "").slice(0, column);
        return found;
      },
    });
  }

  remember(texts: readonly string[]): void {
    for (const text of texts.map(harmlessText)) {
      this.#editor.addToHistory(text);
      this.#remembered.delete(text);
      if (text.trim() !== "") this.#remembered.add(text);
    }
  }

  get remembered(): readonly string[] {
    return [...this.#remembered].reverse();
  }

  clear(): void {
    const text = this.#editor.getExpandedText();
    this.remember([typedText({ text, images: this.#chips.in(text) })]);
    this.#editor.setText("");
    this.#reading = null;
    this.#keys = [];
    this.#begin();
  }

  get text(): string {
    return this.#editor.getExpandedText();
  }

  countFrom(number: number): void {
    this.#pastes.countFrom(number);
  }

  replace(text: string): void {
    this.#editor.setText("");
    if (harmlessText(text) === text) this.#editor.setText(text);
    else this.#paste(text);
  }

  togglePlan(): void {
    const editor = this.#editor;
    while (editor.getCursor().line > 0) editor.handleInput(UP);
    editor.handleInput(LINE_START);
    if (!editor.getText().startsWith(PLAN)) editor.insertTextAtCursor(PLAN);
    else for (const _ of PLAN) editor.handleInput(DELETE);
    while (editor.getCursor().line < editor.getLines().length - 1) editor.handleInput(DOWN);
    editor.handleInput(LINE_END);
  }

  giveBack({ text: sent, typed: text = sent, variables, images }: Outgoing): void {
    const now = this.#editor.getExpandedText();
    this.#pastes.restore(variables);
    this.#chips.restore(images);
    const all = now === "" ? text : `${text}\n${now}`;
    if (harmlessText(all) === all) return this.#editor.setText(all);
    this.#editor.setText("");
    this.#paste(all); // As a paste, the text cannot control the terminal.
  }

  get normal(): boolean {
    return this.#parts.vim() && this.#vim.normal;
  }

  modal(data: string): boolean {
    if (!this.#parts.vim() || this.choosing) return false;
    const keys = this.#vim.keys(data);
    for (const key of keys ?? []) this.#editor.handleInput(key);
    return keys !== null;
  }

  attach(read: () => Promise<Uint8Array<ArrayBuffer> | null>): void {
    if (this.#reading !== null) return;
    this.#wait(async (held) => {
      const bytes = await read();
      if (!held()) return;
      if (bytes === null) return this.#parts.tell(NO_IMAGE);
      const others = Object.values(this.#chips.in(this.#editor.getText()));
      const image = await this.#parts.images.take(bytes, { name: "clipboard", with: others });
      if (held()) this.#insert([image]);
    });
  }

  key(data: string): void {
    if (this.#reading !== null) return void this.#keys.push(data);
    if (data.startsWith(START) && data.endsWith(END)) return this.#pasted(data.slice(START.length, -END.length));
    const word = data === " " ? this.#wordBefore() : null;
    if (word !== null) this.#attachTyped(word);
    else {
      if (this.#isOld && TAKES.some((key) => matchesKey(data, key))) return this.#afterList(data);
      if (this.choosing && CUTS.some((key) => matchesKey(data, key))) this.#editor.handleInput(ESCAPE);
      if (!this.#removesChip(data)) this.#editor.handleInput(data);
    }
  }

  /** The editor cannot break a wide character, so lines for a very narrow terminal are too wide. */
  lines(width: number): readonly string[] {
    const lines = this.#editor.render(Math.max(width, NARROWEST));
    if (this.empty && this.#editor.focused && lines.length === 3) {
      return withPlaceholder(lines, this.#parts.placeholder());
    }
    const chips = Object.keys(this.#chips.in(this.#editor.getText()));
    if (chips.length === 0) return lines;
    return lines.map((line) => chips.reduce((text, chip) => text.replaceAll(chip, () => this.#parts.chip(chip)), line));
  }

  get #isOld(): boolean {
    return this.choosing && this.#beforeCursor() !== this.#completed;
  }

  #afterList(data: string): void {
    this.#wait(async (held) => {
      for (let tries = 0; held() && this.#isOld && tries < LIST_TRIES; tries++) await REAL_CLOCK.sleep(LIST_AGAIN_MS);
      if (!held()) return;
      if (this.#isOld) this.#editor.handleInput(ESCAPE);
      this.#editor.handleInput(data);
    });
  }

  #begin(): void {
    this.#pastes.forget();
    this.#chips = new ImageChips();
    this.#left.clear();
  }

  #submit(text: string): void {
    const words = this.#parts.takesImages(text) ? atWords(text).filter(({ path }) => !this.#left.has(path)) : [];
    if (words.length === 0) return this.#send(text);
    this.#wait((held) =>
      this.#load(words.map(({ path }) => path), {
        ...{ held, text },
        read: (images) => this.#send(this.#withChips(text, { words, images })),
        refused: (why) => {
          for (const { path } of words) this.#left.add(path);
          this.giveBack({ ...this.#pastes.outgoing(text), images: {} });
          this.#parts.tell(`Enter sends it as text. ${why}`);
        },
      })
    );
  }

  #send(text: string): void {
    const outgoing = { ...this.#pastes.outgoing(text), images: this.#chips.in(text) };
    this.#vim.normal = false;
    this.#begin();
    this.#parts.submit(outgoing);
  }

  #withChips(
    text: string,
    { words, images }: { readonly words: readonly AtWord[]; readonly images: readonly AttachedImage[] },
  ): string {
    return images.reduce((done, image, index) => {
      const { start = 0, end = 0 } = words[index] ?? {};
      const at = start + done.length - text.length;
      return done.slice(0, at) + this.#chips.add(image, { text: done }) + done.slice(at + end - start);
    }, text);
  }

  #wordBefore(): AtWord | null {
    if (!this.#parts.takesImages(this.#editor.getText())) return null;
    const before = this.#beforeCursor(), word = atWords(before).at(-1);
    return word?.end === before.length && !this.#left.has(word.path) ? word : null;
  }

  #beforeCursor(): string {
    const { line, col } = this.#editor.getCursor();
    return (this.#editor.getLines()[line] ?? "").slice(0, col);
  }

  #attachTyped(word: AtWord): void {
    this.#wait((held) =>
      this.#load([word.path], {
        ...{ held, text: this.#editor.getText() },
        read: (images) => {
          const { line, col } = this.#editor.getCursor();
          this.#takeBack((this.#editor.getLines()[line] ?? "").slice(word.start, col));
          this.#insert(images);
        },
        refused: (why) => {
          this.#editor.handleInput(" ");
          this.#parts.tell(why);
        },
      })
    );
  }

  #pasted(text: string): void {
    const lists = pastedPaths(text);
    if (lists.length === 0) return this.#pasteText(text);
    this.#wait(async (held) => {
      const paths = await this.#parts.images.there(lists);
      if (held() && paths === null) this.#pasteText(text);
      if (!held() || paths === null) return;
      await this.#load(paths, {
        ...{ held, text: this.#editor.getText() },
        read: (images) => this.#insert(images),
        refused: (why) => {
          this.#pasteText(text);
          this.#parts.tell(why);
        },
      });
    });
  }

  #pasteText(text: string): void {
    for (const { path } of atWords(text)) this.#left.add(path);
    this.#paste(text);
  }

  #insert(images: readonly AttachedImage[]): void {
    for (const image of images) {
      this.#editor.insertTextAtCursor(`${this.#chips.add(image, { text: this.#editor.getText() })} `);
    }
  }

  async #load(paths: readonly string[], { held, text, read, refused }: Loading): Promise<void> {
    const others = Object.values(this.#chips.in(text));
    const outcome = await this.#parts.images.read(paths, { with: others }).catch((error: unknown) => messageOf(error));
    if (!held()) return;
    if (typeof outcome === "string") refused(outcome);
    else read(outcome);
  }

  #wait(work: (held: () => boolean) => Promise<void>): void {
    const reading = Symbol("reading");
    this.#reading = reading;
    const held = (): boolean => this.#reading === reading;
    void work(held).catch((error: unknown) => this.#parts.tell(messageOf(error))).finally(() => {
      if (!held()) return;
      this.#reading = null;
      for (const data of this.#keys.splice(0)) this.key(data);
      this.#tui.requestRender();
    });
  }

  #removesChip(data: string): boolean {
    const { line, col } = this.#editor.getCursor();
    const row = this.#editor.getLines()[line] ?? "";
    if (BACK.some((key) => matchesKey(data, key))) return this.#takeBack(this.#chips.before(row.slice(0, col)));
    return matchesKey(data, "delete") && this.#takeBack(this.#chips.after(row.slice(col)), DELETE);
  }

  #takeBack(text: string, key = BACKSPACE): boolean {
    for (const _ of GRAPHEMES.segment(text)) this.#editor.handleInput(key);
    return text !== "";
  }

  #paste(pasted: string): void {
    const text = pasted.replace(/\r\n?/g, "\n");
    const label = this.#pastes.keep(text);
    if (label !== null) return this.#editor.insertTextAtCursor(label);
    // The editor would count an empty line after the last line end.
    const shown = text.replace(/\n$/, "");
    if (lineCount(text) <= LABELLED.lines && shown.length <= LABELLED.chars) {
      return this.#editor.insertTextAtCursor(harmlessText(text));
    }
    // The editor would omit control characters of the text.
    this.#editor.handleInput(`${START}${shown.replace(/[^\n]/g, "x")}${END}`);
    const pastes: unknown = Reflect.get(this.#editor, "pastes");
    if (pastes instanceof Map) pastes.set([...pastes.keys()].at(-1), text);
  }
}

function lineCount(text: string): number {
  return text.replace(/\n$/, "").split("\n").length;
}

function withPlaceholder([above = "", line = "", below = ""]: readonly string[], text: string): readonly string[] {
  const typed = line.trimEnd();
  const room = visibleWidth(line) - visibleWidth(typed);
  return [above, `${typed}${truncateToWidth(text, room, "…", true)}`, below];
}

const REQUEST_CHARS = 20_000;

class Pastes {
  readonly #texts = new Map<string, string>();
  #count = 0;

  keep(text: string): string | null {
    if (text.length <= REQUEST_CHARS) return null;
    const name = `pasted_${++this.#count}`;
    this.#texts.set(name, text);
    return `[${name}: ${sizeOf(text.length)}, ${counted(lineCount(text), "line")}]`;
  }

  countFrom(number: number): void {
    this.#count = Math.max(this.#count, number);
  }

  /** A waiting message with a lower number may come back, so the count continues. */
  forget(): void {
    this.#texts.clear();
  }

  restore(variables: Outgoing["variables"]): void {
    for (const [name, text] of Object.entries(variables)) this.#texts.set(name, text);
  }

  outgoing(text: string): Pick<Outgoing, "text" | "variables"> {
    const named = [...this.#texts].filter(([name]) => text.includes(`[${name}:`));
    return { text, variables: Object.fromEntries(named) };
  }
}

function sizeOf(chars: number): string {
  return chars < 1_000_000 ? `${Math.round(chars / 1_000)} kB` : `${(chars / 1_000_000).toFixed(1)} MB`;
}

class ImageChips {
  readonly #images = new Map<string, AttachedImage>();

  add(one: AttachedImage, { text }: { readonly text: string }): string {
    const taken = Object.keys(this.in(text)).map(numberOf);
    const chip = `[image ${1 + Math.max(0, ...taken)}: ${visibleText(one.path).replace(/\s/g, " ")}]`;
    this.#images.set(chip, one);
    return chip;
  }

  restore(images: Outgoing["images"]): void {
    for (const [chip, one] of Object.entries(images)) this.#images.set(chip, one);
  }

  in(text: string): Outgoing["images"] {
    const found = [...this.#images].filter(([chip]) => text.includes(chip));
    return Object.fromEntries(found.sort(([one], [other]) => numberOf(one) - numberOf(other)));
  }

  before(text: string): string {
    const chips = [...this.#images.keys()].flatMap((chip) => [`${chip} `, chip]);
    return chips.find((chip) => text.endsWith(chip)) ?? "";
  }

  after(text: string): string {
    return [...this.#images.keys()].find((chip) => text.startsWith(chip)) ?? "";
  }
}

function numberOf(chip: string): number {
  return Number(/\d+/.exec(chip)?.[0] ?? 0);
}
