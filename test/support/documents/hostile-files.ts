/** Makes files that no parser may read: renamed, damaged, protected or made to do harm. */
import { randomBytes } from 'node:crypto';

import * as XLSX from '@e965/xlsx';

import type { IngestionFailureCode } from '../../../knowledge/ingestion-failure.ts';
import type { ParsedExtension } from '../../../knowledge/parsing/extension.ts';
import { encryptedPackage, encryptedXls, makeCfb } from './make-cfb.ts';
import { makeDocx, makeXlsx, sheetXml, wordNamespace, wordParagraph } from './make-office.ts';
import { makePdf, makePdfOf } from './make-pdf.ts';
import { makeZip } from './make-zip.ts';

const docx = makeDocx({ body: wordParagraph('Hello') });
const xlsx = makeXlsx({ sheet: { content: sheetXml('<row r="1"><c r="A1" t="str"><v>here</v></c></row>') } });
const book = XLSX.utils.book_new();
XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(Array.from({ length: 200 }, (_, at) => [`part ${at}`, at])), 'Parts');
const wholeXls = Buffer.from(XLSX.write(book, { type: 'buffer', bookType: 'xls' }) as Uint8Array);
const pdf = makePdf([[{ text: 'Hello', y: 700 }]]);
const withEntity = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><w:document ${wordNamespace}><w:body>${wordParagraph('&x;')}</w:body></w:document>`;
const encryptedPdf = makePdfOf(
  [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 0 /Kids [] >>',
    `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`,
  ],
  `/Encrypt 3 0 R /ID [<${'33'.repeat(16)}> <${'33'.repeat(16)}>]`,
);

export type HostileFile = readonly [what: string, extension: ParsedExtension, content: Buffer | string, code: IngestionFailureCode];

/** All of these are refused before they are read; files that take time stand in the integration suite. */
export const QUICK_HOSTILE_FILES: readonly HostileFile[] = [
  ['no bytes', 'pdf', '', 'empty_document'],
  ['no bytes', 'docx', '', 'empty_document'],
  ['no bytes', 'txt', '', 'empty_document'],
  ['white space', 'txt', ' \n\t\r\n\u00a0\u3000 ', 'empty_document'],
  ['white space', 'md', '\n\n   \n', 'empty_document'],
  [
    'cells without content',
    'xlsx',
    makeXlsx({ sheet: { content: sheetXml('<row r="1"><c r="A1" t="str"><v> </v></c></row>') } }),
    'empty_document',
  ],
  ['a text', 'pdf', 'hello', 'unsupported_content'],
  ['a PDF', 'docx', pdf, 'unsupported_content'],
  ['a PDF', 'txt', pdf, 'unsupported_content'],
  ['a PDF', 'md', pdf, 'unsupported_content'],
  ['a Word document', 'txt', docx, 'unsupported_content'],
  ['a Word document', 'xlsx', docx, 'unsupported_content'],
  ['a workbook', 'docx', xlsx, 'unsupported_content'],
  ['a new document', 'xls', docx, 'unsupported_content'],
  ['another archive', 'docx', makeZip([{ name: 'a.txt', content: 'hello' }]), 'unsupported_content'],
  ['lines of text', 'xls', 'one\ntwo\n', 'unsupported_content'],
  ['deep HTML', 'xls', '<table><tr><td>'.repeat(20_000), 'too_large'],
  ['an old Word document', 'xls', makeCfb({ WordDocument: Buffer.alloc(5000, 1) }), 'unsupported_content'],
  ['an old Word document', 'docx', makeCfb({ WordDocument: Buffer.alloc(5000, 1) }), 'unsupported_content'],
  ['noise', 'txt', randomBytes(20_000), 'unsupported_content'],
  ['NULs', 'md', Buffer.alloc(10_000), 'unsupported_content'],
  ['a password', 'pdf', encryptedPdf, 'password_protected'],
  ['a password', 'docx', encryptedPackage(), 'password_protected'],
  ['a password', 'xlsx', encryptedPackage(), 'password_protected'],
  ['a password', 'xls', encryptedXls(), 'password_protected'],
  ['an encrypted entry', 'docx', makeZip([{ name: 'word/document.xml', content: 'x', encrypted: true }]), 'password_protected'],
  ['a cut', 'docx', docx.subarray(0, docx.length - 100), 'corrupt_file'],
  ['a cut', 'xlsx', xlsx.subarray(0, xlsx.length / 2), 'corrupt_file'],
  ['a cut in the middle', 'xls', wholeXls.subarray(0, wholeXls.length / 2), 'corrupt_file'],
  ['a cut', 'xls', makeCfb({ Workbook: randomBytes(5000) }).subarray(0, 2000), 'corrupt_file'],
  ['a document type', 'docx', makeDocx({ main: { name: 'word/document.xml', content: withEntity } }), 'corrupt_file'],
  ['a path that leaves the archive', 'docx', makeZip([{ name: '../../etc/x.xml', content: '<a/>' }]), 'corrupt_file'],
  [
    'a size that lies',
    'docx',
    makeDocx({ main: { name: 'word/document.xml', content: `<w:document ${wordNamespace}/>`, declared: 7 } }),
    'corrupt_file',
  ],
  ['20,000 entries', 'xlsx', makeZip(Array.from({ length: 20_000 }, (_, at) => ({ name: `a${at}` }))), 'too_large'],
  ['3 GB declared', 'docx', makeZip([{ name: 'a.bin', content: 'x', declared: 3e9 }]), 'too_large'],
  [
    '20,000 nested tables',
    'docx',
    makeDocx({ body: `${'<w:tbl><w:tr><w:tc>'.repeat(20_000)}x${'</w:tc></w:tr></w:tbl>'.repeat(20_000)}` }),
    'too_large',
  ],
  [
    '30 nested tables',
    'docx',
    makeDocx({ body: `${'<w:tbl><w:tr><w:tc>'.repeat(30)}x${'</w:tc></w:tr></w:tbl>'.repeat(30)}` }),
    'too_large',
  ],
  ['20,000 nested quotes', 'md', `${'>'.repeat(20_000)} x`, 'too_large'],
];
