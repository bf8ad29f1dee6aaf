import { visibleText } from "../../../domain/text/visible_text.ts";
import type { AttachedImage, Outgoing } from "./outgoing.ts";

/** Images of a message, each behind a chip in its text: an image goes along while its chip stands there whole. */
export class ImageChips {
  readonly #images = new Map<string, AttachedImage>();

  /** Its chip, numbered after those of the text that it comes into. */
  add(one: AttachedImage, { text }: { readonly text: string }): string {
    const taken = Object.keys(this.in(text)).map(numberOf);
    const chip = `[image ${1 + Math.max(0, ...taken)}: ${visibleText(one.path).replace(/\s/g, " ")}]`;
    this.#images.set(chip, one);
    return chip;
  }

  /** Puts back what came with a message that was not sent. */
  restore(images: Outgoing["images"]): void {
    for (const [chip, one] of Object.entries(images)) this.#images.set(chip, one);
  }

  /** Those whose chip is in a text, by their numbers. */
  in(text: string): Outgoing["images"] {
    const found = [...this.#images].filter(([chip]) => text.includes(chip));
    return Object.fromEntries(found.sort(([one], [other]) => numberOf(one) - numberOf(other)));
  }

  /** The chip that a text ends with, a blank behind it included; "" where none does. */
  before(text: string): string {
    const chips = [...this.#images.keys()].flatMap((chip) => [`${chip} `, chip]);
    return chips.find((chip) => text.endsWith(chip)) ?? "";
  }

  /** The chip that a text begins with; "" where none does. */
  after(text: string): string {
    return [...this.#images.keys()].find((chip) => text.startsWith(chip)) ?? "";
  }
}

function numberOf(chip: string): number {
  return Number(/\d+/.exec(chip)?.[0] ?? 0);
}
