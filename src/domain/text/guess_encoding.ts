import { ByteBuffer } from "../kit/byte_buffer.ts";

/** Encodings of old files, in the order in which they win with the same score. */
const CANDIDATES = [
  "windows-1252",
  "shift_jis",
  "euc-jp",
  "gbk",
  "big5",
  "euc-kr",
  "windows-1251",
  "koi8-r",
  "ibm866",
  "windows-1250",
] as const;
type Candidate = typeof CANDIDATES[number];

/** Text with so many bytes above ASCII is enough to know. */
const ENOUGH = 4_000, MOST_OF_LINE = 16_000;
/** Of Chinese and Korean text, a large part is these characters. */
const HAN = new Set(
  "的一是不了在有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发" +
    "成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知件数据设置错误码代返回注释测试函参值配表名类型" +
    "這個來時說們為會過學對裡後發經頭見從動兩長國資料檔案錯誤設定測試返註釋數據類",
);
const HANGUL = new Set("이다는을의에가하고지를은로한도기사인자시정어리대서있그나해수일안니세요설파오류값함입력출");
const WESTERN = /[àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒ]/;
const CENTRAL = /[ąćčďęěľĺłńňőŕřśšťůűýźżžáéíóöúüçëôäâîĄĆČĎĘĚŁŃŇŐŘŚŠŤŮŰŹŻŽÁÉÍÓÖÚÜÇ]/;
const SIGN = /[“”„‘’‚–—…€©®™°§«»¿¡£·•§ªº\u00a0]/;

/** The encoding of bytes that are neither UTF-8 nor UTF-16: the one in which they read most like a text. It is a guess,
 * which whoever uses it has to name. Single bytes decode in many encodings; Western European is the last resort. */
export function guessEncoding(bytes: Uint8Array): Candidate {
  const { sample, isCut } = sampleOf(bytes);
  let [best, most]: [Candidate, number] = ["windows-1252", -Infinity];
  for (const name of CANDIDATES) {
    const text = new TextDecoder(name).decode(sample, { stream: isCut });
    const rare = name === "gbk" || name === "euc-kr" ? 2 * lettersInPairs(sample) : 0;
    const score = text.includes("\uFFFD") ? -Infinity : scoreOf(text, name) - rare;
    if (score > most) [best, most] = [name, score];
  }
  return best;
}

/** The lines with bytes above ASCII, as far as they are needed, from shortly before the first one in a line. A very long
 * line is cut, perhaps within a character. */
function sampleOf(bytes: Uint8Array): { readonly sample: Uint8Array; readonly isCut: boolean } {
  const sample = new ByteBuffer();
  for (let at = 0; at < bytes.length && sample.length < ENOUGH;) {
    const feed = bytes.indexOf(10, at);
    const end = feed < 0 ? bytes.length : feed + 1;
    const first = bytes.subarray(at, end).findIndex((byte) => byte > 127);
    const from = at + Math.max(0, first - 1);
    if (first >= 0) sample.push(bytes.subarray(from, Math.min(end, from + MOST_OF_LINE)));
    if (first >= 0 && end - from > MOST_OF_LINE) return { sample: sample.bytes, isCut: true };
    at = end;
  }
  return { sample: sample.bytes, isCut: false };
}

/** Pairs whose second byte is an ASCII letter: in these encodings, only rare characters have it. */
function lettersInPairs(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) {
    if ((bytes[at] ?? 0) < 128) continue;
    if ((bytes[++at] ?? 0) < 128) count++;
  }
  return count;
}

/** Sum over the characters above ASCII; one of two bytes counts for two. */
function scoreOf(text: string, name: Candidate): number {
  let score = 0;
  const chars = [...text];
  const isJapanese = name === "shift_jis" || name === "euc-jp";
  const share = isJapanese && !/[\u3040-\u30ff]/.test(text) ? 0.8 : 1;
  for (const [at, char] of chars.entries()) {
    if (char <= "\x7f") continue;
    const around = [chars[at - 1] ?? "", chars[at + 1] ?? ""] as const;
    score += name === "windows-1252" || name === "windows-1250"
      ? latin(char, around, name === "windows-1252" ? WESTERN : CENTRAL) - (name === "windows-1250" ? 0.1 : 0)
      : ["windows-1251", "koi8-r", "ibm866"].includes(name)
      ? cyrillic(char, around)
      : 2 * share * (isInLatinWord(around) ? -1 : eastern(char, name));
  }
  return score;
}

type Around = readonly [string, string];

function latin(char: string, around: Around, letters: RegExp): number {
  if (letters.test(char)) {
    // In a word of Latin script, most letters are ASCII.
    const isInWord = around.some((one) => /[A-Za-z]/.test(one));
    const isAlone = around.every((one) => one <= "\x7f");
    return isInWord && isAlone ? 1 : isInWord || isAlone ? 0.6 : -0.3;
  }
  if (SIGN.test(char)) return around.every((one) => one <= "\x7f") ? 0.95 : 0;
  return char < "\xa0" ? -3 : -1;
}

/** A character of an Eastern language stands beside others, or between blanks and signs. */
function isInLatinWord(around: Around): boolean {
  return around.some((one) => /[A-Za-z]/.test(one)) && around.every((one) => one <= "\x7f");
}

function cyrillic(char: string, [before, next]: Around): number {
  if (!/[а-яёА-ЯЁ]/.test(char)) return /[№«»–—“”…\u00a0]/.test(char) ? 0.3 : -1;
  if (/[A-Za-z]/.test(before)) return -1;
  if (![before, next].some((one) => /[а-яёА-ЯЁ]/.test(one))) return 0.3;
  const isCapital = char === char.toUpperCase();
  return isCapital && /[а-яё]/.test(before) ? -1 : isCapital ? 0.7 : 1;
}

function eastern(char: string, name: Candidate): number {
  if (/[\u3040-\u30ff]/.test(char)) return name === "shift_jis" || name === "euc-jp" ? 1.2 : -0.5;
  if (/[\uff61-\uff9f]/.test(char)) return -0.6;
  if (/[\uac00-\ud7a3]/.test(char)) return name !== "euc-kr" ? -1 : HANGUL.has(char) ? 1.3 : 0.85;
  if (/[\u3000-\u303f\uff01-\uff5e]/.test(char)) return 0.9;
  if (!/[\u4e00-\u9fff]/.test(char)) return /[\ue000-\uf8ff]/.test(char) ? -2 : -0.4;
  if (HAN.has(char)) return name === "gbk" || name === "big5" ? 1.5 : 1;
  return name === "euc-kr" ? -0.5 : 0.75;
}
