import { IngestionError } from '../../../ingestion-failure.ts';
import { type Archive, checkNesting, openArchive } from '../../archive/archive.ts';
import { nestedTooDeep } from '../../archive/scan-xml.ts';
import { docxLimits } from '../../limits.ts';
import { oneLine } from '../../text/clean.ts';
import { LEGACY_FONT_NAME, LEGACY_FONT_WARNING } from '../../text/legacy-bangla.ts';
import { Outline } from '../../text/outline.ts';
import { TableBuilder } from '../table-builder.ts';
import { type BodyContext, type BodyItem, readBody, readNotes } from './body.ts';
import { Numbering } from './numbering.ts';
import { clauseLevels, isClauseTitle, labelled } from './paragraph.ts';
import { Styles } from './styles.ts';
import { walkXml } from './xml.ts';
import type { Parser, Sink } from '../../block.ts';

const MAIN = 'word/document.xml';
/** Level of clauses' titles: below all headings that have a style. */
const CLAUSE_LEVEL = 10;

/** Marks of the page's colour, and of pictures behind the text: letterheads, banners. */
const BACKDROPS = ['<w:background ', 'behindDoc="1"', 'behindDoc="true"'];

/**
 * Reads Word documents: body, tables, lists and text boxes in their order, then notes, then the text of headers and footers, each text
 * once.
 */
export const parseDocx: Parser = async (input, sink) => {
  const archive = await openArchive(input.content);
  const body = archive.parts.get(MAIN) ?? mainPart(archive);
  checkBudget(archive);
  if (LEGACY_FONT_NAME.test(fontsUsed(body))) sink.warn(LEGACY_FONT_WARNING);
  if (linksElsewhere(archive)) sink.warn('pictures or parts that lie outside the file are linked, and were not read');
  const notes = new Map<string, number>();
  const context: BodyContext = {
    styles: new Styles(archive.parts.get('word/styles.xml')),
    numbering: new Numbering(archive.parts.get('word/numbering.xml')),
    sink,
    hasBackdrop: [...archive.parts.values()].some((part) => BACKDROPS.some((sign) => part.includes(sign))),
    noteNumber: (kind, id) => {
      const key = `${kind} ${id}`;
      const number = notes.get(key) ?? notes.size + 1;
      notes.set(key, number);
      return number;
    },
  };
  const firstHeading = addItems(readBody(body, context), sink);
  addNotes(archive, notes, context, sink);
  for (const text of runningTexts(archive, context)) sink.add({ kind: 'paragraph', text, headingPath: [] });
  const title = coreTitle(archive.parts.get('docProps/core.xml')) || firstHeading;
  return title === undefined ? {} : { title };
};

/** @returns the text of the first heading that has a style */
function addItems(items: readonly BodyItem[], sink: Sink): string | undefined {
  const shown = items.filter((item) => item instanceof TableBuilder || item.text.trim() !== '');
  const paragraphs = shown.map((item) => (item instanceof TableBuilder ? undefined : item));
  const levels = clauseLevels(paragraphs);
  const outline = new Outline();
  let firstHeading: string | undefined;
  for (const [at, item] of shown.entries()) {
    if (item instanceof TableBuilder) {
      for (const block of item.blocks(outline.path)) sink.add(block);
      continue;
    }
    const text = labelled(item);
    const level =
      item.headingLevel ?? (isClauseTitle(item, paragraphs[at + 1], levels) ? CLAUSE_LEVEL + (item.item?.level ?? 0) : undefined);
    if (level === undefined) sink.add({ kind: item.item === undefined ? 'paragraph' : 'listItem', text, headingPath: outline.path });
    else sink.add({ kind: 'heading', text: oneLine(text), headingPath: outline.enter(level, oneLine(text)) });
    if (item.headingLevel !== undefined) firstHeading ??= oneLine(text);
  }
  return firstHeading;
}

/** Adds the notes that the text mentions, each with the number of its mark. */
function addNotes(archive: Archive, numbers: ReadonlyMap<string, number>, context: BodyContext, sink: Sink): void {
  const notes = {
    footnote: readNotes(archive.parts.get('word/footnotes.xml'), 'footnote', context),
    endnote: readNotes(archive.parts.get('word/endnotes.xml'), 'endnote', context),
  };
  for (const [key, number] of numbers) {
    const [kind = '', id = ''] = key.split(' ');
    const items = notes[kind as keyof typeof notes].get(id) ?? [];
    const text = items.map((item) => (item instanceof TableBuilder ? '' : labelled(item).trim())).join('\n');
    if (text.trim() !== '') sink.add({ kind: 'paragraph', text: `[${number}] ${text}`, headingPath: [] });
  }
}

/** Finds the main part by its relationship, because some programs give it another name. */
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

/** Reads headers and footers once, because sections repeat them; page numbers in them are fields. */
function runningTexts(archive: Archive, context: BodyContext): ReadonlySet<string> {
  const parts = [...archive.parts].filter(([name]) => /^word\/(?:header|footer)\d*\.xml$/u.test(name)).map(([, part]) => part);
  return new Set(parts.flatMap((part) => readBody(part, context).flatMap(itemLines)).filter((text) => /\p{L}{2}/u.test(text)));
}

function itemLines(item: BodyItem): readonly string[] {
  if (!(item instanceof TableBuilder)) return [oneLine(item.text)];
  return [...item.blocks([])].flatMap((block) =>
    block.kind === 'table' ? [block.header, ...block.rows].map((row) => oneLine(row.join(' '))) : [block.text],
  );
}

function coreTitle(part: Buffer | undefined): string {
  let text = '';
  let isTitle = false;
  walkXml(part, {
    open: (name) => (isTitle = name === 'title'),
    text: (piece) => (text += isTitle ? piece : ''),
    close: () => (isTitle = false),
  });
  return oneLine(text);
}
