import { messageOf } from "../../../domain/kit/message_of.ts";
import { dirname } from "node:path";
import { replaceFile } from "./replace_file.ts";

/** How the terminal shows things: the user's taste, nothing that a query depends on. */
export interface Prefs {
  /** What the model thought, in every iteration. */
  readonly thinking: boolean;
  /** Iterations with their code and results; otherwise requests and answers alone. */
  readonly iterations: boolean;
  readonly theme: "auto" | "dark" | "light";
  /** Whether wheel and clicks belong to Vis; the terminal's own selecting then wants Shift. */
  readonly mouse: boolean;
}

/** What keeps them. */
export interface PrefsKeeper {
  get(): Prefs;
  /** Holds at once; rejects where it cannot be kept. */
  set(change: Partial<Prefs>): Promise<void>;
}

export const DEFAULT_PREFS: Prefs = { thinking: true, iterations: true, theme: "auto", mouse: true };

const CHOICES: Readonly<Record<keyof Prefs, readonly unknown[]>> = {
  thinking: [true, false],
  iterations: [true, false],
  theme: ["auto", "dark", "light"],
  mouse: [true, false],
};

type Kept = Readonly<Record<string, unknown>>;

/** A small file of JSON that its owner alone may read. What a newer version wrote into it stays. */
export class PrefsFile implements PrefsKeeper {
  readonly #path: string;
  #prefs: Prefs;
  /** What no file has yet: a later change brings it along. */
  #unkept: Partial<Prefs> = {};
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, prefs: Prefs) {
    this.#path = path;
    this.#prefs = prefs;
  }

  /** Never rejects: a file that cannot be used leaves the defaults and a note for the user, "" where all is well. */
  static async open(path: string): Promise<{ readonly prefs: PrefsFile; readonly note: string }> {
    try {
      return { prefs: new PrefsFile(path, prefsOf(await read(path))), note: "" };
    } catch (error) {
      const why = messageOf(error);
      const note = `Cannot use ${path}, so the defaults hold: ${why}`;
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

  /** Over what another process may have written meanwhile. */
  async #write(): Promise<void> {
    const change = this.#unkept;
    const before = await read(this.#path).catch((): Kept => ({ ...this.#prefs }));
    await Deno.mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    await replaceFile(this.#path, `${JSON.stringify({ ...before, ...change }, null, 2)}\n`);
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
  throw new Error(`Cannot read ${path}: it holds no object`);
}

/** Each by itself: a value that is none leaves its default. */
function prefsOf(kept: Kept): Prefs {
  const fits = Object.entries(CHOICES).filter(([key, choices]) => choices.includes(kept[key]));
  return { ...DEFAULT_PREFS, ...Object.fromEntries(fits.map(([key]) => [key, kept[key]])) };
}
