import { z } from 'zod';

import { time } from '../calls/schema.ts';
import { routesOf } from '../http/route.ts';

const defineRoute = routesOf('People');

const personQuery = z.object({
  phone: z
    .string()
    .min(3)
    .max(256)
    .optional()
    .describe('Number of the person, as calls have it in `from_number` or `to_number`; + is written %2B in an address.'),
  metadata_key: z.string().min(1).max(200).optional().describe('Name in the `metadata` of calls; with `metadata_value`.'),
  metadata_value: z.string().min(1).max(1000).optional().describe('What the calls of the person have there, as a text.'),
});

export type PersonQuery = z.output<typeof personQuery>;

const erasure = z
  .object({
    erasure_id: z.string().describe('Id of the erasure.'),
    status: z.enum(['running', 'finished']).describe('`finished`: nothing of the person is left.'),
    counts: z
      .record(z.string(), z.int().min(0))
      .describe(
        'What was erased so far, by kind: `calls`, `messages`, `document_hits`, `tool_calls`, `analyses`, `recordings`, `events`, `delivery_attempts`, `idempotent_answers`, `test_results`, `cached_lookups`.',
      ),
    waiting_calls: z.int().min(0).describe('Calls of the person that are going on: they are erased when they are over.'),
    created_at: time('When it was asked for.'),
    finished_at: time('When nothing was left; absent while it runs.').optional(),
  })
  .meta({ id: 'PersonErasure' });

export type ErasureAnswer = z.output<typeof erasure>;

const example = {
  erasure_id: 'erasure_01890a5d-ac96-774b-bcce-b302099a8057',
  status: 'finished',
  counts: { calls: 2, messages: 14, document_hits: 1, tool_calls: 3, analyses: 2, recordings: 2, events: 3, delivery_attempts: 0 },
  waiting_calls: 0,
  created_at: '2026-11-21T09:00:00.000Z',
  finished_at: '2026-11-21T09:00:02.000Z',
};

export const erasePerson = defineRoute({
  method: 'DELETE',
  path: '/v1/people',
  operationId: 'erasePerson',
  summary: 'Erase all that is known of a person',
  description:
    'By their number, or by a value in the metadata of their calls: calls with transcripts, tool calls, analyses and recordings; what events, attempts of deliveries, kept answers to requests and results of tests say of these calls; and all cached answers of lookups. It is done in the background, whatever stops in between; asked again while it runs, it is the same erasure. What receivers of webhooks, tools and providers have is not reached.',
  permission: 'people:erase',
  query: personQuery,
  answers: {
    202: {
      description: 'The erasure, which runs.',
      schema: erasure,
      example: { erasure_id: example.erasure_id, status: 'running', counts: {}, waiting_calls: 0, created_at: example.created_at },
      identifies: { erasure_id: 'erasure_id' },
    },
  },
});

export const getErasure = defineRoute({
  method: 'GET',
  path: '/v1/people/erasures/:erasure_id',
  operationId: 'getPersonErasure',
  summary: 'Get what was erased of a person',
  description: 'Numbers by kind. Whose they were is forgotten with them.',
  permission: 'people:erase',
  params: { erasure_id: 'The `erasure_id`.' },
  answers: { 200: { description: 'The erasure.', schema: erasure, example } },
});
