import { baseLanguage } from '../protocol-support.ts';

/** Deepgram's languages that have a region; all others are listed without one: https://developers.deepgram.com/docs/models-languages-overview */
const DEEPGRAM_REGIONS = new Set(
  'da-DK de-CH en-AU en-GB en-IN en-NZ en-US es-419 fr-CA ko-KR nl-BE pt-BR pt-PT sv-SE th-TH zh-CN zh-HK zh-Hans zh-Hant zh-TW'
    .split(' ')
    .map((tag) => tag.toLowerCase()),
);

/** Deepgram refuses regions that it doesn't list: `de-AT` is its `de`, `es-MX` its `es-419`. */
export function deepgramLanguage(tag: string): string {
  if (DEEPGRAM_REGIONS.has(tag.toLowerCase())) return tag;
  const base = baseLanguage(tag);
  if (base === 'es' && tag.length > 2 && !/^es-es$/i.test(tag)) return 'es-419';
  return base === 'nb' || base === 'nn' ? 'no' : base;
}
