/** The packets of an Ogg file, as far as it goes: what was torn off in the middle of a page ends before it. */
import { pageLength, parsePage, type OggPage } from './page.ts';

export interface OggPacket {
  readonly serial: number;
  readonly bytes: Uint8Array;
}

/** What comes behind a damaged or unfinished page is left out. */
export async function* readPackets(source: AsyncIterable<Uint8Array>): AsyncGenerator<OggPacket> {
  let begun: Uint8Array[] = [];
  for await (const page of readPages(source)) {
    if (!page.continued) begun = [];
    let at = 0;
    let from = 0;
    for (const size of page.lacing) {
      at += size;
      if (size === 255) continue;
      yield { serial: page.serial, bytes: Buffer.concat([...begun, page.body.subarray(from, at)]) };
      begun = [];
      from = at;
    }
    if (at > from) begun.push(page.body.subarray(from, at));
  }
}

async function* readPages(source: AsyncIterable<Uint8Array>): AsyncGenerator<OggPage> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (;;) {
      const page = nextPage(rest);
      if (page === 'damaged') return;
      if (page === undefined) break;
      yield page.page;
      rest = rest.subarray(page.length);
    }
  }
}

function nextPage(bytes: Buffer): { readonly page: OggPage; readonly length: number } | 'damaged' | undefined {
  try {
    const length = pageLength(bytes);
    if (length === undefined || bytes.length < length) return undefined;
    return { page: parsePage(bytes.subarray(0, length)), length };
  } catch (error) {
    if (error instanceof RangeError) return 'damaged';
    throw error;
  }
}
