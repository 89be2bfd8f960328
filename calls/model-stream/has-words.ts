/** Whether there is anything in it that can be said: not in "…", "---" or a smiley. */
export const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);
