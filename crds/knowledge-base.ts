import { z } from 'zod';

import { ageColumn, defineKind, readyColumn, reasonColumn, type Resource } from './kind.ts';
import { cel, configMapKeyRef, duration, exactlyOneOf, immutable, list, mapOf, name, text, textMap, url } from './schema.ts';
import { commonStatus, suspend, timestamp } from './status.ts';

const source = cel(
  z.object({
    name: name(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      .describe('Identifies a source.'),
    website: z
      .object({ urls: list(url(), 100).min(1).describe('Pages that are read; together they are one document.') })
      .optional()
      .describe('Content from the web.'),
    configMapKeyRef: configMapKeyRef().optional().describe('Content from a ConfigMap.'),
    refreshInterval: duration('1m', '8760h').optional().describe('Never refreshed by time where absent.'),
    metadata: textMap(32, 512).optional().describe('What a search can filter by.'),
  }),
  exactlyOneOf(['website', 'configMapKeyRef']),
);

const spec = cel(
  z.object({
    suspend,
    displayName: name(200).optional().describe('Unique in the organisation, the oldest wins; metadata.name where absent.'),
    description: text(1500).optional().describe('What is in it, for people and for the model.'),
    documentLanguage: text(35)
      .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/)
      .default('en')
      .describe('BCP 47 tag.'),
    embedding: z
      .object({ profile: name(63).default('default').describe('Name of the profile.') })
      .prefault({})
      .describe('An embedding profile of the operator configuration; immutable.'),
    chunking: cel(
      z.object({
        maxTokens: z.int().min(32).max(8192).default(400).describe('Longest chunk.'),
        overlapTokens: z.int().min(0).max(4096).default(50).describe('Repeated where a paragraph had to be cut.'),
      }),
      { rule: 'self.overlapTokens < self.maxTokens', message: 'overlapTokens must be less than maxTokens' },
    )
      // Not {}: the API server checks a default against the rule above before it fills in what the default lacks.
      .prefault({ maxTokens: 400, overlapTokens: 50 })
      .describe('How documents are cut.'),
    sources: mapOf(source, ['name'], 64).optional().describe('Content kept with the configuration; other documents come over REST.'),
    deletionPolicy: z.enum(['Retain', 'Delete']).default('Retain').describe('What happens to the documents and vectors.'),
  }),
  { ...immutable('embedding'), message: 'embedding is immutable: vectors of two models cannot be mixed' },
);

const count = () => z.int().min(0);

const status = z.object({
  ...commonStatus,
  embedding: z
    .object({ model: text(256), dimension: z.int().min(0).describe('0 for a sparse model.') })
    .optional()
    .describe('What the profile stood for when the first document came.'),
  store: text(63).optional().describe('The vector store that holds it.'),
  documents: z
    .object({ total: count(), processing: count(), completed: count(), failed: count() })
    .optional()
    .describe('How many documents are in which state; at most 10 s old.'),
  chunks: count().optional().describe('Chunks that a search can find.'),
  sources: mapOf(
    z.object({
      name: name(63),
      documentID: text(64).optional().describe('The document that is served from this source.'),
      state: text(32).optional().describe('processing, completed or failed.'),
      lastRefreshedAt: timestamp().optional().describe('When its content last replaced the former.'),
      message: text(1024).optional().describe('What went wrong, if anything did.'),
    }),
    ['name'],
    64,
  )
    .optional()
    .describe('State of each source.'),
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
