import { Input, type KeyId, matchesKey, visibleWidth } from "@earendil-works/pi-tui";
import { harmlessText } from "../../../domain/kit/text.ts";
import { fitted, paint } from "../text/one_line.ts";

interface ListLook<T> {
  key(item: T): string;
  /** Returns at most four lines, each at most `width` columns wide. */
  draw(item: T, place: { readonly width: number; readonly selected: boolean }): readonly string[];
  heading?(item: T): boolean;
}

/** An item has at most four lines, and the selected item must be visible as a whole. */
const LEAST_HEIGHT = 5;

export class List<T> {
  readonly #look: ListLook<T>;
  #items: readonly T[] = [];
  #at = 0;
  #top = 0;
  #page = 1;
  #shown: readonly number[] = [];

  constructor(look: ListLook<T>) {
    this.#look = look;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  get selected(): T | undefined {
    const item = this.#items[this.#at];
    return item === undefined || this.#heading(item) ? undefined : item;
  }

  get at(): number {
    return this.#at;
  }

  set(items: readonly T[], { from = "kept" }: { readonly from?: "kept" | "first" | "last" } = {}): void {
    const before = this.selected;
    this.#items = items;
    const key = before === undefined ? null : this.#look.key(before);
    const kept = from === "kept" && key !== null ? items.findIndex((item) => this.#look.key(item) === key) : -1;
    this.#at = kept >= 0 ? kept : from === "last" ? items.length - 1 : from === "first" ? 0 : this.#at;
    this.#settle(from === "last" ? -1 : 1);
  }

  select(key: string): void {
    const at = this.#items.findIndex((item) => this.#look.key(item) === key);
    if (at >= 0) this.#at = at;
  }

  move(movement: Movement): void {
    const step = movement === "up" || movement === "pageUp" || movement === "end" ? -1 : 1;
    switch (movement) {
      case "home":
        this.#at = 0;
        break;
      case "end":
        this.#at = this.#items.length - 1;
        break;
      default:
        this.#at += step * (movement === "up" || movement === "down" ? 1 : this.#page);
    }
    this.#settle(step);
  }

  /** Returns true for the selected item, so that a second click acts as Enter. */
  press(row: number): boolean {
    const at = this.#shown[row];
    const item = at === undefined ? undefined : this.#items[at];
    if (at === undefined || item === undefined || this.#heading(item)) return false;
    const again = at === this.#at;
    this.#at = at;
    return again;
  }

  render(width: number, height: number): string[] {
    this.#shown = [];
    if (this.#items.length === 0 || height < 1) return [];
    const whole = this.#window(width, height);
    if (whole.more === 0 || height < LEAST_HEIGHT) return whole.lines;
    const { lines, more } = this.#window(width, height - 1);
    return more === 0 ? lines : [...lines, paint.dim(fitted(`  ↓ ${more} more`, { width }))];
  }

  #window(width: number, height: number): { readonly lines: string[]; readonly more: number } {
    this.#top = this.#windowTop(width, height);
    const lines: string[] = [];
    const shown: number[] = [];
    let at = this.#top;
    for (; at < this.#items.length && lines.length < height; at++) {
      const own = this.#draw(at, width);
      lines.push(...own);
      shown.push(...own.map(() => at));
    }
    this.#shown = shown.slice(0, height);
    this.#page = Math.max(1, at - this.#top - 1);
    return { lines: lines.slice(0, height), more: this.#items.slice(at).filter((item) => !this.#heading(item)).length };
  }

  #windowTop(width: number, height: number): number {
    let earliest = this.#at;
    for (let used = this.#draw(this.#at, width).length; earliest > 0; earliest--) {
      used += this.#draw(earliest - 1, width).length;
      if (used > height) break;
    }
    const onlyHeadingsBefore = this.#items.slice(earliest, this.#at).every((item) => this.#heading(item));
    if (onlyHeadingsBefore && earliest === 0) return 0;
    const top = Math.min(Math.max(this.#top, earliest), this.#at);
    const before = this.#items[top - 1];
    const headed = top === this.#at && top > earliest && before !== undefined && this.#heading(before);
    return headed ? top - 1 : top;
  }

  #draw(at: number, width: number): readonly string[] {
    const item = this.#items[at];
    return item === undefined
      ? []
      : this.#look.draw(item, { width, selected: at === this.#at && !this.#heading(item) });
  }

  #settle(step: 1 | -1): void {
    const last = this.#items.length - 1;
    this.#at = Math.max(0, Math.min(last, this.#at));
    for (const way of [step, -step]) {
      for (let at = this.#at; at >= 0 && at <= last; at += way) {
        const item = this.#items[at];
        if (item === undefined || this.#heading(item)) continue;
        this.#at = at;
        return;
      }
    }
  }

  #heading(item: T): boolean {
    return this.#look.heading?.(item) ?? false;
  }
}

const GAP = "  ";

export function row(
  name: string,
  { facts = [], detail = "", width, selected }: {
    readonly facts?: readonly string[];
    readonly detail?: string;
    readonly width: number;
    readonly selected: boolean;
  },
): string {
  const room = Math.max(1, width - 2);
  const wanted = Math.min(visibleWidth(name), Math.max(12, Math.floor(room * 0.55)));
  const told = facts.filter((fact) => fact !== "");
  while (told.length > 0 && visibleWidth(told.join(GAP)) + GAP.length + wanted > room) told.pop();
  const right = told.join(GAP);
  const left = right === "" ? room : room - visibleWidth(right) - GAP.length;
  const rest = left - visibleWidth(name);
  const said = detail !== "" && rest > GAP.length + 8;
  const text = fitted(name, { width: left, pad: right !== "" && !said });
  const more = said ? paint.dim(GAP + fitted(detail, { width: rest - GAP.length, pad: right !== "" })) : "";
  const shown = `${selected ? paint.bold(text) : text}${more}`;
  return `${selected ? "❯ " : "  "}${shown}${right === "" ? "" : `${GAP}${paint.dim(right)}`}`;
}

const MOST = 2_000;

/** A paste must not insert control sequences, so the input replaces control characters. */
export class LineInput {
  readonly #input: Input;
  readonly #prompt: string;
  readonly #hidden: boolean;

  constructor({ prompt, placeholder = "", value = "", hidden = false }: {
    readonly prompt: string;
    readonly placeholder?: string;
    readonly value?: string;
    readonly hidden?: boolean;
  }) {
    this.#prompt = prompt;
    this.#hidden = hidden;
    this.#input = new Input({ prompt, placeholder, placeholderStyle: paint.dim });
    this.#input.focused = true;
    // The package's input cannot set the value and put the cursor at its end, so `LineInput` pastes the value.
    if (value !== "") this.#input.handleInput(`\x1b[200~${value}\x1b[201~`);
  }

  get value(): string {
    return this.#input.getValue();
  }

  handle(data: string): boolean {
    const before = this.value;
    this.#input.handleInput(data);
    const safe = harmlessText(this.value.slice(0, MOST).toWellFormed()).replace(/\s/g, " ");
    if (safe !== this.value) this.#input.setValue(safe);
    return this.value !== before;
  }

  render(width: number): string[] {
    if (this.#hidden) return [fitted(`${this.#prompt}${"•".repeat(Math.min(this.value.length, 60))}`, { width })];
    return this.#input.render(width);
  }
}

export function filterInput(placeholder: string, value = ""): LineInput {
  return new LineInput({ prompt: "filter: ", placeholder, value });
}

const KEYS = ["up", "down", "pageUp", "pageDown", "home", "end"] as const satisfies readonly KeyId[];

export type Movement = typeof KEYS[number];

export function movement(data: string): Movement | null {
  return KEYS.find((key) => matchesKey(data, key)) ?? null;
}
