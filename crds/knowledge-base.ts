import { z } from 'zod';

import { ageColumn, defineKind, displayNameColumn, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import { cel, configMapKeyRef, duration, immutable, list, mapOf, name, text, textMap, unionOf, url } from './schema.ts';
import { commonStatus, deletionPolicies, ORPHAN, suspend, timestamp } from './status.ts';

const sourceMembers = { Website: 'website', ConfigMap: 'configMap' } as const;
type SourceType = keyof typeof sourceMembers;

const source = cel(
  z.object({
    name: name(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
      .describe('Identifies a source.'),
    type: z
      .enum(Object.keys(sourceMembers) as [SourceType, ...SourceType[]])
      .describe('Where the content is; the field of the same name (website with Website) says what is read.'),
    website: z
      .object({ urls: list(url(), 100).min(1).describe('Pages that are read; together they are one document.') })
      .optional()
      .describe('Content from the web.'),
    configMap: configMapKeyRef().optional().describe('Content from one key of a ConfigMap.'),
    refreshInterval: duration('1m', '8760h').optional().describe('Never refreshed by time where absent.'),
    metadata: textMap(32, 512).optional().describe('What a search can filter by.'),
  }),
  ...unionOf(sourceMembers),
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
      .describe(
        'An embedding profile of the operator configuration; immutable. status.embedding has the model that it stood for: with another one the knowledge base is not Ready (EmbeddingModelMismatch).',
      ),
    reranking: z
      .object({ profile: name(63).describe('Name of the profile.') })
      .optional()
      .describe('A rerank profile of the operator configuration, whose model orders the first hits of each search; none where absent.'),
    chunking: cel(
      z.object({
        maxTokens: z.int().min(32).max(8192).default(400).describe('Longest chunk, in tokens.'),
        overlapTokens: z.int().min(0).max(4096).default(50).describe('Tokens repeated where a paragraph had to be cut.'),
      }),
      { rule: 'self.overlapTokens < self.maxTokens', message: 'overlapTokens must be less than maxTokens' },
    )
      // The default is not {}: the API server checks it against the rule above before it fills in what it lacks.
      .prefault({ maxTokens: 400, overlapTokens: 50 })
      .describe('How documents are cut.'),
    sources: mapOf(source, ['name'], 64).optional().describe('Content kept with the configuration; other documents come over REST.'),
    deletionPolicy: z.enum(deletionPolicies).default('Retain').describe(`What happens to the documents and vectors. ${ORPHAN}`),
  }),
  { ...immutable('embedding'), message: 'embedding is immutable: vectors of two models cannot be mixed' },
);

const documents = (of: string) => z.int().min(0).describe(`Documents ${of}.`);

const status = z.object({
  ...commonStatus,
  embedding: z
    .object({
      model: text(256).describe("The provider's name of the model."),
      dimension: z.int().min(0).describe('Dimensions of a vector; 0 for a sparse model.'),
    })
    .optional()
    .describe('The model that spec.embedding.profile stood for when the knowledge base was made.'),
  store: text(63).optional().describe('The vector store that holds it.'),
  documents: z
    .object({
      total: documents('of any state'),
      processing: documents('that are being read'),
      completed: documents('that a search can find'),
      failed: documents('that could not be read'),
    })
    .optional()
    .describe('How many documents are in which state. While they change it is written every 2 s at most, and otherwise not at all.'),
  chunks: z.int().min(0).optional().describe('Chunks that a search can find.'),
  sources: mapOf(
    z.object({
      name: name(63).describe('Name of the source.'),
      documentID: text(64).optional().describe('The document that is served from this source.'),
      state: z
        .enum(['Processing', 'Completed', 'Failed'])
        .optional()
        .describe('What came of the latest reading; documentID has the last one that was completed.'),
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
  shortNames: ['pkb', 'kbase'],
  description: 'A searchable collection of documents that agents can look things up in.',
  printerColumns: [
    displayNameColumn(),
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'Documents', type: 'integer', jsonPath: '.status.documents.completed' },
    { name: 'Total', type: 'integer', jsonPath: '.status.documents.total' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.documents.failed' },
    { name: 'Chunks', type: 'integer', jsonPath: '.status.chunks' },
    { name: 'Model', type: 'string', jsonPath: '.status.embedding.model' },
    ageColumn,
  ],
  spec,
  status,
});

export type KnowledgeBaseSpec = z.output<typeof spec>;
export type KnowledgeBaseStatus = z.output<typeof status>;
export type KnowledgeBase = Resource<KnowledgeBaseSpec, KnowledgeBaseStatus>;
