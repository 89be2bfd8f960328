/** Formats bytes as "12.3 MB", of 10^6 bytes each. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
