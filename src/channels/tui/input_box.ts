import { type AutocompleteProvider, Editor, type EditorTheme, type TUI } from "@earendil-works/pi-tui";
import { visibleText } from "../../domain/visible_text.ts";
import type { Outgoing } from "./outgoing.ts";
import { Pastes } from "./pastes.ts";

const START = "\x1b[200~";
const END = "\x1b[201~";
/** What the editor puts behind a label of its own. */
const LABELLED = { lines: 10, chars: 1_000 } as const;

const NARROWEST = 12;

/** Where the user types: several lines, what was typed before, and pastes of any size. */
export class InputBox {
  readonly #editor: Editor;
  #pastes = new Pastes();

  constructor(tui: TUI, { theme, submit }: {
    readonly theme: EditorTheme;
    readonly submit: (outgoing: Outgoing) => void;
  }) {
    this.#editor = new Editor(tui, theme, { paddingX: 1, autocompleteMaxVisible: 8 });
    this.#editor.onSubmit = (text) => {
      const outgoing = this.#pastes.outgoing(text);
      this.#pastes = new Pastes();
      submit(outgoing);
    };
  }

  /** Has the keyboard and draws the cursor. */
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
    this.#editor.setAutocompleteProvider(provider);
  }

  /** Oldest first. */
  remember(texts: readonly string[]): void {
    for (const text of texts) this.#editor.addToHistory(visibleText(text));
  }

  /** What stood here is found among what was typed before. */
  clear(): void {
    this.remember([this.#editor.getExpandedText()]);
    this.#editor.setText("");
    this.#pastes = new Pastes();
  }

  /** A message that was not sent, above what stands here now. */
  giveBack({ text, variables }: Outgoing): void {
    const now = this.#editor.getExpandedText();
    this.#pastes.restore(variables);
    const all = now === "" ? text : `${text}\n${now}`;
    if (visibleText(all) === all) return this.#editor.setText(all);
    this.#editor.setText("");
    this.#paste(all); // behind a label, where nothing of it commands the terminal
  }

  key(data: string): void {
    if (data.startsWith(START) && data.endsWith(END)) this.#paste(data.slice(START.length, -END.length));
    else this.#editor.handleInput(data);
  }

  /** Wider than asked for where that is very narrow: the editor cannot break a wide character. */
  lines(width: number): readonly string[] {
    return this.#editor.render(Math.max(width, NARROWEST));
  }

  /** Nothing of it is lost: what is large becomes a variable, what the editor would change stays as it was behind the
   * editor's own label. */
  #paste(pasted: string): void {
    const text = pasted.replace(/\r\n?/g, "\n");
    const label = this.#pastes.keep(text);
    if (label !== null) return this.#editor.insertTextAtCursor(label);
    const labelled = text.split("\n").length > LABELLED.lines || text.length > LABELLED.chars;
    this.#editor.handleInput(`${START}${labelled ? text : visibleText(text)}${END}`);
    if (labelled) keepExact(this.#editor, text);
  }
}

/** The editor keeps pastes with blanks in place of tabs; a Makefile would not survive that. */
function keepExact(editor: Editor, text: string): void {
  const pastes: unknown = Reflect.get(editor, "pastes");
  if (!(pastes instanceof Map)) return;
  const newest: unknown = [...pastes.keys()].at(-1);
  if (newest !== undefined) pastes.set(newest, text);
}
