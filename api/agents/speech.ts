/** Translates an agent's speech to text and text to speech between REST and the resource. */
import { z } from 'zod';

import { agentKind, type AgentSpec } from '../../crds/index.ts';
import { listed, speechProviders, ttsProviders } from '../../crds/providers.ts';
import { items, number, trimmedLabel } from '../codec/conversions.ts';
import { matchStored } from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import type { Draft } from '../codec/draft.ts';
import { distinct, schemaAt } from '../codec/rest-schema.ts';
import { withRule } from '../validation/validate.ts';
import { refId, type KeyRef } from '../codec/secrets.ts';

const sttProvider = z.enum(speechProviders).meta({ id: 'SpeechToTextProvider' });
const ttsProvider = z.enum(ttsProviders).meta({ id: 'TextToSpeechProvider' });
const listeners = { body: () => sttProvider, answer: z.string(), text: `${listed(speechProviders, 'or')}.` };
const speakers = { body: () => ttsProvider, answer: z.string(), text: `${listed(ttsProviders, 'or')}.` };

/** REST has no field for the keys of speech, nor for their addresses. */
const speechKey = (name: string, { apiKeySecretRef, provider }: Draft<AgentSpec['speechToText' | 'textToSpeech']> = {}) => {
  const ref = apiKeySecretRef as KeyRef | undefined;
  return ref === undefined ? [] : [{ id: refId(ref), ref, origin: { [name]: provider } }];
};

interface SentSpeech {
  readonly provider: string;
  readonly model?: string | null | undefined;
  readonly model_name?: string | null | undefined;
}

/** Stored fields that REST has no name for stay with their provider. */
const sameProvider = <T extends { readonly provider: string; readonly model?: string | undefined }>(
  sent: readonly SentSpeech[],
  stored: readonly T[],
) =>
  matchStored(sent, stored, [
    (item, { provider, model }) => item.provider === provider && (item.model ?? item.model_name ?? undefined) === model,
    (item, { provider }) => item.provider === provider,
  ]);

const { field, group } = fieldsOf(agentKind.spec);
const listener = fieldsOf(schemaAt(agentKind.spec, 'speechToText.fallbacks.*'));
const speaker = fieldsOf(schemaAt(agentKind.spec, 'textToSpeech.fallbacks.*'));

export const stt = group(
  {
    provider: field('speechToText.provider', {
      ...listeners,
      uses: ({ speechToText }) => speechKey('stt.provider', speechToText),
    }),
    model: field('speechToText.model'),
    keywords: field('speechToText.keywords', {
      body: (list) =>
        withRule(
          list,
          distinct('keywords', (keyword) => keyword),
        ),
      text: 'Names and terms to listen for, such as those of products and people. May hold `{{name}}` placeholders.',
      empty: [],
    }),
    fallbacks: field('speechToText.fallbacks', {
      as: items(
        {
          provider: listener.field('provider', { ...listeners, uses: (item) => speechKey('provider', item) }),
          model: listener.field('model'),
        },
        { name: 'SpeechToTextFallback', match: sameProvider },
      ),
      empty: [],
    }),
  },
  { name: 'SpeechToText', path: 'speechToText' },
);

export const tts = group(
  {
    provider: field('textToSpeech.provider', {
      ...speakers,
      uses: ({ textToSpeech }) => speechKey('tts.provider', textToSpeech),
    }),
    voice_id: field('textToSpeech.voice.id', { also: ['textToSpeech.voice'] }),
    voice_name: field('textToSpeech.voice.name', { as: trimmedLabel }),
    model_name: field('textToSpeech.model'),
    voice_speed: field('textToSpeech.speed', { as: number, text: 'How fast the voices speak; 1, their own pace, where absent.' }),
    voice_volume: field('textToSpeech.volume', { as: number }),
    voice_temperature: field('textToSpeech.temperature', { as: number }),
    fallbacks: field('textToSpeech.fallbacks', {
      as: items(
        {
          provider: speaker.field('provider', { ...speakers, uses: (item) => speechKey('provider', item) }),
          voice_id: speaker.field('voice.id', { also: ['voice'] }),
          voice_name: speaker.field('voice.name', { as: trimmedLabel }),
          model_name: speaker.field('model'),
        },
        { name: 'TextToSpeechFallback', match: sameProvider },
      ),
      empty: [],
    }),
  },
  { name: 'TextToSpeech', path: 'textToSpeech' },
);
