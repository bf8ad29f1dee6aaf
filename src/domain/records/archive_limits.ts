/** Largest file of an exported conversation in bytes, both ways: one text of it must fit into memory. */
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
