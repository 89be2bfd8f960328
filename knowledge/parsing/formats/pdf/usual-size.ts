/** The font height that most characters have: the body's. 0 when there are none. */
export function usualSize(texts: readonly { readonly size: number; readonly text: string }[]): number {
  const characters = new Map<number, number>();
  for (const { size, text } of texts) characters.set(roundedSize(size), (characters.get(roundedSize(size)) ?? 0) + text.length);
  return [...characters].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

/** To half a point: programs scale fonts a little. */
export function roundedSize(size: number): number {
  return Math.round(size * 2) / 2;
}
