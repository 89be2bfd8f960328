import { z } from 'zod';

import { ageColumn, defineKind, readyColumn, reasonColumn, type Resource } from './kind.ts';
import { cel, duration, exactlyOneOf, immutable, keyRef, list, mapOf, name, text, textMap, url } from './schema.ts';
import { commonStatus } from './status.ts';

const source = cel(
  z.object({
    name: name(63).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
    website: z.object({ urls: list(url(), 100) }).optional(),
    configMapKeyRef: keyRef().optional(),
    refreshInterval: duration('1m', '8760h').optional().describe('Never refreshed by time where absent.'),
    metadata: textMap(32, 512).optional(),
  }),
  exactlyOneOf(['website', 'configMapKeyRef']),
);

const spec = cel(
  z.object({
    suspend: z.boolean().optional().describe('Stop reconciling; deletion still works.'),
    displayName: name(200).optional().describe('Unique in the organisation, the oldest wins; metadata.name where absent.'),
    description: text(1500).optional(),
    documentLanguage: text(35).regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/).default('en').describe('BCP 47 tag.'),
    embedding: z.object({ profile: name(63).default('default') }).prefault({}).describe('An embedding profile of the operator configuration.'),
    chunking: cel(
      z.object({ maxTokens: z.int().min(32).max(8192).default(400), overlapTokens: z.int().min(0).max(4096).default(50) }),
      { rule: 'self.overlapTokens < self.maxTokens', message: 'overlapTokens must be less than maxTokens' },
    ).prefault({}),
    sources: mapOf(source, ['name'], 64).optional().describe('Content kept beside the configuration; other documents come over REST.'),
    deletionPolicy: z.enum(['Retain', 'Delete']).default('Retain').describe('What happens to the documents and vectors.'),
  }),
  { ...immutable('embedding'), message: 'embedding is immutable: vectors of two models cannot be mixed' },
);

const status = z.object({
  ...commonStatus,
  embedding: z.object({ model: text(256), dimension: z.int().min(0) }).optional(),
  store: text(63).optional(),
  documents: z.object({ total: z.int(), processing: z.int(), completed: z.int(), failed: z.int() }).optional(),
  chunks: z.int().min(0).optional(),
  sources: mapOf(
    z.object({
      name: name(63),
      documentID: text(64).optional(),
      state: text(32).optional(),
      lastRefreshedAt: z.iso.datetime().max(64).optional(),
      message: text(1024).optional(),
    }),
    ['name'],
    64,
  ).optional(),
});

export const knowledgeBaseKind = defineKind('KnowledgeBase', 'knowledgebases', {
  shortNames: ['kbase'],
  description: 'A searchable collection of documents that agents can look things up in.',
  printerColumns: [
    readyColumn,
    { name: 'Documents', type: 'integer', jsonPath: '.status.documents.total' },
    { name: 'Chunks', type: 'integer', jsonPath: '.status.chunks' },
    { name: 'Model', type: 'string', jsonPath: '.status.embedding.model' },
    reasonColumn,
    ageColumn,
  ],
  spec,
  status,
});

export type KnowledgeBaseSpec = z.output<typeof spec>;
export type KnowledgeBaseStatus = z.output<typeof status>;
export type KnowledgeBase = Resource<KnowledgeBaseSpec, KnowledgeBaseStatus>;
