import { type Encoder, LISTED_ITEMS } from "./encode.ts";
import { bareList, flagsOf, intrinsics as own } from "./intrinsics.ts";
import { hasValue } from "./text.ts";

/** Writes the record of an object that is neither an array nor plain. */
export function writeSpecial(encoder: Encoder, value: object): void {
  const prototype = own.prototypeOf(value);
  let usual: object | null = prototype;
  if (own.isNativeError(value)) return writeError(encoder, value);
  if (own.isView(value)) return writeView(encoder, value);
  if (own.isMap(value)) usual = writeMap(encoder, value);
  else if (own.isSet(value)) usual = writeSet(encoder, value);
  else if (own.isArrayBuffer(value)) usual = writeBuffer(encoder, value);
  else if (own.isDate(value)) usual = writeDate(encoder, value);
  else if (own.isRegExp(value)) usual = writeRegExp(encoder, value);
  else if (isUrl(value)) usual = writeUrl(encoder, value);
  else {
    const what = builtIn(value);
    if (what) encoder.refuse(what);
    encoder.object(value, false);
    return encoder.instance(value);
  }
  encoder.extras(value, false);
  if (usual !== prototype) encoder.instance(value);
}

function writeMap(encoder: Encoder, value: ReadonlyMap<unknown, unknown>): object {
  const entries = bareList<unknown>();
  own.mapEach(value as Map<unknown, unknown>, (item: unknown, key: unknown) => {
    entries[entries.length] = key;
    entries[entries.length] = item;
  });
  encoder.put("M");
  encoder.put(entries.length / 2);
  for (let i = 0; i < entries.length; i++) encoder.slot(entries[i], `<${i % 2 ? "value" : "key"} ${i >> 1}>`);
  return own.map;
}

function writeSet(encoder: Encoder, value: ReadonlySet<unknown>): object {
  const items = bareList<unknown>();
  own.setEach(value as Set<unknown>, (item: unknown) => {
    items[items.length] = item;
  });
  encoder.put("E");
  encoder.put(items.length);
  for (let i = 0; i < items.length; i++) encoder.slot(items[i], `<item ${i}>`);
  return own.set;
}

function writeDate(encoder: Encoder, value: Date): object {
  encoder.put("D");
  encoder.slot(own.time(value), "");
  return own.date;
}

function writeRegExp(encoder: Encoder, value: RegExp): object {
  const last: unknown = own.descriptorOf(value, "lastIndex")?.value;
  encoder.put("R");
  encoder.slot(own.source(value), "source");
  encoder.put(flagsOf(value));
  encoder.put(typeof last === "number" && last >= 0 && last < 2 ** 31 ? last | 0 : 0);
  return own.regExp;
}

function writeUrl(encoder: Encoder, value: object): object {
  encoder.put("U");
  encoder.slot(own.href(value), "href");
  return own.url;
}

/** Name, message, cause and own data properties with their enumerability. Never the stack, which contains our file
 * names. */
function writeError(encoder: Encoder, value: object): void {
  const prototype = own.prototypeOf(value);
  const base = errorBase(prototype);
  if (prototype === own.domException) return writeDomException(encoder, value);
  const keys = own.ownKeys(value);
  const kept = bareList<string>();
  const found = bareList<PropertyDescriptor>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key === "stack") continue;
    const descriptor = own.descriptorOf(value, key!);
    if (typeof key !== "string" || !hasValue(descriptor)) {
      encoder.lose(typeof key === "symbol" ? "symbol key" : "getter", key!);
      continue;
    }
    found[kept.length] = descriptor;
    kept[kept.length] = key;
  }
  encoder.put("X");
  encoder.put(base);
  encoder.put(kept.length);
  for (let i = 0; i < kept.length; i++) {
    encoder.put(kept[i]!);
    encoder.slot(found[i]!.value, kept[i]!);
    encoder.put(found[i]!.enumerable === true);
  }
  if (prototype !== own.errorPrototypes[base]) encoder.instance(value);
}

/** Decoded as an Error of that name: its class cannot be set on an existing object. */
function writeDomException(encoder: Encoder, value: object): void {
  encoder.lose("class DOMException");
  encoder.put("X");
  encoder.put("Error");
  encoder.put(2);
  encoder.put("name");
  encoder.slot(own.domExceptionName(value), "name");
  encoder.put(false);
  encoder.put("message");
  encoder.slot(own.domExceptionMessage(value), "message");
  encoder.put(false);
}

function errorBase(prototype: object | null): string {
  for (let p = prototype, i = 0; p !== null && i < 100 && !own.isProxy(p); p = own.prototypeOf(p), i++) {
    for (const name in own.errorPrototypes) if (own.errorPrototypes[name] === p) return name;
  }
  return "Error";
}

function writeBuffer(encoder: Encoder, value: ArrayBuffer): object {
  const size = own.bufferBytes(value);
  if (own.isResizable(value)) encoder.lose("resizable buffer");
  encoder.put("B");
  encoder.put(size === 0 ? 0 : encoder.segments.bytes(new own.Uint8Array(value)));
  encoder.put(size);
  return own.arrayBuffer;
}

function writeView(encoder: Encoder, value: object): void {
  const name = own.isTypedArray(value) ? own.viewTag(value) : "DataView";
  if (name === undefined || !own.viewConstructors[name]) return encoder.refuse("a view of an unknown kind");
  const data = name === "DataView";
  const buffer = data ? own.dataBuffer(value) : own.viewBuffer(value);
  if (!own.isArrayBuffer(buffer)) return encoder.refuse("shared memory");
  encoder.put("V");
  encoder.put(name);
  encoder.put(own.bufferBytes(buffer) === 0 ? 0 : data ? own.dataOffset(value) : own.viewOffset(value));
  encoder.put(own.bufferBytes(buffer) === 0 ? 0 : data ? own.dataBytes(value) : own.viewLength(value));
  encoder.put(encoder.index(buffer, "buffer"));
  if (data || own.viewLength(value) <= LISTED_ITEMS) encoder.extras(value, true);
  if (own.prototypeOf(value) !== own.viewPrototypes[name]) encoder.instance(value);
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
