/** @returns the text, or its first `length` characters and the mark. A character that would be cut in half becomes U+FFFD. */
export function cutText(text: string, length: number, mark = '…'): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}${mark}`;
}

/** @returns the text, or as much of it as has room in `limit` characters with an ellipsis */
export function fitText(text: string, limit: number): string {
  return text.length <= limit ? text : cutText(text, limit - 1);
}
