/** @returns the text, or its first `length` characters and the mark. A character that would be cut in half becomes U+FFFD. */
export function cutText(text: string, length: number, mark = '…'): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}${mark}`;
}
