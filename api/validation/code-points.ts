/** Counts characters as Python does. It makes no list of them: a body has a million. */
export function countCodePoints(text: string, end: number = text.length): number {
  let pairs = 0;
  for (let at = 1; at < end; at += 1) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
    if (isPair) pairs += 1;
  }
  return end - pairs;
}
