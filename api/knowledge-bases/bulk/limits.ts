/** Most entries of one request. */
export const MAX_ENTRIES = 10_000;

export const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** Longest line, in bytes: it is whole in memory. Larger files come in an archive, or by themselves. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Most values in a line: an entry has its own fields, and those of its metadata. */
export const MAX_LINE_VALUES = 1_000;

/** Unreadable lines in a row after which the others aren't tried: such a body is no list of files. */
export const MAX_UNREADABLE_IN_A_ROW = 100;

/** Most bulk uploads of an organisation that run in one api process. `parley kb add` has four at a time. */
export const UPLOADS_AT_ONCE = 8;

/** Most bytes of all entries of an archive together, unpacked. */
export const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;

/** Largest entry of an archive that is unpacked in memory, in bytes. */
export const SMALL_ENTRY_BYTES = 1024 * 1024;

export const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;

/** Entries that count as one request against the rate limits. */
export const ENTRIES_PER_REQUEST = 25;

/** Bytes of the body that count as one request: to read and store as many takes as long. */
export const BYTES_PER_REQUEST = 128 * 1024;
