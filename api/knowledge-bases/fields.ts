/** Lists every field of knowledge bases in REST. Pure. */
import { z } from 'zod';

import { knowledgeBaseKind, wellKnown, type KnowledgeBase, type KnowledgeBaseSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { CollectionOverview } from '../../store/knowledge/collections.ts';
import { trimmedName } from '../codec/conversions.ts';
import { answerShape, createShape, fieldNamesOf, readFields, updateShape, writeFields, type Decoding } from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import type { Draft } from '../codec/draft.ts';
import { masked, SecretWriter } from '../codec/secrets.ts';
import { writtenAt } from '../resources/written-at.ts';
import { resourceState } from '../state/answers.ts';
import { stateOf } from '../state/resource-state.ts';
import { volatile } from '../validation/unknown-fields.ts';

type Base = Stored<KnowledgeBase>;

interface KnowledgeBaseReading extends Decoding {
  readonly documents: CollectionOverview['documents'];
}

const count = (of: string) => z.int().min(0).describe(`Documents ${of}.`);

export function nameOf({ metadata, spec }: Pick<Base, 'metadata' | 'spec'>): string {
  return spec.displayName?.trim() || metadata.name;
}

function collectionStatus({ status }: Stored<KnowledgeBase>): 'pending' | 'ready' | 'failed' {
  const isTrue = (type: string): boolean => (status?.conditions ?? []).some((each) => each.type === type && each.status === 'True');
  if (isTrue('Ready')) return 'ready';
  return isTrue('Stalled') ? 'failed' : 'pending';
}

const { field, answered } = fieldsOf<typeof knowledgeBaseKind.spec, Base, KnowledgeBaseReading>(knowledgeBaseKind.spec);

const fields = {
  id: answered(
    z.string().describe('Name of the KnowledgeBase resource in the namespace of the organisation.'),
    ({ metadata }) => metadata.name,
  ),
  organization_id: answered(z.string().describe('The organisation: its namespace.'), ({ metadata }) => metadata.namespace ?? ''),
  user_id: answered(
    z.string().nullable().describe('Who made it; null where it was not made here.'),
    ({ metadata }) => metadata.annotations?.[wellKnown.createdBy] ?? null,
  ),
  name: field('displayName', {
    as: trimmedName,
    required: true,
    text: {
      body: 'Unique in the organisation. Spaces around it are dropped.',
      answer: 'What people call it; unique in the organisation.',
    },
    answer: z.string(),
    read: nameOf,
  }),
  description: field('description', { empty: null }),
  document_language: field('documentLanguage', {
    ownsDefault: true,
    text: 'BCP 47 tag of the language that most of its documents are in.',
  }),
  rerank_profile: field('reranking.profile', {
    required: false,
    text: {
      body: 'Rerank profile of the installation whose model orders the first hits of each search.',
      answer: 'The rerank profile; absent where searches keep the order of words and meaning.',
    },
    answer: z.string().optional(),
  }),
  total_documents: answered(
    volatile(z.int().min(0).describe('Documents in it, in whatever state.')),
    (_, { documents }) => documents.total,
  ),
  documents: answered(
    volatile(
      z
        .object({
          total: count('in whatever state'),
          processing: count('that are being read'),
          completed: count('that a search can find'),
          failed: count('that could not be read'),
        })
        .meta({ id: 'DocumentCounts' })
        .describe('How far the ingestion is, as of this answer.'),
    ),
    (_, { documents }) => documents,
  ),
  status: answered(
    volatile(
      z
        .enum(['pending', 'ready', 'failed'])
        .describe(
          'Of the resource: `pending` until it is looked at for the first time, `failed` while a person has to mend something (its conditions say what). Documents are taken in every state.',
        ),
    ),
    collectionStatus,
  ),
  state: answered(resourceState, stateOf),
  created_at: answered(z.iso.datetime().describe('When it was made.'), ({ metadata }) => metadata.creationTimestamp),
  updated_at: answered(volatile(z.iso.datetime().describe('When its settings last changed, by whatever means.')), writtenAt),
} as const;

export const knowledgeBaseCreate = z.object(createShape(fields));

export type KnowledgeBaseCreate = z.output<typeof knowledgeBaseCreate>;

/** Absent fields keep their value, `null` brings back the default. */
export const knowledgeBaseUpdate = z.object(updateShape(fields));

export type KnowledgeBaseUpdate = z.output<typeof knowledgeBaseUpdate>;

export const knowledgeBaseAnswer = z.object(answerShape(fields)).meta({ id: 'KnowledgeBase' });

/** Maps paths of a KnowledgeBase's spec to REST's names. */
export const knowledgeBaseFieldNames = fieldNamesOf(fields);

const NO_DOCUMENTS = { total: 0, processing: 0, completed: 0, failed: 0 };

/** @param documents numbers of documents; undefined for none */
export function knowledgeBaseToRest(base: Base, documents: CollectionOverview['documents'] | undefined): Readonly<Record<string, unknown>> {
  const reading: KnowledgeBaseReading = { secrets: masked, documents: documents ?? NO_DOCUMENTS };
  return readFields(fields, base, reading);
}

/** Writes the fields of a request into the spec. @see writeFields */
export function knowledgeBaseFromRest(
  body: KnowledgeBaseCreate | KnowledgeBaseUpdate,
  previous: KnowledgeBaseSpec | undefined,
): Draft<KnowledgeBaseSpec> {
  // A knowledge base has no secrets, and no field of it can fail.
  const secrets = new SecretWriter({ name: '', mayMove: false, randomId: () => '' });
  return writeFields(fields, body, previous, { secrets, loc: ['body'], found: [] });
}
