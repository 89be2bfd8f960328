import { z } from 'zod';

import { errorStatus, type ErrorCode } from '../../http/api-error.ts';
import { baseParams, defineRoute } from '../descriptions.ts';
import { bulkResultExamples } from '../examples.ts';
import { MANIFEST } from './archive-manifest.ts';
import {
  BYTES_PER_REQUEST,
  ENTRIES_PER_REQUEST,
  MAX_BODY_BYTES,
  MAX_ENTRIES,
  MAX_LINE_BYTES,
  MAX_UNPACKED_BYTES,
  MAX_UNREADABLE_IN_A_ROW,
  UPLOADS_AT_ONCE,
} from './limits.ts';
import { bulkEntry } from './line-entries.ts';

const codes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];
const megabytes = (bytes: number): string => `${bytes / 1024 / 1024} MB`;

const bulkResult = z
  .object({
    index: z.int().min(0).describe('Position of the entry in the request, from 0; folders of an archive and empty lines are not counted.'),
    name: z.string().optional().describe('Name of the entry as it was sent; absent where it could not be read.'),
    status: z.enum(['accepted', 'failed']).describe('`accepted`: stored, and being ingested; `failed`: not stored, and `error` says why.'),
    document_id: z.string().optional().describe('Id of its document; absent of an entry that failed.'),
    existing: z
      .boolean()
      .describe('The document was there before, by the same idempotency key or the same content: nothing new was stored.'),
    error: z
      .object({
        code: z.enum(codes).describe('For programs: the kind of failure. `unavailable`: send the entry again.'),
        message: z.string().describe('For people: what is wrong with the entry, and what to do.'),
      })
      .meta({ id: 'BulkResultError' })
      .optional()
      .describe('Only of an entry that failed.'),
    warnings: z.array(z.string()).optional().describe('Only where the entry has fields that nothing reads: which ones they are.'),
  })
  .meta({ id: 'BulkResult' });

export const submitDocuments = defineRoute({
  method: 'POST',
  path: '/api/v1/knowledge-bases/:kb_id/documents/bulk',
  operationId: 'submitDocuments',
  summary: 'Put many files into a knowledge base with one request',
  description: [
    `Send a line of JSON for each file (\`application/x-ndjson\`), or a zip archive. A request takes ${MAX_ENTRIES} files and ${megabytes(MAX_BODY_BYTES)}; a file may have what it may have by itself, a line ${megabytes(MAX_LINE_BYTES)}, and an archive ${megabytes(MAX_UNPACKED_BYTES)} when it is unpacked.`,
    `An archive may have a \`${MANIFEST}\` at its top: a line of JSON with \`name\` (path in the archive), \`metadata\` and \`idempotency_key\` for each file that needs these.`,
    'Lines are read as they arrive and results are sent as files are stored, one for each entry and in their order. An entry that can not be stored fails alone. Whatever is answered as `accepted` is kept, also where the connection breaks. Send the rest again, or everything: an entry with the same `idempotency_key`, or without one and with the same content, is answered with the document that is there. A document that has failed or was deleted is made again.',
    `Every ${ENTRIES_PER_REQUEST} entries, or ${BYTES_PER_REQUEST / 1024} KiB where that is more, count as one request. Over a rate limit the upload is slowed down; no entry is refused. An organisation has ${UPLOADS_AT_ONCE} of these requests at a time; others are answered 429. After ${MAX_UNREADABLE_IN_A_ROW} lines in a row that can't be used nothing more is read, and the next result says so.`,
  ].join('\n\n'),
  permission: 'knowledge_bases:write',
  params: baseParams,
  streamed: {
    'application/x-ndjson': {
      schema: bulkEntry,
      examples: {
        'two files, a line each': `${JSON.stringify({ name: 'opening-hours.md', content: '# Opening hours\n\nWe open at nine.', metadata: { product: 'XK-7420' } })}\n${JSON.stringify({ name: 'reset.txt', content_base64: 'SG9sZCB0aGUgYnV0dG9uLg==', idempotency_key: 'manual-7' })}\n`,
      },
    },
    'application/zip': {
      schema: z
        .string()
        .meta({ format: 'binary', contentMediaType: 'application/zip' })
        .describe('A zip archive of files, also in folders.'),
      examples: {},
    },
  },
  answers: {
    202: {
      description: 'A line of JSON for each entry, in their order; a list with `Accept: application/json`.',
      contentType: 'application/x-ndjson',
      schema: bulkResult,
      example: bulkResultExamples.map((result) => `${JSON.stringify(result)}\n`).join(''),
      alternatives: { 'application/json': { schema: z.array(bulkResult), example: bulkResultExamples } },
    },
  },
  errors: ['conflict'],
});
