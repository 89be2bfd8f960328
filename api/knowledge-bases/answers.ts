import { z } from 'zod';

import { INGESTION_FAILURE_CODES } from '../../knowledge/ingestion-failure.ts';
import { SNIPPET_LENGTH } from './schema.ts';

const time = z.iso.datetime();
const count = () => z.int().min(0);
const documentId = z.string().describe('Id of the document.');
const documentName = z.string().describe("Name of the file; a website's first address.");
const times = {
  created_at: time.describe('When it was submitted.'),
  updated_at: time.describe('When its state last changed.'),
};

const documentStatus = z.enum(['processing', 'completed', 'failed']).meta({ id: 'IngestionStatus' });

export const acknowledgement = z
  .object({
    document_id: z.string().describe('Id of the new document.'),
    status: documentStatus.describe('Always `processing`.'),
    message: z.string().describe('For people: what happens next.'),
  })
  .meta({ id: 'DocumentAcknowledgement' });

const failure = z
  .object({
    code: z.string().describe(`One of ${INGESTION_FAILURE_CODES.map((code) => `\`${code}\``).join(', ')}; there may be more in time.`),
    message: z.string().describe('For people: what is wrong, and what to do.'),
  })
  .meta({ id: 'DocumentFailure' })
  .optional()
  .describe('Only of a document that failed.');

const progress = z
  .object({
    stage: z
      .enum(['queued', 'fetching', 'parsing', 'indexing', 'verifying', 'completed'])
      .describe('What is done at the moment; of a failed document what was done last.'),
    done: count().describe('Pages or chunks, as the stage has them.'),
    total: count().nullable().describe('How many there are; null where that is not known yet.'),
  })
  .meta({ id: 'DocumentProgress', description: 'How far it is, or where it stopped.' });

const state = {
  status: documentStatus.describe('`processing` until it can be found (`completed`) or can not be ingested (`failed`).'),
  message: z.string().describe('For people: what is going on, or the outcome, with warnings.'),
  error: failure,
  chunk_count: count().describe('How many chunks it has; 0 until it is completed.'),
};

export const documentStatusAnswer = z.object({ document_id: documentId, ...state, progress, ...times }).meta({ id: 'DocumentStatus' });

export const documentAnswer = z
  .object({
    document_id: documentId,
    knowledge_base_id: z.string().describe('Id of the knowledge base that it is in.'),
    type: z.enum(['file', 'website', 'text']).describe('`text` comes from a ConfigMap that the KnowledgeBase resource names.'),
    filename: documentName,
    title: z.string().nullable().describe('Title that was found in the document; null where it has none.'),
    page_urls: z
      .array(
        z
          .object({
            url: z.string().describe('Address of the page.'),
            status: z.enum(['pending', 'fetched', 'failed']).describe('Whether it was read: `pending` until it was tried.'),
            reason: z.string().optional().describe('Why it was not read.'),
          })
          .meta({ id: 'DocumentPage' }),
      )
      .nullable()
      .describe('The outcome of each page of a website.'),
    size_bytes: count().nullable().describe('Size of an uploaded file, in bytes; null for others.'),
    sha256: z
      .string()
      .nullable()
      .describe('SHA-256 of an uploaded file, in hexadecimal: the same for the same content. null for websites and texts.'),
    metadata: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .describe('What a search can filter by, as it was submitted.'),
    source: z.string().nullable().describe('The source in the KnowledgeBase resource that it comes from; null for what was sent here.'),
    ...state,
    warnings: z.array(z.string()).describe('What was left out or changed on the way, for people.'),
    created_by_user_id: z.string().nullable().describe('Who submitted it; null where no user is known.'),
    ...times,
  })
  .meta({ id: 'Document' });

export const chunksAnswer = z
  .object({
    document_id: documentId,
    filename: documentName,
    chunk_count: count().describe('Number of chunks; 0 until the document is completed.'),
    chunks: z.array(z.string()).describe('Text of each chunk, in the order of the document.'),
  })
  .meta({ id: 'DocumentChunks' });

export const searchAnswer = z
  .object({
    query: z.string().describe('The text that was searched for.'),
    results: z
      .array(
        z
          .object({
            chunk_id: z.string().describe('Id of the chunk.'),
            document_id: z.string().describe('Id of the document that the chunk is of.'),
            filename: documentName,
            content: z.string().describe('Text of the chunk.'),
            snippet: z
              .string()
              .describe(
                `What of the text says most about the query: whole sentences, or rows of a table with its header, at most ${SNIPPET_LENGTH} characters (a third of that in Chinese, Japanese and Korean). An ellipsis marks where a longer sentence is cut.`,
              ),
            score: z.number().min(0).max(1).describe('How well it fits: the share of the best possible score, or of first place.'),
            chunk_index: count().describe('The place of the chunk in its document, from 0.'),
            metadata: z
              .record(z.string(), z.unknown())
              .describe(
                "The document's own metadata, and where the chunk stands as far as its kind of file knows: `title`, `heading_path`, `page`, `sheet`, `first_row`, `last_row`, `url`.",
              ),
          })
          .meta({ id: 'SearchResult' }),
      )
      .describe('The hits, the best first.'),
  })
  .meta({ id: 'SearchResults' });
