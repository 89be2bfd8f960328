/** Which voices take pronunciations in IPA. Pure, shared by the requests of calls and the agent's condition. */
import type { SpecProblem } from './spec-problem.ts';
import { voiceModelOf, type Speaker, type VoiceModel } from './voice-speed.ts';

/** Returns whether a voice takes IPA for the words; others say how they are spelled. @param language BCP 47 tag */
export function takesIpa({ provider, model }: VoiceModel, spoken: string, language: string): boolean {
  switch (provider) {
    case 'azure':
      return true;
    case 'google':
      return language.toLowerCase() === 'en-us';
    case 'deepgram':
      return (model === undefined || /^aura-2-.*-(en|es)$/.test(model)) && !/\s/u.test(spoken);
    default:
      return false;
  }
}

interface Speaking {
  readonly language: string;
  readonly speech?:
    | { readonly replacements?: readonly { readonly spoken: string; readonly ipa?: string | undefined }[] | undefined }
    | undefined;
  readonly textToSpeech: Speaker & { readonly fallbacks?: readonly Speaker[] | undefined };
}

/** Returns remarks on pronunciations that the agent's own voice, or a fallback, doesn't take. */
export function pronunciationRemarks({ language, speech, textToSpeech }: Speaking): readonly SpecProblem[] {
  const { fallbacks = [], ...first } = textToSpeech;
  return (speech?.replacements ?? []).flatMap(({ spoken, ipa }, index): readonly SpecProblem[] => {
    if (ipa === undefined) return [];
    const without = [first, ...fallbacks].filter((speaker) => !takesIpa(voiceModelOf(speaker), spoken, language));
    const names = [...new Set(without.map(({ provider }) => provider))].join(' and ');
    const message = `has no effect with ${names}, in this language or for these words: the voice says what spoken spells`;
    return names === '' ? [] : [{ path: `spec.speech.replacements[${index}].ipa`, message }];
  });
}
