import { IngestionError } from '../ingestion-failure.ts';
import type { ParsedExtension } from './extension.ts';

interface Signature {
  readonly what: string;
  readonly bytes: string;
  /** Place of the bytes; 0 by default. */
  readonly at?: number;
}

const ZIP = 'a zip archive or an Office file of the new kind';
const CFB = 'an Office file of the old kind';

const HTML = 'an HTML page';
const TEXT = 'a text file';
const XML = 'an XML file';
/** Namespace of Excel 2002 and 2003, which many programs still export. */
const XML_SPREADSHEET = 'urn:schemas-microsoft-com:office:spreadsheet';
/** Comma, semicolon and tab. */
const SEPARATORS = new Set([0x2c, 0x3b, 0x09]);

/** Kinds of files by their first bytes (hexadecimal), to name the real kind of a renamed file. */
const SIGNATURES: readonly Signature[] = [
  { what: 'a PDF', bytes: '255044462d' },
  { what: ZIP, bytes: '504b0304' },
  { what: ZIP, bytes: '504b0506' },
  { what: CFB, bytes: 'd0cf11e0a1b11ae1' },
  { what: 'an RTF document', bytes: '7b5c727466' },
  { what: 'a PNG picture', bytes: '89504e470d0a1a0a' },
  { what: 'a JPEG picture', bytes: 'ffd8ff' },
  { what: 'a GIF picture', bytes: '47494638' },
  { what: 'a TIFF picture', bytes: '49492a00' },
  { what: 'a TIFF picture', bytes: '4d4d002a' },
  { what: 'a gzip archive', bytes: '1f8b08' },
  { what: 'a bzip2 archive', bytes: '425a68' },
  { what: 'an xz archive', bytes: 'fd377a585a00' },
  { what: 'a Zstandard archive', bytes: '28b52ffd' },
  { what: 'a 7z archive', bytes: '377abcaf271c' },
  { what: 'a RAR archive', bytes: '526172211a07' },
  { what: 'a tar archive', bytes: '7573746172', at: 257 },
  { what: 'a program', bytes: '7f454c46' },
  { what: 'a program', bytes: '4d5a9000' },
  { what: 'a SQLite database', bytes: '53514c69746520666f726d61742033' },
  { what: 'an MP4 film', bytes: '66747970', at: 4 },
  { what: 'a sound file', bytes: '494433' },
  { what: 'a sound or film file', bytes: '52494646' },
  { what: 'an Ogg file', bytes: '4f676753' },
];

/** The kind of file that each extension promises. The kinds of text are recognised by their decoding instead. */
const expected: Readonly<Partial<Record<ParsedExtension, string>>> = { pdf: 'a PDF', docx: ZIP, xlsx: ZIP, xls: CFB };

/** Bytes in which a PDF's header has to begin: some may come before it. @see ISO 32000-2, annex "implementation notes" of readers */
const PDF_HEADER_WITHIN = 1024;

/**
 * Compares the first bytes with the extension's kind. A zip archive proves no more here than that it is one.
 * @throws IngestionError `empty_document`, `password_protected` or `unsupported_content`
 */
export function checkSignature(content: Buffer, extension: ParsedExtension): void {
  if (content.length === 0) throw new IngestionError('empty_document', 'The file is empty: it has no bytes at all.');
  const found = signatureOf(content);
  const want = expected[extension];
  if (want === undefined ? found === undefined : found === want) {
    if (found === CFB) refuseEncryptedPackage(content);
    return;
  }
  if (extension === 'xls' && exportKind(content) !== undefined) return;
  if (extension === 'pdf' && content.subarray(0, PDF_HEADER_WITHIN).includes('%PDF-')) return;
  if (found === CFB) refuseEncryptedPackage(content);
  const really = found ?? looksLike(content);
  throw new IngestionError(
    'unsupported_content',
    `The file is named .${extension} but is ${really ?? 'something else'}. Save it as .${extension}, or give it the extension that fits what it is.`,
  );
}

function signatureOf(content: Buffer): string | undefined {
  return SIGNATURES.find(({ bytes, at = 0 }) => content.subarray(at, at + bytes.length / 2).equals(Buffer.from(bytes, 'hex')))?.what;
}

/**
 * Returns the kind of a file named .xls that spreadsheet programs open, though it is no workbook of the old kind; undefined for anything
 * else.
 */
export function exportKind(content: Buffer): 'package' | 'html' | 'xml' | 'text' | undefined {
  const found = signatureOf(content);
  if (found !== undefined) return found === ZIP ? 'package' : undefined;
  const really = looksLike(content);
  if (really === XML && content.subarray(0, 4096).includes(XML_SPREADSHEET)) return 'xml';
  return really === HTML ? 'html' : really === TEXT && content.subarray(0, 4096).some((byte) => SEPARATORS.has(byte)) ? 'text' : undefined;
}

/** Refuses an encrypted docx or xlsx: a container of the old kind with a stream of this name. @see MS-OFFCRYPTO 2.3.4.4 */
function refuseEncryptedPackage(content: Buffer): void {
  if (content.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    throw new IngestionError('password_protected', 'The file is protected with a password. Remove the password, and upload it again.');
}

/** Recognises files that spreadsheet programs accept under the name .xls, and so do people. */
function looksLike(content: Buffer): string | undefined {
  const start = content
    .toString('latin1', 0, 512)
    .replace(/^\u00ef\u00bb\u00bf/u, '')
    .trimStart()
    .toLowerCase();
  if (/^<(!doctype html|html|head|body|table|meta|div)/u.test(start)) return HTML;
  if (start.startsWith('<?xml')) return XML;
  const isUtf16 = content[0] === 0xff ? content[1] === 0xfe : content[0] === 0xfe && content[1] === 0xff;
  return isUtf16 || isPlain(content.subarray(0, 4096)) ? TEXT : undefined;
}

function isPlain(bytes: Buffer): boolean {
  return bytes.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}
