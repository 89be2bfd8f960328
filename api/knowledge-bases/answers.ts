/** What is answered of documents and searches. */
import { z } from 'zod';

import { INGESTION_FAILURE_CODES } from '../../knowledge/ingestion-failure.ts';

const time = z.iso.datetime();
const count = () => z.int().min(0);

const documentStatus = z.enum(['processing', 'completed', 'failed']);

export const acknowledgement = z
  .object({
    document_id: z.string(),
    status: documentStatus.describe('Always `processing`.'),
    message: z.string(),
  })
  .meta({ id: 'DocumentAcknowledgement' });

const failure = z
  .object({
    code: z.string().describe(`One of ${INGESTION_FAILURE_CODES.map((code) => `\`${code}\``).join(', ')}; there may be more in time.`),
    message: z.string(),
  })
  .optional()
  .describe('Only of a document that failed.');

const progress = z
  .object({
    stage: z.enum(['queued', 'fetching', 'parsing', 'indexing', 'verifying', 'completed']),
    done: count().describe('Pages or chunks, as the stage has them.'),
    total: count().nullable().describe('null where that is not known yet.'),
  })
  .describe('How far it is, or where it stopped.');

const state = {
  status: documentStatus,
  message: z.string().describe('For people: what is going on, or what came of it, warnings included.'),
  error: failure,
  chunk_count: count().describe('0 until it is completed.'),
};

export const documentStatusAnswer = z
  .object({ document_id: z.string(), ...state, progress, created_at: time, updated_at: time })
  .meta({ id: 'DocumentStatus' });

export const documentAnswer = z
  .object({
    document_id: z.string(),
    knowledge_base_id: z.string(),
    type: z.enum(['file', 'website', 'text']).describe('`text` comes from a ConfigMap that the KnowledgeBase resource names.'),
    filename: z.string().describe("A website's first address."),
    title: z.string().nullable(),
    page_urls: z
      .array(
        z.object({
          url: z.string(),
          status: z.enum(['pending', 'fetched', 'failed']),
          reason: z.string().optional().describe('Why it was not read.'),
        }),
      )
      .nullable()
      .describe('Of a website: what came of each page.'),
    size_bytes: count().nullable().describe('Of an uploaded file.'),
    sha256: z
      .string()
      .nullable()
      .describe('SHA-256 of an uploaded file, in hexadecimal: the same for the same content. null for websites and texts.'),
    metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    source: z.string().nullable().describe('The source in the KnowledgeBase resource that it comes from; null for what was sent here.'),
    ...state,
    warnings: z.array(z.string()),
    created_by_user_id: z.string().nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Document' });

export const chunksAnswer = z
  .object({ document_id: z.string(), filename: z.string(), chunk_count: count(), chunks: z.array(z.string()) })
  .meta({ id: 'DocumentChunks' });

export const searchAnswer = z
  .object({
    query: z.string(),
    results: z
      .array(
        z.object({
          chunk_id: z.string(),
          document_id: z.string(),
          filename: z.string(),
          content: z.string(),
          score: z.number().min(0).max(1),
          chunk_index: count().describe('Of the chunks of its document, from 0.'),
          metadata: z
            .record(z.string(), z.unknown())
            .describe(
              "The document's own metadata, and where the chunk stands as far as its kind of file knows: `title`, `heading_path`, `page`, `sheet`, `first_row`, `last_row`, `url`.",
            ),
        }),
      )
      .describe('Best first.'),
  })
  .meta({ id: 'SearchResults' });
