/** Judges names of uploaded files, which people and models see, and which are never used as a path. Pure. */
import { fileExtensions } from './schema.ts';

/** Longest name that file systems hold, in characters. */
const LONGEST = 255;

const tooLong = `the name of the file has more than ${LONGEST} characters`;

export type FileExtension = (typeof fileExtensions)[number];

export type JudgedName =
  | { readonly verdict: 'sound'; readonly name: string; readonly extension: FileExtension }
  /** The file is of a type that isn't read. */
  | { readonly verdict: 'unsupported' }
  /** Browsers send an empty name where no file was chosen. */
  | { readonly verdict: 'missing' }
  | { readonly verdict: 'unusable'; readonly reason: string };

/** @param sent the name in the form */
export function judgeFileName(sent: string): JudgedName {
  // A name from a body may have megabytes; composing characters makes it shorter, by a few times at most.
  if (sent.length > 10 * LONGEST) return { verdict: 'unusable', reason: tooLong };
  const name = sent.normalize('NFC').trim();
  if (name === '') return { verdict: 'missing' };
  const reason = nameFault(name);
  if (reason !== undefined) return { verdict: 'unusable', reason };
  const found = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  const extension = fileExtensions.find((each) => each === found);
  return extension === undefined ? { verdict: 'unsupported' } : { verdict: 'sound', name, extension };
}

function nameFault(name: string): string | undefined {
  if (/[/\\]/.test(name)) return 'the name of the file holds a path: send the name alone';
  if (/\p{Cc}/u.test(name)) return 'the name of the file holds control characters';
  // The form's parser turns bytes that are no UTF-8 into U+FFFD.
  if (!name.isWellFormed() || name.includes('\ufffd')) return 'the name of the file is not UTF-8';
  // Such a name can show another extension than it has. Marks and joiners, which Arabic, Hebrew and Bangla need, are fine.
  if (/[\u202a-\u202e\u2066-\u2069]/.test(name)) return 'the name of the file holds characters that turn the direction of text around';
  if (Array.from(name).length > LONGEST) return tooLong;
  return undefined;
}
