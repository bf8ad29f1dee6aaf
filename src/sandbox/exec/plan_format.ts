import { Pace } from "../../domain/kit/concurrency.ts";
import { type CommonCall, numberOf } from "../confine/libc.ts";

/** A value that is not a number is the target of a pointer: a text, bytes, a place in bytes, or further words. */
export type Word = number | bigint | string | Uint8Array | Place | readonly Word[];

export interface Place {
  readonly in: Uint8Array;
  readonly at: number;
}

export interface PlanStep {
  readonly call: CommonCall | "sameBytes";
  readonly args: readonly Word[];
  readonly wanted: readonly [result: number, other: number];
  readonly fault: string | null;
}

const FIRST = 3;
const CLOSE_RANGE_LAST = 0xffff_ffff;
/** These are the sizes of struct plan and struct step in init.c. */
const PLAN_BYTES = 48, STEP_BYTES = 64, WORD_BYTES = 8;
const SAME_BYTES = -1;
/** This is IMAGE_BYTES of init.c, which exceeds the arguments and variables that a program may have. */
const MOST_BYTES = 8 << 20;
const STEPS_AT_ONCE = 100;
const ENCODER = new TextEncoder();

/** A process without a runtime (init.c) makes these system calls before it becomes the first process around a
 * program. */
export class Plan {
  readonly steps: PlanStep[] = [];
  readonly #open = new Set<number>();

  constructor(fault: string) {
    this.must(fault, "close_range", [FIRST, CLOSE_RANGE_LAST, 0]);
  }

  must(
    fault: string,
    call: PlanStep["call"],
    args: PlanStep["args"],
    { gives = 0, or = gives }: { readonly gives?: number; readonly or?: number } = {},
  ): void {
    this.steps.push({ call, args, wanted: [gives, or], fault });
  }

  may(call: PlanStep["call"], args: PlanStep["args"]): void {
    this.steps.push({ call, args, wanted: [0, 0], fault: null });
  }

  /** The kernel gives the lowest free number, so the plan knows the descriptor in advance. */
  open(fault: string, call: PlanStep["call"], args: PlanStep["args"]): number {
    let descriptor = FIRST;
    while (this.#open.has(descriptor)) descriptor++;
    this.#open.add(descriptor);
    this.must(fault, call, args, { gives: descriptor });
    return descriptor;
  }

  close(descriptor: number): void {
    this.#open.delete(descriptor);
    this.may("close", [descriptor]);
  }

  async encode(
    { token, argv, env }: Readonly<Record<"argv" | "env", readonly string[]>> & { readonly token: string },
  ): Promise<Uint8Array<ArrayBuffer> | null> {
    const image = new Image(PLAN_BYTES + this.steps.length * STEP_BYTES);
    image.set(16, this.steps.length);
    image.set(24, token);
    image.set(32, [...argv, 0]);
    image.set(40, [...env, 0]);
    const pace = new Pace();
    for (const [at, { call, args, wanted: [result, other], fault }] of this.steps.entries()) {
      if (at % STEPS_AT_ONCE === 0 && pace.due) await pace.rest();
      const place = PLAN_BYTES + at * STEP_BYTES;
      image.setHalf(place, call === "sameBytes" ? SAME_BYTES : numberOf(call));
      image.setHalf(place + 4, other);
      args.forEach((word, index) => image.set(place + (index + 1) * WORD_BYTES, word));
      image.set(place + 48, result);
      if (fault !== null) image.set(place + 56, fault.replaceAll("\n", " "));
    }
    return image.finish();
  }
}

class Image {
  #bytes = new Uint8Array(64 << 10);
  #view = new DataView(this.#bytes.buffer);
  #end = 0;
  readonly #pointers: number[] = [];
  readonly #placed = new Map<string | Uint8Array, number>();

  constructor(length: number) {
    this.#reserve(length);
  }

  setHalf(at: number, value: number): void {
    this.#view.setInt32(at, value, true);
  }

  set(at: number, word: Word): void {
    if (typeof word === "number" && (word | 0) === word) {
      this.setHalf(at, word);
      this.setHalf(at + 4, word < 0 ? -1 : 0);
      return;
    }
    if (typeof word === "number" || typeof word === "bigint") {
      this.#view.setBigUint64(at, BigInt.asUintN(64, BigInt(word)), true);
      return;
    }
    this.#pointers.push(at);
    const to = this.#place(word); // Placing makes a new view if there is no room.
    this.#view.setUint32(at, to, true);
  }

  finish(): Uint8Array<ArrayBuffer> | null {
    const places = [...this.#pointers];
    const list = this.#reserve(places.length * WORD_BYTES);
    places.forEach((place, at) => this.set(list + at * WORD_BYTES, place));
    this.set(0, list);
    this.set(8, places.length);
    if (this.#end > MOST_BYTES) return null;
    const all = new Uint8Array(4 + this.#end);
    new DataView(all.buffer).setUint32(0, this.#end, true);
    all.set(this.#bytes.subarray(0, this.#end), 4);
    return all;
  }

  #place(word: string | Uint8Array | Place | readonly Word[]): number {
    if (typeof word !== "string" && "in" in word) return this.#place(word.in) + word.at;
    if (typeof word === "string" || word instanceof Uint8Array) {
      const known = this.#placed.get(word);
      if (known !== undefined) return known;
      const at = typeof word === "string" ? this.#placeText(word) : this.#reserve(word.length);
      if (typeof word !== "string") this.#bytes.set(word, at);
      this.#placed.set(word, at);
      return at;
    }
    const at = this.#reserve(word.length * WORD_BYTES);
    word.forEach((one, index) => this.set(at + index * WORD_BYTES, one));
    return at;
  }

  #placeText(text: string): number {
    const at = this.#end;
    this.#makeRoom(at + 3 * text.length + 1);
    this.#reserve(ENCODER.encodeInto(text, this.#bytes.subarray(at)).written + 1);
    return at;
  }

  #reserve(length: number): number {
    const at = this.#end;
    this.#end += Math.ceil(length / WORD_BYTES) * WORD_BYTES;
    this.#makeRoom(this.#end);
    return at;
  }

  #makeRoom(end: number): void {
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
  }
}
