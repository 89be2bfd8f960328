import { expect, it } from 'vitest';

import { knowledgeBaseKind, type KnowledgeBase } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import { fieldsWithoutCase } from '../../test/support/field-cases.ts';
import { validate } from '../validation/validate.ts';
import { knowledgeBaseCreate, knowledgeBaseFieldNames, knowledgeBaseFromRest, knowledgeBaseToRest } from './fields.ts';

/** A body with every field. */
const body = {
  name: 'Manuals',
  description: 'Of all devices',
  document_language: 'de',
  rerank_profile: 'default',
  embedding_profile: 'large',
};

const stored = (spec: unknown) =>
  ({
    apiVersion: 'parley.dev/v1beta1',
    kind: 'KnowledgeBase',
    metadata: { name: 'manuals', namespace: 'acme', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: knowledgeBaseKind.spec.parse(spec),
  }) as Stored<KnowledgeBase>;

it('a knowledge base comes back as it was sent, and unchanged as it was read', () => {
  const sent = validate(knowledgeBaseCreate, body, ['body']);
  if (!sent.ok) throw new Error(JSON.stringify(sent.issues));
  const base = stored(knowledgeBaseFromRest(sent.value, undefined));
  expect(knowledgeBaseToRest(base, undefined)).toMatchObject(sent.value);
  expect(knowledgeBaseFromRest(sent.value, base.spec)).toEqual(base.spec);
});

it('has a case for each field of the table: add what is named here to the body above', () => {
  expect(fieldsWithoutCase(knowledgeBaseFieldNames, [body])).toEqual([]);
});
