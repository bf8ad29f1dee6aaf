import { bareList, intrinsics as own } from "./intrinsics.ts";
import type { SegmentWriter } from "./segments.ts";
import { hasValue } from "./text.ts";

/** What the records of built-in objects need from the encoder. */
export interface RecordSink {
  readonly segments: SegmentWriter;
  put(slot: string | number | boolean | null): void;
  slot(value: unknown, name: string | number): void;
  index(value: object, name: string | number): number;
  object(value: object, bare: boolean): void;
  extras(value: object, skipItems: boolean): void;
  instance(value: object): void;
  refuse(what: string, name?: string | number): never;
}

/** Writes the record of an object that is neither an array nor plain. */
export function writeSpecial(sink: RecordSink, value: object): void {
  const prototype = own.prototypeOf(value);
  let usual: object | null = prototype;
  if (own.isNativeError(value)) return writeError(sink, value);
  if (own.isView(value)) return writeView(sink, value);
  if (own.isMap(value)) usual = writeMap(sink, value);
  else if (own.isSet(value)) usual = writeSet(sink, value);
  else if (own.isArrayBuffer(value)) usual = writeBuffer(sink, value);
  else if (own.isDate(value)) usual = writeDate(sink, value);
  else if (own.isRegExp(value)) usual = writeRegExp(sink, value);
  else if (isUrl(value)) usual = writeUrl(sink, value);
  else {
    const what = builtIn(value);
    if (what) sink.refuse(what);
    sink.object(value, false);
    return sink.instance(value);
  }
  sink.extras(value, false);
  if (usual !== prototype) sink.instance(value);
}

function writeMap(sink: RecordSink, value: ReadonlyMap<unknown, unknown>): object {
  const entries = bareList<unknown>();
  own.mapEach(value as Map<unknown, unknown>, (item: unknown, key: unknown) => {
    entries[entries.length] = key;
    entries[entries.length] = item;
  });
  sink.put("M");
  sink.put(entries.length / 2);
  for (let i = 0; i < entries.length; i++) sink.slot(entries[i], `<${i % 2 ? "value" : "key"} ${i >> 1}>`);
  return own.map;
}

function writeSet(sink: RecordSink, value: ReadonlySet<unknown>): object {
  const items = bareList<unknown>();
  own.setEach(value as Set<unknown>, (item: unknown) => {
    items[items.length] = item;
  });
  sink.put("E");
  sink.put(items.length);
  for (let i = 0; i < items.length; i++) sink.slot(items[i], `<item ${i}>`);
  return own.set;
}

function writeDate(sink: RecordSink, value: Date): object {
  sink.put("D");
  sink.slot(own.time(value), "");
  return own.date;
}

function writeRegExp(sink: RecordSink, value: RegExp): object {
  let flags = "";
  for (let i = 0; i < own.flags.length; i++) if (own.flags[i]![1](value)) flags += own.flags[i]![0];
  const last: unknown = own.descriptorOf(value, "lastIndex")?.value;
  sink.put("R");
  sink.slot(own.source(value), "source");
  sink.put(flags);
  sink.put(typeof last === "number" && last >= 0 && last < 2 ** 31 ? last | 0 : 0);
  return own.regExp;
}

function writeUrl(sink: RecordSink, value: object): object {
  sink.put("U");
  sink.slot(own.href(value), "href");
  return own.url;
}

/** Name, message, cause and own data properties with their enumerability. Never the stack, which contains our file
 * names. */
function writeError(sink: RecordSink, value: object): void {
  const prototype = own.prototypeOf(value);
  const base = errorBase(prototype);
  if (prototype === own.domException) return writeDomException(sink, value);
  const keys = own.ownKeys(value);
  const kept = bareList<string>();
  const found = bareList<PropertyDescriptor>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key !== "string" || key === "stack") continue;
    const descriptor = own.descriptorOf(value, key);
    if (!hasValue(descriptor)) continue;
    found[kept.length] = descriptor;
    kept[kept.length] = key;
  }
  sink.put("X");
  sink.put(base);
  sink.put(kept.length);
  for (let i = 0; i < kept.length; i++) {
    sink.put(kept[i]!);
    sink.slot(found[i]!.value, kept[i]!);
    sink.put(found[i]!.enumerable === true);
  }
  if (prototype !== own.errorPrototypes[base]) sink.instance(value);
}

/** Decoded as an Error of that name: its class cannot be set on an existing object. */
function writeDomException(sink: RecordSink, value: object): void {
  sink.put("X");
  sink.put("Error");
  sink.put(2);
  sink.put("name");
  sink.slot(own.domExceptionName(value), "name");
  sink.put(false);
  sink.put("message");
  sink.slot(own.domExceptionMessage(value), "message");
  sink.put(false);
}

function errorBase(prototype: object | null): string {
  for (let p = prototype, i = 0; p !== null && i < 100 && !own.isProxy(p); p = own.prototypeOf(p), i++) {
    for (const name in own.errorPrototypes) if (own.errorPrototypes[name] === p) return name;
  }
  return "Error";
}

function writeBuffer(sink: RecordSink, value: ArrayBuffer): object {
  const size = own.bufferBytes(value);
  sink.put("B");
  sink.put(size === 0 ? 0 : sink.segments.bytes(new own.Uint8Array(value)));
  sink.put(size);
  return own.arrayBuffer;
}

function writeView(sink: RecordSink, value: object): void {
  const name = own.isTypedArray(value) ? own.viewTag(value) : "DataView";
  if (name === undefined || !own.viewConstructors[name]) return sink.refuse("a view of an unknown kind");
  const data = name === "DataView";
  const buffer = data ? own.dataBuffer(value) : own.viewBuffer(value);
  if (!own.isArrayBuffer(buffer)) return sink.refuse("shared memory");
  sink.put("V");
  sink.put(name);
  sink.put(own.bufferBytes(buffer) === 0 ? 0 : data ? own.dataOffset(value) : own.viewOffset(value));
  sink.put(own.bufferBytes(buffer) === 0 ? 0 : data ? own.dataBytes(value) : own.viewLength(value));
  sink.put(sink.index(buffer, "buffer"));
  if (own.prototypeOf(value) !== own.viewPrototypes[name]) sink.instance(value);
}

function isUrl(value: object): boolean {
  for (let p = own.prototypeOf(value), i = 0; p !== null && i < 20 && !own.isProxy(p); p = own.prototypeOf(p), i++) {
    if (p !== own.url) continue;
    try {
      return own.href(value).length > 0;
    } catch {
      return false; // an object that only inherits from URL.prototype
    }
  }
  return false;
}

/** The kind of a built-in object that cannot be kept, or null for an instance of a user's class. Prototypes of the
 * language and of the host carry their name as a data property under Symbol.toStringTag. */
function builtIn(value: object): string | null {
  if (own.isBoxed(value)) return "a boxed primitive";
  if (own.isPromise(value)) return "a promise";
  let p = own.prototypeOf(value);
  for (let i = 0; p !== null && i < 100; i++) {
    if (own.isProxy(p)) return "an object with a Proxy as prototype";
    const tag: unknown = own.descriptorOf(p, own.toStringTag)?.value;
    if (typeof tag === "string") return `a built-in object (${own.slice(tag, 0, 60)})`;
    p = own.prototypeOf(p);
  }
  return null;
}
