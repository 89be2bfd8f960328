import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';

import { IngestionError } from '../../ingestion-failure.ts';
import { ARCHIVE_LIMITS } from '../limits.ts';
import { nestedTooDeep, scanXml, type XmlCounts } from './scan-xml.ts';
import { storedZip } from './stored-zip.ts';

/** A checked Office file of the new kind: only its XML parts are kept, so nothing else in it can do any harm. */
export interface Archive {
  readonly parts: ReadonlyMap<string, Buffer>;
  readonly counts: ReadonlyMap<string, XmlCounts>;
  /** Returns the kept parts as an archive without compression, for the libraries: the bytes that they inflate have been counted. */
  repacked(): Buffer;
}

/**
 * Reads the directory, then inflates every entry and counts: the sizes in the directory may lie. Text is kept only of XML parts.
 * @throws IngestionError `too_large`, `password_protected` or `corrupt_file`
 */
export async function openArchive(content: Buffer): Promise<Archive> {
  const zip = await fromBufferPromise(content, { validateEntrySizes: false });
  const entries = await readDirectory(zip);
  const parts = new Map<string, Buffer>();
  const counts = new Map<string, XmlCounts>();
  let inflated = 0;
  for (const entry of entries) {
    const isPart = /\.(?:xml|rels)$/iu.test(entry.fileName);
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      bytes += piece.length;
      inflated += piece.length;
      refuseBomb(inflated, content.length);
      if (isPart) pieces.push(piece);
    }
    if (bytes !== entry.uncompressedSize)
      throw new IngestionError(
        'corrupt_file',
        'The directory inside the file lies about its contents. Save the document again where it was made.',
      );
    if (!isPart || parts.has(entry.fileName)) continue;
    const part = Buffer.concat(pieces);
    counts.set(entry.fileName, scanXml(part));
    parts.set(entry.fileName, part);
  }
  return { parts, counts, repacked: () => storedZip(parts) };
}

async function readDirectory(zip: ZipFile): Promise<readonly Entry[]> {
  if (zip.entryCount > ARCHIVE_LIMITS.entries)
    throw new IngestionError(
      'too_large',
      `The file has ${zip.entryCount} parts inside; the limit is ${ARCHIVE_LIMITS.entries}. Remove pictures and other attachments.`,
    );
  const entries: Entry[] = [];
  let declared = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.isEncrypted())
      throw new IngestionError('password_protected', 'The file is protected with a password. Remove the password, and upload it again.');
    declared += entry.uncompressedSize;
    refuseBomb(declared, zip.fileSize);
    if (!entry.fileName.endsWith('/')) entries.push(entry);
  }
  return entries;
}

function refuseBomb(inflated: number, packed: number): void {
  const tooMuch = inflated > ARCHIVE_LIMITS.inflatedBytes;
  const tooDense = inflated > ARCHIVE_LIMITS.ratioFloorBytes && inflated > packed * ARCHIVE_LIMITS.ratio;
  if (tooMuch || tooDense)
    throw new IngestionError(
      'too_large',
      `Unpacked, the file is ${tooMuch ? `larger than ${ARCHIVE_LIMITS.inflatedBytes / 1e6} MB` : `more than ${ARCHIVE_LIMITS.ratio} times its size`}. Split it into several files.`,
    );
}

/** @throws IngestionError `too_large` when any of the parts that will be read is nested more deeply than documents are */
export function checkNesting(archive: Archive): void {
  for (const counts of archive.counts.values()) nestedTooDeep(counts.depth);
}
