import type { FieldNames } from '../partial/field-names.ts';

/** Paths of a KnowledgeBase's spec in REST's words. */
export const knowledgeBaseFieldNames: FieldNames = {
  displayName: 'name',
  description: 'description',
  documentLanguage: 'document_language',
};
