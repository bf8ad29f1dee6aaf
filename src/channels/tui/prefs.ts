import { dirname } from "node:path";
import { fileFault, reasonOf } from "../../domain/errors.ts";
import { ensureFolder, replaceFile } from "../../domain/kit/files.ts";
import { oneLine } from "../../domain/kit/text.ts";

export const THEMES = ["auto", "dark", "light", "contrast"] as const;

export interface Prefs {
  readonly thinking: boolean;
  readonly iterations: boolean;
  readonly theme: typeof THEMES[number];
  readonly mouse: boolean;
  /** The user may also write this setting as `"keys": "vim"`. */
  readonly vim: boolean;
  readonly bell: boolean;
  /** The screen has no command for keys, so the user edits the file, for example with `{"retry": "alt+g"}`. */
  readonly keys: Readonly<Record<string, string>>;
}

export interface PrefsKeeper {
  get(): Prefs;
  set(change: Partial<Prefs>): Promise<void>;
}

export const DEFAULT_PREFS: Prefs = {
  thinking: true,
  iterations: true,
  theme: "auto",
  mouse: true,
  vim: false,
  bell: true,
  keys: {},
};

const CHOICES: Readonly<Record<Exclude<keyof Prefs, "keys">, readonly unknown[]>> = {
  thinking: [true, false],
  iterations: [true, false],
  theme: THEMES,
  mouse: [true, false],
  vim: [true, false],
  bell: [true, false],
};

type Kept = Readonly<Record<string, unknown>>;

/** A write keeps unknown keys of a valid file, such as keys of a newer version. */
export class PrefsFile implements PrefsKeeper {
  readonly #path: string;
  #prefs: Prefs;
  #unkept: Partial<Prefs> = {};
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, prefs: Prefs) {
    this.#path = path;
    this.#prefs = prefs;
  }

  static async open(path: string): Promise<{ readonly prefs: PrefsFile; readonly note: string }> {
    try {
      return { prefs: new PrefsFile(path, prefsOf(await read(path))), note: "" };
    } catch (error) {
      const wayOut = error instanceof SyntaxError
        ? "correct or delete the file"
        : "let Vis read the file, or delete it";
      const note = `Cannot use ${path}: ${faultOf(error)}; ${wayOut}`;
      return { prefs: new PrefsFile(path, DEFAULT_PREFS), note };
    }
  }

  get(): Prefs {
    return this.#prefs;
  }

  set(change: Partial<Prefs>): Promise<void> {
    this.#prefs = { ...this.#prefs, ...change };
    this.#unkept = { ...this.#unkept, ...change };
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => {});
    return written;
  }

  /** Another process may have changed the file, so a write first reads the file. */
  async #write(): Promise<void> {
    const change = this.#unkept;
    const before = await read(this.#path).catch((): Kept => ({ ...this.#prefs }));
    try {
      await ensureFolder(dirname(this.#path));
      await replaceFile(this.#path, `${JSON.stringify({ ...before, ...change }, null, 2)}\n`);
    } catch (error) {
      throw new Error(
        `Cannot save the display settings in ${this.#path}: ${fileFault(error)}`,
        { cause: error },
      );
    }
    if (this.#unkept === change) this.#unkept = {};
  }
}

async function read(path: string): Promise<Kept> {
  const text = await Deno.readTextFile(path).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return "{}";
    throw error;
  });
  const kept: unknown = JSON.parse(text);
  if (typeof kept === "object" && kept !== null && !Array.isArray(kept)) return { ...kept };
  throw new SyntaxError("It has another JSON value");
}

function faultOf(error: unknown): string {
  return error instanceof SyntaxError ? `it is not a JSON object (${oneLine(reasonOf(error), 200)})` : fileFault(error);
}

function keysOf(kept: unknown): Prefs["keys"] {
  const entries = typeof kept === "object" && kept !== null ? Object.entries(kept) : [];
  return Object.fromEntries(
    entries.map(([action, key]) => [action, typeof key === "string" ? key : JSON.stringify(key)]),
  );
}

function prefsOf(kept: Kept): Prefs {
  const usual = { ...DEFAULT_PREFS, vim: kept["keys"] === "vim" };
  const fits = Object.entries(CHOICES).filter(([key, choices]) => choices.includes(kept[key]));
  return { ...usual, ...Object.fromEntries(fits.map(([key]) => [key, kept[key]])), keys: keysOf(kept["keys"]) };
}
