/** Names of what is in an archive. Pure. */
import { getFileNameLowLevel, type Entry as ZipEntry } from 'yauzl';

const UTF8_FLAG = 0x800;
/** Extra field with the name in UTF-8. @see APPNOTE.TXT 4.6.9 */
const UNICODE_NAME = 0x7075;
/** Japanese first: Chinese words are half-width letters in it, and no words. */
const EAST_ASIAN = ['shift_jis', 'gb18030'] as const;

/** UTF-8 also where the archive forgets to say so, as many programs do; else what the format falls back to. Folders are separated by `/`. */
export function archiveName({
  fileNameRaw,
  generalPurposeBitFlag: flags,
  extraFields,
}: Pick<ZipEntry, 'fileNameRaw' | 'generalPurposeBitFlag' | 'extraFields'>): string {
  if ((flags & UTF8_FLAG) === 0) {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fileNameRaw).replaceAll('\\', '/');
    } catch {
      // An old encoding.
    }
  }
  const name = getFileNameLowLevel(flags, fileNameRaw, extraFields, false);
  return (flags & UTF8_FLAG) === 0 && !extraFields.some(({ id }) => id === UNICODE_NAME) ? (eastAsianName(fileNameRaw) ?? name) : name;
}

/**
 * Windows in Japan and China writes its own code page. In 437, which the format falls back to, such words are signs of frames and
 * mathematics; words of European languages are none in these.
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

/** A folder, what macOS adds of its own, or what Office keeps beside a document that is open. */
export function isNoFile(name: string): boolean {
  return name.endsWith('/') || name.startsWith('__MACOSX/') || baseName(name).startsWith('~$');
}

/** What is wrong with a name as a path; undefined for nothing. */
export function pathFault(name: string): string | undefined {
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name))
    return 'the name of the file is an absolute path: put it into the archive by a relative one';
  if (name.split('/').includes('..')) return 'the name of the file climbs out of the archive (..): put it in by a path without that';
  return undefined;
}

/** Without its folders. */
export function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
