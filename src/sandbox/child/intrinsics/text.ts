/** Methods of strings as they are when this module loads. It imports nothing: the compiler loads it too, in a context
 * that has only the language. */
const { call } = Function.prototype;
const { indexOf, repeat, slice } = String.prototype;

export const text = {
  indexOf: call.bind(indexOf) as (self: string, part: string) => number,
  repeat: call.bind(repeat) as (self: string, count: number) => string,
  slice: call.bind(slice) as (self: string, from: number, to?: number) => string,
} as const;
