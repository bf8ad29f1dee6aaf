import type { Operation } from "../../src/sandbox/confine/install_filter.ts";

export interface EnteredCall {
  readonly architecture: number;
  readonly number: number;
  readonly args: readonly bigint[];
}

/** The number `reads` counts the arguments up to the last argument that the filter reads. Throws for an unknown
 * operation, a jump out of the filter, or an end without a verdict. */
export function filterVerdict(
  operations: readonly Operation[],
  { architecture, number, args }: EnteredCall,
): { readonly verdict: number; readonly reads: number } {
  const words = [number, architecture, 0, 0, ...args.flatMap((it) => [Number(it & 0xffffffffn), Number(it >> 32n)])];
  let loaded = 0, reads = 0;
  for (let at = 0; at < operations.length; at++) {
    const [code, whenTrue, whenFalse, operand] = operations[at] as Operation;
    switch (code) {
      case 0x20: { // BPF_LD | BPF_W | BPF_ABS
        const word = words[operand / 4];
        if (word === undefined) throw new Error(`Cannot load the word at ${operand}`);
        reads = Math.max(reads, Math.floor((operand - 8) / 8));
        loaded = word >>> 0;
        break;
      }
      case 0x05: // BPF_JMP | BPF_JA
        at += operand;
        break;
      case 0x15: // BPF_JEQ
        at += loaded === operand >>> 0 ? whenTrue : whenFalse;
        break;
      case 0x35: // BPF_JGE
        at += loaded >= operand >>> 0 ? whenTrue : whenFalse;
        break;
      case 0x45: // BPF_JSET
        at += (loaded & operand) !== 0 ? whenTrue : whenFalse;
        break;
      case 0x06: // BPF_RET
        return { verdict: operand >>> 0, reads };
      default:
        throw new Error(`Cannot run the operation ${code}`);
    }
  }
  throw new Error("Cannot leave the filter without a verdict");
}
