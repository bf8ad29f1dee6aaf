import type { VariableImage, VariableKind } from "../../../domain/query/variable.ts";
import { bareList } from "../../codec/intrinsics.ts";
import type { Bytes } from "../../protocol.ts";
import { look, nameSet } from "../realm/captured.ts";
import {
  addOnce,
  type BlockNames,
  changeHash,
  encodeTogether,
  type Group,
  imageOf,
  isObject,
  type SaveParts,
  snapshot,
  type VariableRecord,
  type VariableSnapshot,
} from "./snapshot.ts";

interface SavingParts extends SaveParts {
  readonly entries: Readonly<Record<string, VariableRecord>>;
  readonly has: (name: string) => boolean;
  readonly drop: (name: string) => void;
}

const WALK = { objects: 50_000, properties: 100_000 };
const LARGE = 64 << 10;
const REACH_ALL = nameSet(["globalThis", "results", "vis"]);

/** Use each object once, at the end of a block. */
export class Saving {
  readonly #parts: SavingParts;
  readonly #named: Record<string, true> = look.create(null);
  readonly #candidates: Record<string, VariableRecord> = look.create(null);
  readonly #shots: Record<string, VariableSnapshot> = look.create(null);
  readonly #was: Record<string, VariableKind> = look.create(null);

  constructor(parts: SavingParts) {
    this.#parts = parts;
  }

  run(block: BlockNames): { saved: VariableImage[]; touched: string[]; pending: string[]; lost: string[] } {
    this.#name(block);
    for (const name in this.#named) this.#reach(name);
    for (const name in this.#parts.entries) if (this.#parts.entries[name]!.kind === "pending") this.#reach(name);
    this.#look();
    this.#regroup();
    const declared: Record<string, true> = look.create(null);
    for (let i = 0; i < block.declarations.length; i++) declared[block.declarations[i]!.name] = true;
    const saved = bareList<VariableImage>(), touched = bareList<string>(), lost = bareList<string>();
    for (const name in this.#parts.entries) {
      const shot = this.#shots[name];
      if (!shot) continue;
      const before = shot.entry.hash;
      const image = this.#image(shot);
      if (!image) continue;
      saved[saved.length] = image;
      if (before !== shot.hash && !declared[name]) touched[touched.length] = name;
      if (shot.kind === "lost" && this.#was[name] !== "pending") lost[lost.length] = name;
    }
    const plain = <T>(list: T[]): T[] => look.setPrototypeOf(list, look.array) as T[];
    return { saved: plain(saved), touched: plain(touched), pending: plain(this.#pending()), lost: plain(lost) };
  }

  #name({ declarations, assigned = [], reads }: BlockNames): void {
    const { entries } = this.#parts;
    for (let i = 0; i < reads.length; i++) {
      const read = reads[i]!;
      if (REACH_ALL[read]) { for (const name in entries) this.#named[name] = true; }
      else if (entries[read]) this.#named[read] = true;
    }
    for (let i = 0; i < declarations.length; i++) this.#named[declarations[i]!.name] = true;
    for (let i = 0; i < assigned.length; i++) this.#named[assigned[i]!.name] = true;
  }

  /** Variables that share objects with a changed variable, or that the code of a changed variable can reach, may have
   * changed as well. */
  #reach(first: string): void {
    const queue = bareList<string>();
    queue[0] = first;
    for (let i = 0; i < queue.length; i++) {
      const name = queue[i]!, entry = this.#parts.entries[name];
      if (!entry || this.#candidates[name]) continue;
      if (!this.#parts.has(name)) {
        this.#parts.drop(name); // A block deleted the variable.
        continue;
      }
      this.#candidates[name] = entry;
      const isData = entry.kind === "data" || entry.kind === "instance";
      const uses = isData ? entry.classes : entry.requires;
      for (let k = 0; k < uses.length; k++) queue[queue.length] = uses[k]!;
      const members = entry.group?.members;
      for (let k = 0; members && k < members.length; k++) queue[queue.length] = members[k]!;
    }
  }

  /** Other values may be instances of functions and classes, so these come first. */
  #look(): void {
    for (const name in this.#candidates) if (typeof this.#parts.get(name) === "function") this.#lookAt(name);
    for (const name in this.#candidates) if (typeof this.#parts.get(name) !== "function") this.#lookAt(name);
  }

  #lookAt(name: string): void {
    const entry = this.#candidates[name]!;
    if (entry.group?.coarse && !this.#named[name] && entry.size > LARGE) return;
    const shot = snapshot(entry, this.#parts.get(name), this.#parts);
    if (!shot) return;
    this.#was[name] = entry.kind;
    entry.kind = shot.kind;
    if (shot.kind === "data" || shot.kind === "instance") entry.classes = shot.requires;
    this.#shots[name] = shot;
  }

  /** Groups without a candidate cannot have started or stopped sharing objects, so their records stay. */
  #regroup(): void {
    const walk = new IdentityWalk(WALK);
    const groups: Record<string, Group> = look.create(null);
    for (const name in this.#candidates) {
      groups[name] = { members: listOf(name), coarse: false };
      const shared = walk.add(name, this.#parts.get(name));
      for (let i = 0; i < shared.length; i++) join(groups, name, shared[i]!);
      this.#joinMakers(groups, name);
    }
    const all: Group | null = walk.exceeded ? { members: bareList(), coarse: true } : null;
    for (const name in this.#candidates) {
      const group = all && isObject(this.#parts.get(name)) ? all : groups[name]!;
      if (group === all) group.members[group.members.length] = name;
      this.#candidates[name]!.group = group.members.length > 1 || group === all ? group : null;
    }
  }

  /** Vis cannot see the values that a closure holds, so Vis groups the closure with variables that its statement or
   * requirements connect to it. */
  #joinMakers(groups: Record<string, Group>, name: string): void {
    const { requires, statement, kind } = this.#candidates[name]!;
    for (const other in groups) {
      if (other === name) continue;
      const { kind: otherKind, statement: otherStatement, requires: otherRequires } = this.#candidates[other]!;
      if (kind !== "lost" && otherKind !== "lost") continue;
      const together = statement !== "" && statement === otherStatement;
      if (together || (otherKind === "lost" && has(requires, other)) || (kind === "lost" && has(otherRequires, name))) {
        join(groups, name, other);
      }
    }
  }

  #image(shot: VariableSnapshot): VariableImage | null {
    const { entry, hash, losses } = shot;
    const coarse = entry.group?.coarse === true;
    const alias = shot.kind === "function" || shot.kind === "class" ? this.#alias(shot) : "";
    const isSame = hash === entry.hash && alias === entry.alias && losses === entry.losses;
    if (isSame && coarse) return null;
    const table = this.#table(shot);
    if (isSame && this.#isStoredWith(entry, table?.hash ?? "")) return null;
    return imageOf(shot, { table, assumed: coarse, alias }, this.#parts);
  }

  /** If Vis only assumed the sharing, the image stays correct while each inspected variable of the group is unchanged
   * and in the same table. */
  #isStoredWith({ tableHash, tableAssumed, group }: VariableRecord, now: string): boolean {
    if (!tableAssumed) return tableHash === now;
    for (let i = 0; group && i < group.members.length; i++) {
      const other = this.#shots[group.members[i]!];
      if (other && (other.hash !== other.entry.hash || other.entry.tableHash !== tableHash)) return false;
    }
    return true;
  }

  #alias({ entry, value }: VariableSnapshot): string {
    if (!entry.group) return "";
    for (const name in this.#parts.entries) {
      if (name === entry.name) return "";
      if (this.#parts.get(name) === value) return name;
    }
    return "";
  }

  readonly #tables = new look.Map<Group, { readonly bytes: Bytes; readonly hash: string } | null>();

  #table({ entry, kind }: VariableSnapshot): { readonly bytes: Bytes; readonly hash: string } | null {
    const { group } = entry;
    if (!group || (kind !== "data" && kind !== "instance")) return null;
    const known = look.mapGet(this.#tables, group) as { bytes: Bytes; hash: string } | null | undefined;
    if (known !== undefined) return known;
    const members = bareList<VariableSnapshot>();
    for (let i = 0; i < group.members.length; i++) {
      const other = this.#shots[group.members[i]!];
      if (other && (other.kind === "data" || other.kind === "instance") && isObject(other.value)) {
        members[members.length] = other;
      }
    }
    sortByName(members);
    const bytes = members.length > 1 ? encodeTogether(members, this.#parts) : null;
    const table = bytes ? { bytes, hash: changeHash(bytes) } : null;
    look.mapSet(this.#tables, group, table);
    return table;
  }

  #pending(): string[] {
    const names = bareList<string>();
    for (const name in this.#parts.entries) {
      if (this.#parts.entries[name]!.kind === "pending") addOnce(names, name);
    }
    return names;
  }
}

function listOf(name: string): string[] {
  const list = bareList<string>();
  list[0] = name;
  return list;
}

function has(list: readonly string[], name: string): boolean {
  for (let i = 0; i < list.length; i++) if (list[i] === name) return true;
  return false;
}

function join(groups: Record<string, Group>, a: string, b: string): void {
  const into = groups[a]!, from = groups[b];
  if (!from || from === into) return;
  for (let i = 0; i < from.members.length; i++) {
    into.members[into.members.length] = from.members[i]!;
    groups[from.members[i]!] = into;
  }
}

/** The bytes of a group must not depend on the order in which its variables joined it. */
function sortByName(list: VariableSnapshot[]): void {
  for (let i = 1; i < list.length; i++) {
    const one = list[i]!;
    let at = i;
    for (; at > 0 && list[at - 1]!.entry.name > one.entry.name; at--) list[at] = list[at - 1]!;
    list[at] = one;
  }
}

/** The limits count objects instead of time, so that the same values give the same result. */
interface WalkLimits {
  readonly objects: number;
  readonly properties: number;
}

/** Runs no code of the values. */
export class IdentityWalk {
  readonly #owners = new look.Map<object, string>();
  readonly #limits: WalkLimits;
  #name = "";
  #queue = bareList<object>();
  #shared = bareList<string>();
  #objects = 0;
  #properties = 0;
  #exceeded = false;

  constructor(limits: WalkLimits) {
    this.#limits = limits;
  }

  get exceeded(): boolean {
    return this.#exceeded;
  }

  add(name: string, value: unknown): string[] {
    this.#name = name;
    this.#queue = bareList();
    this.#shared = bareList();
    this.#meet(value);
    for (let i = 0; i < this.#queue.length && !this.#exceeded; i++) this.#open(this.#queue[i]!);
    return this.#shared;
  }

  #meet(found: unknown): void {
    if (found === null || (typeof found !== "object" && typeof found !== "function")) return;
    const owner = look.mapGet(this.#owners, found) as string | undefined;
    if (owner === undefined) {
      if (++this.#objects > this.#limits.objects) this.#exceeded = true;
      look.mapSet(this.#owners, found, this.#name);
      this.#queue[this.#queue.length] = found;
    } else if (owner !== this.#name && this.#shared[this.#shared.length - 1] !== owner) {
      this.#shared[this.#shared.length] = owner;
    }
  }

  #stop(): boolean {
    if (++this.#properties > this.#limits.properties) this.#exceeded = true;
    return this.#exceeded;
  }

  #open(value: object): void {
    if (look.isProxy(value)) return;
    if (look.isTypedArray(value)) return this.#meet(look.viewBuffer(value));
    if (look.isDataView(value)) return this.#meet(look.dataBuffer(value));
    if (look.isArray(value)) {
      for (let i = 0; i < value.length && !this.#stop(); i++) this.#property(value, i);
      return;
    }
    if (look.isMap(value)) this.#map(value);
    else if (look.isSet(value)) this.#set(value);
    const keys = look.ownKeys(value);
    for (let i = 0; i < keys.length && !this.#stop(); i++) this.#property(value, keys[i]!);
  }

  #map(value: Map<unknown, unknown>): void {
    const iterator = look.mapEntries(value);
    for (let n = look.mapSize(value); n > 0 && !this.#stop(); n--) {
      const entry = (look.mapNext(iterator) as IteratorResult<readonly [unknown, unknown]>).value;
      this.#meet(entry[0]);
      this.#meet(entry[1]);
    }
  }

  #set(value: Set<unknown>): void {
    const iterator = look.setValues(value);
    for (let n = look.setSize(value); n > 0 && !this.#stop(); n--) {
      this.#meet((look.setNext(iterator) as IteratorResult<unknown>).value);
    }
  }

  #property(value: object, key: PropertyKey): void {
    const descriptor = look.descriptorOf(value, key);
    if (descriptor && look.hasOwn(descriptor, "value")) this.#meet(descriptor.value);
  }
}
