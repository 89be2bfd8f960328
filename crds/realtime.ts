/** The session of an Agent in which one model hears the user and answers. */
import { z } from 'zod';

import { apiKeySecretRef } from './chat-model.ts';
import { realtimeProviders } from './providers.ts';
import { cel, name, text, url } from './schema.ts';

export const realtime = cel(
  z.object({
    provider: z.enum(realtimeProviders).default('openai').describe('The provider of the model.'),
    model: name(256).describe("The provider's name of the model, e.g. gpt-realtime."),
    transcriptionModel: text(256)
      .optional()
      .describe('The model that writes down what the user says, in the same session; gpt-4o-mini-transcribe where absent.'),
    baseURL: url().optional().describe('Address of the provider; required for azure_openai and openai_compatible.'),
    apiKeySecretRef: apiKeySecretRef(),
  }),
  {
    rule: "self.provider == 'openai' || has(self.baseURL)",
    message: 'baseURL is required for providers other than openai',
    fieldPath: '.baseURL',
    reason: 'FieldValueRequired',
  },
);
