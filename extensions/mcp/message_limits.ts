/** Of one message of a server: a result of a call has room for so many values. */
export const MESSAGE_LIMITS = { values: 400_000, depth: 500 };
