/** A voice for text, where everything is heard at once. */
import type { CreateVoice } from './ports.ts';

export const textVoice: CreateVoice = ({ report }) => {
  const characters = new Map<number, number>();
  const silent = (speech: number): void => {
    characters.delete(speech);
    report({ type: 'silent', speech });
  };
  return {
    say(speech, text) {
      characters.set(speech, (characters.get(speech) ?? 0) + text.length);
      report({ type: 'heard', speech, characters: characters.get(speech)! });
    },
    sayNoMore: silent,
    cancel: silent,
    // A speech in text is over at once: nothing can be stopped.
    pause: () => undefined,
    resume: () => undefined,
  };
};
