import fc from "fast-check";

const SURROGATES = { first: 0xd800, count: 0x800 };
const POINTS = 0x110000 - SURROGATES.count;

/** The unit `binary` of fast-check generates the same characters, but takes a second to make. */
const character = fc.nat(POINTS - 1).map(
  (at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count),
  (text) => {
    const point = typeof text === "string" && [...text].length === 1 ? text.codePointAt(0) ?? 0 : -1;
    const after = SURROGATES.first + SURROGATES.count;
    if (point < 0 || (point >= SURROGATES.first && point < after)) {
      throw new RangeError("Cannot map the value: it is not one character");
    }
    return point < SURROGATES.first ? point : point - SURROGATES.count;
  },
);

export function anyText(limits: Pick<fc.StringConstraints, "minLength" | "maxLength"> = {}): fc.Arbitrary<string> {
  return fc.string({ ...limits, unit: character });
}
