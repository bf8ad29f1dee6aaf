/** `never` cannot be reached at all: addresses of the machine itself or its link, multicast and unassigned ones.
 * `private` can be reached if the user names host and port. */
export type AddressClass = "public" | "private" | "never";

const NEVER_4: readonly string[] = ["0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"];
/** IANA's special-purpose addresses, which are not on the internet. */
const PRIVATE_4: readonly string[] = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
];

/** Classifies an address, given as text. One that cannot be parsed is `never`. */
export function addressClass(address: string): AddressClass {
  const four = parse4(address);
  if (four !== null) return class4(four);
  const six = parse6(address);
  return six === null ? "never" : class6(six);
}

function class4(address: number): AddressClass {
  if (NEVER_4.some((block) => holds4(block, address))) return "never";
  return PRIVATE_4.some((block) => holds4(block, address)) ? "private" : "public";
}

function holds4(block: string, address: number): boolean {
  const [base = "", bits = "32"] = block.split("/");
  const size = 2 ** (32 - Number(bits));
  return Math.floor(address / size) === Math.floor((parse4(base) ?? -1) / size);
}

function class6(groups: readonly number[]): AddressClass {
  const [first = 0, second = 0, third = 0] = groups;
  const zeros = (to: number): boolean => groups.slice(0, to).every((group) => group === 0);
  const embedded = (groups[6] ?? 0) * 65536 + (groups[7] ?? 0);
  if (zeros(5) && groups[5] === 0xffff) return class4(embedded); // mapped
  if (first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) return class4(embedded);
  if (zeros(7) && groups[7] === 1) return "private"; // loopback
  if ((first & 0xfe00) === 0xfc00) return "private"; // unique local
  if ((first & 0xe000) !== 0x2000) return "never";
  if (first === 0x2001 && second < 0x200) return "never"; // Teredo and other protocols
  if (first === 0x2001 && second === 0xdb8) return "never"; // documentation
  if (first === 0x2002) return class4(second * 65536 + third) === "public" ? "private" : "never"; // 6to4
  return first === 0x3fff && second < 0x1000 ? "never" : "public";
}

/** Exactly four decimal numbers: other spellings are handled by the URL parser. */
function parse4(text: string): number | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function parse6(text: string): readonly number[] | null {
  const last = text.slice(text.lastIndexOf(":") + 1);
  const tail = last.includes(".") ? parse4(last) : null;
  if (last.includes(".") && tail === null) return null;
  const plain = tail === null
    ? text
    : `${text.slice(0, -last.length)}${Math.floor(tail / 65536).toString(16)}:${(tail % 65536).toString(16)}`;
  const halves = plain.split("::");
  if (halves.length > 2) return null;
  const [head = [], rest = []] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...rest];
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group)) ? groups.map((group) => parseInt(group, 16)) : null;
}
