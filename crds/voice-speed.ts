/** How fast a provider's voice can be asked to speak. Pure, shared by the requests of calls and the agent's condition. */
import type { SpecProblem } from './spec-problem.ts';

export interface VoiceModel {
  readonly provider: string;
  /** Model, or the voice where that is the model; undefined for the provider's default, which takes a speed. */
  readonly model: string | undefined;
}

interface Range {
  readonly least: number;
  readonly most: number;
}

/** Returns undefined for a model that takes no speed. */
function rangeOf({ provider, model }: VoiceModel): Range | undefined {
  switch (provider) {
    case 'deepgram':
      // The other languages have no such control.
      return model === undefined || /^aura-2-.*-(en|es)$/.test(model) ? { least: 0.7, most: 1.5 } : undefined;
    case 'elevenlabs':
      return { least: 0.7, most: 1.2 };
    case 'cartesia':
      return model === undefined || /^sonic-([3-9]|\d\d)/.test(model) ? { least: 0.6, most: 1.5 } : undefined;
    default:
      return { least: 0.5, most: 2 };
  }
}

/** Returns the speed to ask for, within what the model takes; undefined for its usual one. */
export function speedFor(speed: number | undefined, model: VoiceModel): number | undefined {
  const range = rangeOf(model);
  if (speed === undefined || speed === 1 || range === undefined) return undefined;
  return Math.min(range.most, Math.max(range.least, speed));
}

export interface Speaker {
  readonly provider: string;
  readonly model?: string | undefined;
  readonly voice?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined;
}

/** Returns the model of a voice: with Deepgram the voice is the model. */
export const voiceModelOf = ({ provider, model, voice }: Speaker): VoiceModel => ({
  provider,
  model: model ?? (provider === 'deepgram' ? (voice?.id ?? voice?.name) : undefined),
});

/** Returns remarks on a speed that a voice of the agent doesn't take, or not as it is. */
export function speedRemarks({
  speed,
  fallbacks = [],
  ...first
}: Speaker & { readonly speed?: string | undefined; readonly fallbacks?: readonly Speaker[] | undefined }): readonly SpecProblem[] {
  const wanted = Number(speed ?? 1);
  if (wanted === 1) return [];
  return [first, ...fallbacks].flatMap((speaker, index): readonly SpecProblem[] => {
    const { provider, model } = voiceModelOf(speaker);
    const path = 'spec.textToSpeech.speed';
    const name = `${index === 0 ? '' : 'the fallback '}${provider}${model === undefined ? '' : ` with the model ${model}`}`;
    const taken = speedFor(wanted, { provider, model });
    if (taken === undefined) return [{ path, message: `has no effect with ${name}` }];
    return taken === wanted ? [] : [{ path, message: `is ${taken} with ${name}, which goes no further` }];
  });
}
