/** Whether a text has anything that can be said; "…", "---" and smileys have nothing. */
export const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
