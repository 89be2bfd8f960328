/** Reads the names of files in an archive. Pure. */
import { getFileNameLowLevel, type Entry as ZipEntry } from 'yauzl';

const UTF8_FLAG = 0x800;
/** Extra field with the name in UTF-8. @see APPNOTE.TXT 4.6.9 */
const UNICODE_NAME = 0x7075;
/** Encodings to try. Japanese comes first: in it, Chinese words are half-width letters, which make no words. */
const EAST_ASIAN = ['shift_jis', 'gb18030'] as const;

/** Reads a name as UTF-8, which many programs forget to declare, else in the format's encoding. Folders are separated by `/`. */
export function archiveName({
  fileNameRaw,
  generalPurposeBitFlag: flags,
  extraFields,
}: Pick<ZipEntry, 'fileNameRaw' | 'generalPurposeBitFlag' | 'extraFields'>): string {
  if ((flags & UTF8_FLAG) === 0) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fileNameRaw).replaceAll('\\', '/');
    } catch {
      // The name is in an old encoding.
    }
  }
  const name = getFileNameLowLevel(flags, fileNameRaw, extraFields, false);
  return (flags & UTF8_FLAG) === 0 && !extraFields.some(({ id }) => id === UNICODE_NAME) ? (eastAsianName(fileNameRaw) ?? name) : name;
}

/**
 * Reads a name in the code page of Windows in Japan or China, which its zip program uses. In the format's default, code page 437, such
 * words are box-drawing and mathematical signs; words of European languages make no words in these code pages.
 */
function eastAsianName(raw: Buffer): string | undefined {
  const names = EAST_ASIAN.flatMap((encoding) => {
    try {
      return [new TextDecoder(encoding, { fatal: true }).decode(raw)];
    } catch {
      return [];
    }
  });
  return names.find((name) => /[\u3041-\u30ff]|\p{Script=Han}{2}/u.test(name))?.replaceAll('\\', '/');
}

/** Returns whether an entry is a folder, an addition of macOS, or Office's lock file beside an open document. */
export function isNoFile(name: string): boolean {
  return name.endsWith('/') || name.startsWith('__MACOSX/') || baseName(name).startsWith('~$');
}

export function pathFault(name: string): string | undefined {
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name))
    return 'the name of the file is an absolute path: put it into the archive by a relative one';
  if (name.split('/').includes('..')) return 'the name of the file climbs out of the archive (..): put it in by a path without that';
  return undefined;
}

export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
