/** What a child reports of a block that came to 1, as it is sent. */
export const PLAIN_REPORT = {
  saved: [],
  outcome: "value",
  preview: "1",
  type: "number",
  size: null,
  dropped: 0,
  ms: 1,
  defined: [],
  touched: [],
  pending: [],
  lost: [],
  repaired: null,
  reads: [],
  literal: false,
  notes: [],
  value: null,
};
