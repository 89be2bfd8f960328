/** Speech to text and text to speech of agents in REST. */
import { z } from 'zod';

import type { AgentSpec } from '../../crds/index.ts';
import { speechProviders, ttsProviders } from '../../crds/providers.ts';
import { answerShape, createShape, field, group, items, matchStored, type Fields } from '../codec/fields.ts';
import { trimmedLabel } from '../codec/conversions.ts';
import type { Draft } from '../codec/present.ts';
import { nameLabel, text } from '../codec/schemas.ts';
import { refId, type KeyRef } from '../codec/secrets.ts';

/** Of language models, too. */
export const FALLBACKS = 'Others, in the order in which they take over from one that fails or is late; at most 3.';

const sttProvider = z.enum(speechProviders).meta({ id: 'SpeechToTextProvider' });
const ttsProvider = z.enum(ttsProviders).meta({ id: 'TextToSpeechProvider' });
const label = z.string().optional();

/** REST has no field for the keys of speech, nor for their addresses. */
const speechKey = (name: string, { apiKeySecretRef, provider }: Draft<AgentSpec['speechToText' | 'textToSpeech']> = {}) => {
  const ref = apiKeySecretRef as KeyRef | undefined;
  return ref === undefined ? [] : [{ id: refId(ref), ref, origin: { [name]: provider } }];
};

/** Of speech: what REST has no field for stays with the provider that it is for. */
function speechFallbacks<const F extends Fields>({ name, path }: { readonly name: string; readonly path: string }, fields: F) {
  return field({
    path,
    as: items(fields, (sent, stored) =>
      matchStored(sent, stored, [
        (item, { provider, model }) => item['provider'] === provider && (item['model'] ?? item['model_name'] ?? undefined) === model,
        (item, { provider }) => item['provider'] === provider,
      ]),
    ),
    create: z
      .array(z.object(createShape(fields)).meta({ id: `${name}FallbackCreate` }))
      .max(3)
      .nullish()
      .describe(FALLBACKS),
    answer: z.array(z.object(answerShape(fields)).meta({ id: `${name}Fallback` })),
    empty: [],
  });
}

export const stt = group(
  {
    provider: field({
      path: 'speechToText.provider',
      create: sttProvider,
      update: sttProvider.optional(),
      answer: z.string(),
      uses: ({ speechToText }: Draft<AgentSpec>) => speechKey('stt.provider', speechToText),
    }),
    model: field({ path: 'speechToText.model', create: text(256).nullish(), answer: label }),
    fallbacks: speechFallbacks(
      { name: 'SpeechToText', path: 'speechToText.fallbacks' },
      {
        provider: field({
          path: 'provider',
          create: sttProvider,
          answer: z.string(),
          uses: (item: Draft<AgentSpec['speechToText']>) => speechKey('provider', item),
        }),
        model: field({ path: 'model', create: text(256).nullish(), answer: label }),
      },
    ),
  },
  { name: 'SpeechToText', path: 'speechToText' },
);

export const tts = group(
  {
    provider: field({
      path: 'textToSpeech.provider',
      create: ttsProvider,
      update: ttsProvider.optional(),
      answer: z.string(),
      uses: ({ textToSpeech }: Draft<AgentSpec>) => speechKey('tts.provider', textToSpeech),
    }),
    voice_id: field({ path: 'textToSpeech.voice.id', also: ['textToSpeech.voice'], create: text(256).nullish(), answer: label }),
    voice_name: field({ path: 'textToSpeech.voice.name', as: trimmedLabel, create: nameLabel(256).nullish(), answer: label }),
    model_name: field({ path: 'textToSpeech.model', create: text(256).nullish(), answer: label }),
    voice_temperature: field({ path: 'textToSpeech.temperature', create: z.number().min(0).max(2).nullish(), answer: z.number() }),
    fallbacks: speechFallbacks(
      { name: 'TextToSpeech', path: 'textToSpeech.fallbacks' },
      {
        provider: field({
          path: 'provider',
          create: ttsProvider,
          answer: z.string(),
          uses: (item: Draft<AgentSpec['textToSpeech']>) => speechKey('provider', item),
        }),
        voice_id: field({ path: 'voice.id', also: ['voice'], create: text(256).nullish(), answer: label }),
        voice_name: field({ path: 'voice.name', as: trimmedLabel, create: nameLabel(256).nullish(), answer: label }),
        model_name: field({ path: 'model', create: text(256).nullish(), answer: label }),
      },
    ),
  },
  { name: 'TextToSpeech', path: 'textToSpeech' },
);
