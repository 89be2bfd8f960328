/** Names of what is in an archive. Pure. */
import { getFileNameLowLevel, type Entry as ZipEntry } from 'yauzl';

const UTF8_FLAG = 0x800;

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
  return getFileNameLowLevel(flags, fileNameRaw, extraFields, false);
}

/** A folder, or what macOS adds of its own. */
export function isNoFile(name: string): boolean {
  return name.endsWith('/') || name.startsWith('__MACOSX/');
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
