import mammoth from 'mammoth';
import { Parser as XmlParser } from 'htmlparser2';

import { IngestionError } from '../../ingestion-failure.ts';
import { type Archive, checkNesting, openArchive } from '../archive/archive.ts';
import { nestedTooDeep } from '../archive/scan-xml.ts';
import { storedZip } from '../archive/stored-zip.ts';
import { docxLimits } from '../limits.ts';
import { oneLine } from '../text/clean.ts';
import { LEGACY_FONT_NAME, LEGACY_FONT_WARNING } from '../text/legacy-bangla.ts';
import { addHtmlBlocks } from './html-blocks.ts';
import type { Parser } from '../block.ts';

const MAIN = 'word/document.xml';

/** Footnotes lead back to where they belong. */
const BACK_LINK = /<a href="#(?:foot|end)note-ref-[^"]*">↑<\/a>/gu;

/** Elements with text of the line that mammoth drops. */
const IN_LINE = /(?<=<\/?w:)(?:fldSimple|bdo|dir|ruby|rubyBase)(?=[\s/>])/gu;
/** Of ruby: what stands above the line. */
const ABOVE_LINE = /(?<=<\/?w:)(?:rt|rubyPr)(?=[\s/>])/gu;

/** What holds text among the elements that mammoth reports as ignored; most others belong to the layout. */
const LEFT_OUT = [
  { element: /\}oMath(?:Para)?$/u, warning: 'equations are not read, and were left out' },
  { element: /w:altChunk$/u, warning: 'embedded documents were left out: open the document in Word and save it' },
];

/** Word documents: body, tables, lists, footnotes and text boxes in their order, then what headers and footers say, each text once. */
export const parseDocx: Parser = async (input, sink) => {
  const archive = await openArchive(input.content);
  const body = archive.parts.get(MAIN) ?? mainPart(archive);
  checkBudget(archive);
  if (LEGACY_FONT_NAME.test(fontsUsed(body))) sink.warn(LEGACY_FONT_WARNING);
  if (linksElsewhere(archive)) sink.warn('pictures or parts that lie outside the file are linked, and were not read');
  const { value: html, messages } = await mammoth.convertToHtml(
    { buffer: storedZip(readableParts(archive)) },
    {
      // Pictures are not text, and linked ones are not ours to open.
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
      externalFileAccess: false,
      styleMap: ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh", "r[style-name='Strong'] => strong"],
    },
  );
  for (const { element, warning } of LEFT_OUT) if (messages.some(({ message }) => element.test(message))) sink.warn(warning);
  const { firstHeading } = addHtmlBlocks({ html: html.replace(BACK_LINK, ''), sink });
  for (const text of runningTexts(archive)) sink.add({ kind: 'paragraph', text, headingPath: [] });
  const title = oneLine(elementText(archive.parts.get('docProps/core.xml'), 'title')) || firstHeading;
  return title === undefined ? {} : { title };
};

/** Some programs call the main part otherwise; its relationship says how. */
function mainPart(archive: Archive): Buffer {
  const relations = archive.parts.get('_rels/.rels')?.toString() ?? '';
  const tag = (relations.match(/<Relationship\b[^<>]*>/gu) ?? []).find((relation) => /Type="[^"]*\/officeDocument"/u.test(relation));
  const target = /Target="\/?([^"]*)"/u.exec(tag ?? '')?.[1];
  const part = target === undefined ? undefined : archive.parts.get(target);
  if (part !== undefined && target?.startsWith('word/') === true) return part;
  const really = archive.parts.has('xl/workbook.xml')
    ? 'an Excel workbook'
    : archive.parts.has('ppt/presentation.xml')
      ? 'a PowerPoint presentation'
      : 'another kind of archive';
  throw new IngestionError(
    'unsupported_content',
    `The file is named .docx but is ${really}. Save it as .docx, or give it the extension that fits what it is.`,
  );
}

/** The parts as mammoth can read them: it reads through smart tags, and skips what is deleted. */
function readableParts(archive: Archive): ReadonlyMap<string, Buffer> {
  const readable = (part: Buffer): Buffer => {
    const xml = part.toString('latin1');
    const renamed = xml.replace(ABOVE_LINE, 'del').replace(IN_LINE, 'smartTag');
    return renamed === xml ? part : Buffer.from(renamed, 'latin1');
  };
  return new Map([...archive.parts].map(([name, part]) => [name, name.startsWith('word/') ? readable(part) : part]));
}

function checkBudget(archive: Archive): void {
  checkNesting(archive);
  let paragraphs = 0;
  let cells = 0;
  for (const counts of archive.counts.values()) {
    nestedTooDeep(counts.tableDepth, docxLimits.nestedTables, 'tables');
    paragraphs += counts.p;
    cells += counts.tc;
  }
  if (paragraphs > docxLimits.paragraphs || cells > docxLimits.cells)
    throw new IngestionError(
      'too_large',
      `The document has ${paragraphs} paragraphs and ${cells} table cells; the limits are ${docxLimits.paragraphs} and ${docxLimits.cells}. Split it into several files.`,
    );
}

function fontsUsed(body: Buffer): string {
  return (body.toString('latin1').match(/w:(?:ascii|hAnsi|cs)="[^"]{1,60}"/gu) ?? []).slice(0, 100_000).join(' ');
}

function linksElsewhere(archive: Archive): boolean {
  const relations = [...archive.parts]
    .filter(([name]) => name.endsWith('.rels'))
    .flatMap(([, part]) => part.toString().match(/<Relationship\b[^<>]*>/gu) ?? []);
  return relations.some((relation) => /TargetMode="External"/u.test(relation) && !/Type="[^"]*\/hyperlink"/u.test(relation));
}

/** Sections repeat the same headers and footers; page numbers in them are fields. */
function runningTexts(archive: Archive): ReadonlySet<string> {
  const parts = [...archive.parts].filter(([name]) => /^word\/(?:header|footer)\d*\.xml$/u.test(name)).map(([, part]) => part);
  return new Set(parts.flatMap((part) => paragraphTexts(part).map(oneLine)).filter((text) => /\p{L}{2}/u.test(text)));
}

/** The text of each paragraph of a WordprocessingML part. */
function paragraphTexts(part: Buffer): readonly string[] {
  const paragraphs: string[] = [];
  let text = '';
  let inText = false;
  const parser = new XmlParser(
    {
      onopentagname: (name) => {
        if (local(name) === 'tab' || local(name) === 'br') text += ' ';
        inText = local(name) === 't';
      },
      ontext: (piece) => (text += inText ? piece : ''),
      onclosetag: (name) => {
        inText = false;
        if (local(name) !== 'p') return;
        paragraphs.push(text);
        text = '';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(part.toString());
  return paragraphs;
}

/** The text of the first element with this local name, or nothing. */
function elementText(part: Buffer | undefined, name: string): string {
  let text = '';
  let state: 'before' | 'inside' | 'after' = 'before';
  const parser = new XmlParser(
    {
      onopentagname: (tag) => {
        if (state === 'before' && local(tag) === name) state = 'inside';
      },
      ontext: (piece) => (text += state === 'inside' ? piece : ''),
      onclosetag: (tag) => {
        if (state === 'inside' && local(tag) === name) state = 'after';
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(part?.toString() ?? '');
  return text;
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
