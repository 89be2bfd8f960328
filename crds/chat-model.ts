/** Describes a provider's language model, which several kinds name. */
import { z } from 'zod';

import { llmProviders } from './providers.ts';
import { cel, name, secretKeyRef, url } from './schema.ts';

export const apiKeySecretRef = () =>
  secretKeyRef().optional().describe("Without one, the operator's default credential for the provider is used.");

export const needsBaseURL = {
  rule: "self.provider != 'openai_compatible' || has(self.baseURL)",
  message: 'baseURL is required for provider openai_compatible',
  fieldPath: '.baseURL',
  reason: 'FieldValueRequired',
} as const;

export const llmProvider = () => z.enum(llmProviders).describe('The provider of the model.');
export const modelName = () => name(256).describe("The provider's name of the model, e.g. gpt-4o-mini.");
export const llmBaseURL = () => url().optional().describe('Address of the provider; required for openai_compatible.');

/** Builds the fields of a model with its address and its key; add {@link needsBaseURL} where they are extended. */
export const chatModelFields = () =>
  z.object({ provider: llmProvider(), model: modelName(), baseURL: llmBaseURL(), apiKeySecretRef: apiKeySecretRef() });

export const chatModel = () => cel(chatModelFields(), needsBaseURL);
