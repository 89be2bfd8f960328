/** @returns the whole body, or undefined once it has more than `limit` bytes: the rest is not read */
export async function readBytes(body: AsyncIterable<Uint8Array> | readonly Uint8Array[], limit: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
