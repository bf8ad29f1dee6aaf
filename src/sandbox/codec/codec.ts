/** Values as bytes, the same for host calls, variables, snapshots and export (format 1, format.ts).
 * Covers primitives, arrays with holes, plain and null-prototype objects, Map, Set, Date, RegExp, Error, ArrayBuffer and
 * its views, URL, cycles and shared references. Reads only own data properties and runs no code of the value: no getter,
 * trap, iterator or `toJSON`. Drops accessors, symbol keys and hidden properties, unless `lost` asks for an exact copy;
 * everything else is refused. */
import { type DecodeOptions, Decoder } from "./decode.ts";
import { type EncodeOptions, Encoder } from "./encode.ts";

/** Throws `CodecError` with the path of what cannot be encoded, at a depth over 1000, and over 5 million objects. */
export function encode(value: unknown, options: EncodeOptions = {}): Uint8Array<ArrayBuffer> {
  return new Encoder(options).encode(value);
}

/** The length of the table (format.ts), as the bytes state it: a bound of how many values they have. */
export function tableBytes(bytes: Uint8Array<ArrayBuffer>): number {
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
}

/** Throws `CodecError` for bytes that `encode` does not produce. Safe on hostile bytes: memory stays proportional to
 * their size, and properties are defined, so no setter runs. */
export function decode(bytes: Uint8Array<ArrayBuffer>, options: DecodeOptions = {}): unknown {
  return new Decoder(bytes, options).decode();
}
