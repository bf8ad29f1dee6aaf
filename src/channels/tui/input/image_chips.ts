import { visibleText } from "../../../domain/kit/text.ts";
import type { AttachedImage, Outgoing } from "./outgoing.ts";

/** Images of a message, each with a chip in its text: an image is sent as long as its chip is intact. */
export class ImageChips {
  readonly #images = new Map<string, AttachedImage>();

  /** Returns its chip, numbered after those of the text that it is inserted into. */
  add(one: AttachedImage, { text }: { readonly text: string }): string {
    const taken = Object.keys(this.in(text)).map(numberOf);
    const chip = `[image ${1 + Math.max(0, ...taken)}: ${visibleText(one.path).replace(/\s/g, " ")}]`;
    this.#images.set(chip, one);
    return chip;
  }

  /** Restores the images of a message that was not sent. */
  restore(images: Outgoing["images"]): void {
    for (const [chip, one] of Object.entries(images)) this.#images.set(chip, one);
  }

  /** The images whose chips are in the text, by their numbers. */
  in(text: string): Outgoing["images"] {
    const found = [...this.#images].filter(([chip]) => text.includes(chip));
    return Object.fromEntries(found.sort(([one], [other]) => numberOf(one) - numberOf(other)));
  }

  /** The chip at the end of the text, including a blank after it; "" for none. */
  before(text: string): string {
    const chips = [...this.#images.keys()].flatMap((chip) => [`${chip} `, chip]);
    return chips.find((chip) => text.endsWith(chip)) ?? "";
  }

  /** The chip at the beginning of the text; "" for none. */
  after(text: string): string {
    return [...this.#images.keys()].find((chip) => text.startsWith(chip)) ?? "";
  }
}

function numberOf(chip: string): number {
  return Number(/\d+/.exec(chip)?.[0] ?? 0);
}
