/** Reads the classic test collections of information retrieval, in the formats in which they have been handed on since the 1960s. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Judgements } from './ranking-quality.ts';

export interface TestCollection {
  readonly name: string;
  readonly passages: readonly { readonly id: string; readonly text: string }[];
  readonly queries: readonly Query[];
  /** BCP 47 tag. */
  readonly language: string;
}

export interface Query {
  readonly id: string;
  readonly text: string;
  readonly relevant: Judgements;
  /** Texts that answer it, each by itself, where the collection says. */
  readonly answers?: readonly string[];
}

interface Layout {
  readonly name: string;
  readonly documents: string;
  readonly queries: string;
  readonly judgements: string;
  /** Fields (`.T`, `.W`) that are searched. */
  readonly fields: readonly string[];
  /** True for Cranfield: its judgements count the queries from 1, whatever number the file gives them. */
  readonly queriesByPosition: boolean;
}

export const layouts: readonly Layout[] = [
  {
    name: 'Cranfield',
    documents: 'cran.all.1400',
    queries: 'cran.qry',
    judgements: 'cranqrel',
    fields: ['.T', '.W'],
    queriesByPosition: true,
  },
  { name: 'CISI', documents: 'CISI.ALL', queries: 'CISI.QRY', judgements: 'CISI.REL', fields: ['.T', '.W'], queriesByPosition: false },
  { name: 'CACM', documents: 'cacm.all', queries: 'query.text', judgements: 'qrels.text', fields: ['.T', '.W'], queriesByPosition: false },
];

/** @returns undefined when the folder, or the collection's own folder in it, lacks one of the three files */
export async function readCollection(folder: string, layout: Layout): Promise<TestCollection | undefined> {
  const names = [layout.documents, layout.queries, layout.judgements];
  const texts = (
    await Promise.all(names.map((name) => firstOf([join(folder, name), join(folder, layout.name.toLowerCase(), name)])))
  ).filter((text) => text !== undefined);
  const [documents, queries, judgements] = texts;
  if (documents === undefined || queries === undefined || judgements === undefined) return undefined;
  const relevant = readJudgements(judgements);
  return {
    name: layout.name,
    language: 'en',
    passages: readRecords(documents).map(({ id, fields }) => ({ id, text: textOf(fields, layout.fields) })),
    queries: readRecords(queries)
      .map(({ id, fields }, position) => {
        const number = layout.queriesByPosition ? String(position + 1) : id;
        return { id: number, text: textOf(fields, ['.W']), relevant: relevant.get(number) ?? new Map<string, number>() };
      })
      .filter((query) => query.relevant.size > 0),
  };
}

interface CollectionRecord {
  readonly id: string;
  readonly fields: ReadonlyMap<string, string>;
}

/** Splits records: `.I <number>` starts one, `.X` on a line of its own a field. */
export function readRecords(text: string): readonly CollectionRecord[] {
  const records: { id: string; fields: Map<string, string> }[] = [];
  let field = '';
  for (const line of text.split(/\r?\n/)) {
    const start = /^\.I\s+(\d+)/.exec(line);
    if (start !== null) {
      records.push({ id: String(Number(start[1])), fields: new Map() });
      field = '';
    } else if (/^\.[A-Z]\s*$/.test(line)) field = line.trim();
    else {
      const { fields } = records.at(-1) ?? {};
      fields?.set(field, `${fields.get(field) ?? ''}${line}\n`);
    }
  }
  return records;
}

/**
 * Reads lines of query, document and more. Every pair counts as relevant, whatever its grade: two of the collections have none, and
 * Cranfield's −1 is no grade of its key, while its list without grades has those pairs like all others.
 */
export function readJudgements(text: string): ReadonlyMap<string, Judgements> {
  const relevant = new Map<string, Map<string, number>>();
  for (const line of text.split('\n')) {
    const [query, document] = line.trim().split(/\s+/);
    if (query === undefined || document === undefined || query === '') continue;
    const key = String(Number(query));
    const grades = relevant.get(key) ?? new Map<string, number>();
    grades.set(String(Number(document)), 1);
    relevant.set(key, grades);
  }
  return relevant;
}

function textOf(fields: ReadonlyMap<string, string>, wanted: readonly string[]): string {
  return wanted.map((name) => fields.get(name)?.trim() ?? '').join('\n');
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      return await readFile(path, 'latin1');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
