/** What was heard of each speech of the agent. */
import type { llm, voice } from '@livekit/agents';

import { currentSpeech } from '../livekit-patches/index.ts';
import { Synthesis } from './synthesis.ts';

export class HeardSpeech {
  /** A session that closes ends its speeches before it adds their messages. */
  readonly #syntheses = new WeakMap<voice.SpeechHandle, Synthesis>();
  /** Of the speech whose message comes next. */
  #playedSeconds = 0;

  /** For the sound of the speech that the caller's code makes. */
  synthesize(): Synthesis {
    const speech = currentSpeech();
    const synthesis = (speech && this.#syntheses.get(speech)) ?? new Synthesis();
    if (speech !== undefined) this.#syntheses.set(speech, synthesis);
    return synthesis;
  }

  played({ playbackPosition }: voice.PlaybackFinishedEvent): void {
    // In place of those of a speech that leaves no message.
    this.#playedSeconds = playbackPosition;
  }

  /**
   * LiveKit guesses it for answers, and takes all of what was given to `say` as heard. A message of which nothing was heard is emptied.
   * To be called by the code that adds the message.
   */
  keepIn(message: Pick<llm.ChatMessage, 'interrupted' | 'content' | 'textContent' | 'metrics'>): void {
    const speech = currentSpeech();
    const synthesis = speech && this.#syntheses.get(speech);
    const playedSeconds = this.#playedSeconds;
    this.#playedSeconds = 0;
    if (speech !== undefined) this.#syntheses.delete(speech);
    if (message.metrics.startedSpeakingAt === undefined) message.content = [];
    else if (synthesis !== undefined && (message.interrupted || !synthesis.complete)) {
      const heard = synthesis.heardIn(playedSeconds);
      message.content = heard === '' ? [] : [heard];
    }
  }
}
