/** The parts of an Agent that hear and speak. */
import { z } from 'zod';

import { apiKeySecretRef } from './chat-model.ts';
import { listed, speechProviders, temperatureProviders, ttsProviders } from './providers.ts';
import { atomic, decimal, distinctList, emptyByDefault, list, mapOf, name, text, url } from './schema.ts';

/** Fallbacks that one part of a call may have; they are tried in order. */
export const MAX_FALLBACKS = 3;

const speechBaseURL = () => url().optional().describe('Address of the provider where it is not the usual one.');

const speechModel = () => text(256).optional().describe("The provider's name of the model; the provider's default where absent.");

const recognizer = z.object({
  provider: z.enum(speechProviders).describe('The provider that turns speech into text.'),
  model: speechModel(),
  baseURL: speechBaseURL(),
  apiKeySecretRef: apiKeySecretRef(),
});

export const speechToText = recognizer.extend({
  keywords: distinctList(name(64), 100)
    .optional()
    .describe(
      'Names and terms to listen for, such as those of products and people. May hold {{name}} placeholders. Models that take none are named by the condition Accepted.',
    ),
  fallbacks: list(recognizer, MAX_FALLBACKS)
    .optional()
    .describe('Others, in this order: the next one hears what one that fails, or is late, has not understood yet.'),
});

/** Temperature of text to speech where the spec sets none. */
export const DEFAULT_TEMPERATURE = '0.5';

const voice = z.object({
  id: text(256).optional().describe("The provider's id of the voice. It counts where there is a name, too."),
  name: text(256)
    .optional()
    .describe("The provider's name of the voice, which counts where there is no id; with one it is only a label for people."),
});
const VOICE = "The provider's default voice where both are absent.";

const speaker = z.object({
  provider: z.enum(ttsProviders).describe('The provider that turns text into speech.'),
  model: speechModel(),
  voice: atomic(voice).optional().describe(VOICE),
  baseURL: speechBaseURL(),
  apiKeySecretRef: apiKeySecretRef(),
});

export const textToSpeech = speaker.extend({
  voice: emptyByDefault(voice).describe(VOICE),
  fallbacks: list(speaker, MAX_FALLBACKS)
    .optional()
    .describe('Others, in this order: the next one says what one that fails, or is late by a second, has not said yet.'),
  speed: decimal(0.5, 2)
    .optional()
    .describe(
      'How fast the voices speak; 1, their own pace, where absent. Models that take none, or less, are named by the condition Accepted.',
    ),
  volume: decimal(0, 2).optional().describe('How loud the voices are; 1, as loud as they come, where absent.'),
  temperature: decimal(0, 2)
    .default(DEFAULT_TEMPERATURE)
    .describe(
      `How much the delivery varies. Without effect with ${listed(
        ttsProviders.filter((provider) => !temperatureProviders.includes(provider)),
        'and',
      )}.`,
    ),
});

const normalized = (description: string) => z.boolean().optional().describe(`${description} true where absent.`);

export const speech = z.object({
  replacements: mapOf(
    z.object({
      written: name(128).describe('A whole word or phrase. One without capitals stands for itself with capitals, too.'),
      spoken: name(256).describe('What the voice says in its place.'),
      ipa: name(128)
        .optional()
        .describe(
          'How it sounds, in the International Phonetic Alphabet. Voices that take none say what spoken spells, as the condition Accepted tells.',
        ),
    }),
    ['written'],
    100,
  )
    .optional()
    .describe('Names and terms that the voice says wrong. The transcript keeps what was written.'),
  normalization: emptyByDefault(
    z.object({
      markup: normalized('Markdown, HTML and SSML are left out; lists and tables are read line by line.'),
      emoji: normalized('Left out.'),
      addresses: normalized('E-mail and web addresses, sign by sign.'),
      dates: normalized('Dates in digits, with the month in words.'),
      times: normalized('Times of the day, in languages whose voices read the digits wrong.'),
      phoneNumbers: normalized('Numbers of phones, cards and accounts, digit by digit in groups.'),
      money: normalized('Amounts, with the name of the currency.'),
      units: normalized('Units such as km, °C, % and m², by their names.'),
      ranges: normalized('"10-14" as "10 to 14".'),
    }),
  ).describe('What is put into words for the voice, in the language of the agent.'),
});
