/** Knowledge bases in REST: every field. Pure. */
import { z } from 'zod';

import { knowledgeBaseKind, wellKnown, type KnowledgeBase, type KnowledgeBaseSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { CollectionOverview } from '../../store/knowledge/collections.ts';
import { trimmedName } from '../codec/conversions.ts';
import { describeFields } from '../codec/describe-fields.ts';
import { answerShape, createShape, field, fieldNamesOf, readFields, updateShape, writeFields, type Decoding } from '../codec/fields.ts';
import type { Draft } from '../codec/present.ts';
import { displayName } from '../codec/schemas.ts';
import { masked, SecretWriter } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import { resourceState } from '../state/answers.ts';
import { stateOf } from '../state/resource-state.ts';

type Base = Stored<KnowledgeBase>;

interface KnowledgeBaseReading extends Decoding {
  readonly documents: CollectionOverview['documents'];
}

const count = (of: string) => z.int().min(0).describe(`Documents ${of}.`);

const nameSchema = displayName(200, 'Unique in the organisation.');
const documentLanguage = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)
  .describe('BCP 47 tag of the language that most of its documents are in.');

export function nameOf({ metadata, spec }: Pick<Base, 'metadata' | 'spec'>): string {
  return spec.displayName?.trim() || metadata.name;
}

function statusOf({ status }: Stored<KnowledgeBase>): 'pending' | 'ready' | 'failed' {
  const isTrue = (type: string): boolean => (status?.conditions ?? []).some((each) => each.type === type && each.status === 'True');
  if (isTrue('Ready')) return 'ready';
  return isTrue('Stalled') ? 'failed' : 'pending';
}

const fields = {
  id: field({
    answer: z.string().describe('Name of the KnowledgeBase resource in the namespace of the organisation.'),
    read: ({ metadata }: Base) => metadata.name,
  }),
  organization_id: field({
    answer: z.string().describe('The organisation: its namespace.'),
    read: ({ metadata }: Base) => metadata.namespace ?? '',
  }),
  user_id: field({
    answer: z.string().nullable().describe('Who made it; null where it was not made here.'),
    read: ({ metadata }: Base) => metadata.annotations?.[wellKnown.createdBy],
  }),
  name: field({
    path: 'displayName',
    as: trimmedName,
    create: nameSchema,
    update: nameSchema.optional(),
    answer: z.string().describe('What people call it; unique in the organisation.'),
    read: nameOf,
  }),
  description: field({
    path: 'description',
    create: z.string().max(1500).describe('What is in it, for people and for the model.').nullish(),
    answer: z.string().nullable(),
  }),
  document_language: field({
    path: 'documentLanguage',
    create: documentLanguage.nullish().describe('BCP 47 tag of the language that most of its documents are in; `en` where absent.'),
    update: documentLanguage.nullish(),
    answer: z.string(),
    default: 'en',
  }),
  rerank_profile: field({
    path: 'reranking.profile',
    create: z
      .string()
      .min(1)
      .max(63)
      .nullish()
      .describe('Rerank profile of the installation whose model orders the first hits of each search.'),
    answer: z.string().optional().describe('Absent where searches keep the order of words and meaning.'),
  }),
  total_documents: field({
    answer: z.int().min(0).describe('Documents in it, in whatever state.'),
    read: (_: Base, { documents }: KnowledgeBaseReading) => documents.total,
  }),
  documents: field({
    answer: z
      .object({
        total: count('in whatever state'),
        processing: count('that are being read'),
        completed: count('that a search can find'),
        failed: count('that could not be read'),
      })
      .meta({ id: 'DocumentCounts' })
      .describe('How far the ingestion is, as of this answer.'),
    read: (_: Base, { documents }: KnowledgeBaseReading) => documents,
  }),
  status: field({
    answer: z
      .enum(['pending', 'ready', 'failed'])
      .describe(
        'Of the resource: `pending` until it is looked at for the first time, `failed` while a person has to mend something (its conditions say what). Documents are taken in every state.',
      ),
    read: statusOf,
  }),
  state: field({ answer: resourceState, read: (base: Base) => stateOf(base) }),
  created_at: field({ answer: z.iso.datetime().describe('When it was made.'), read: ({ metadata }: Base) => metadata.creationTimestamp }),
  updated_at: field({ answer: z.iso.datetime().describe('When its settings last changed, by whatever means.'), read: writtenAt }),
} as const;

describeFields(knowledgeBaseKind.spec, fields);

export const knowledgeBaseCreate = z.object(createShape(fields));

export type KnowledgeBaseCreate = z.output<typeof knowledgeBaseCreate>;

/** Absent fields keep their value, `null` brings back the default. */
export const knowledgeBaseUpdate = z.object(updateShape(fields));

export type KnowledgeBaseUpdate = z.output<typeof knowledgeBaseUpdate>;

export const knowledgeBaseAnswer = z.object(answerShape(fields)).meta({ id: 'KnowledgeBase' });

/** Paths of a KnowledgeBase's spec in REST's words. */
export const knowledgeBaseFieldNames = fieldNamesOf(fields);

const NO_DOCUMENTS = { total: 0, processing: 0, completed: 0, failed: 0 };

/** @param documents - how many there are; undefined for none */
export function knowledgeBaseToRest(base: Base, documents: CollectionOverview['documents'] | undefined): Readonly<Record<string, unknown>> {
  const reading: KnowledgeBaseReading = { secrets: masked, documents: documents ?? NO_DOCUMENTS };
  return readFields(fields, base, reading);
}

/** @see writeFields */
export function knowledgeBaseFromRest(
  body: KnowledgeBaseCreate | KnowledgeBaseUpdate,
  previous: KnowledgeBaseSpec | undefined,
): Draft<KnowledgeBaseSpec> {
  // A knowledge base has no secrets, and no field of it can fail.
  const secrets = new SecretWriter({ name: '', mayMove: false, randomId: () => '' });
  return writeFields(fields, body, previous, { secrets, loc: ['body'], found: [] });
}
