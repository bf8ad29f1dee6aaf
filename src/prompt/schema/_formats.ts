const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAX_CHARS = 4_096;

/** Whether a text has a `format`. Unknown formats accept everything, as the specification requires. */
export function hasFormat(format: string, text: string): boolean {
  const test = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return test === undefined || text.length <= MAX_CHARS && test(text);
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => TIME.test(text),
  "date-time": (text) => /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11)),
  email: isEmail,
  hostname: isHost,
  ipv4: (text) => IPV4.test(text),
  ipv6: (text) => text.includes(":") && /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`),
  uri: (text) => /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i.test(text) && URL.canParse(text),
  uuid: (text) => UUID.test(text),
};

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const name = text.slice(0, at);
  if (at < 1 || at > 64 || name.startsWith(".") || name.endsWith(".") || name.includes("..")) return false;
  return /^[\w.!#$%&'*+/=?^`{|}~-]+$/.test(name) && isHost(text.slice(at + 1));
}

function isHost(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => NAME.test(part));
}
