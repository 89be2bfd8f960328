/** What the agent is saying and has yet to say. */
import { voice } from '@livekit/agents';

import { withTimeout, type Clock } from '../../platform/clock.ts';
import { currentSpeech, settled } from '../livekit-patches/index.ts';

const events = voice.AgentSessionEventTypes;

export class SpeechQueue {
  readonly #session: voice.AgentSession;
  readonly #clock: Clock;
  /** Speech that is not over. */
  readonly #open = new Set<voice.SpeechHandle>();
  /** Of that, the messages of tools. */
  readonly #announced = new Set<voice.SpeechHandle>();

  constructor({ session, clock }: { readonly session: voice.AgentSession; readonly clock: Clock }) {
    this.#session = session;
    this.#clock = clock;
    session.on(events.SpeechCreated, ({ speechHandle }) => {
      this.#open.add(speechHandle);
      speechHandle.addDoneCallback(() => this.#open.delete(speechHandle));
    });
  }

  /** Whether there is speech that was not interrupted; it may be paused. */
  get goesOn(): boolean {
    return [...this.#open].some((handle) => !handle.interrupted);
  }

  /** Resolves when the text was said, or interrupted. */
  announce(text: string): Promise<void> {
    const handle = this.#session.say(text);
    this.#announced.add(handle);
    handle.addDoneCallback(() => this.#announced.delete(handle));
    return doneOf(handle);
  }

  /** Resolves when all is said, pending answers of the model included, or when the time is over. */
  async all({ withinMs }: { readonly withinMs: number }): Promise<void> {
    await withTimeout(this.#clock, withinMs, Promise.all([...this.#open].map(doneOf)));
  }

  /** Ends what is being said and what waits, unless it has to be heard. */
  interrupt(): void {
    for (const speech of this.#open) if (speech.allowInterruptions && !speech.interrupted && !speech.done()) speech.interrupt();
  }

  /** Resolves when what was heard of other speech that is interrupted is in the history. */
  async interrupted(): Promise<void> {
    const own = currentSpeech();
    await Promise.all([...this.#open].filter((speech) => speech !== own && speech.interrupted && !speech.done()).map(settled));
  }

  /**
   * Resolves when the announcements are over and the agent is silent. For tools, whose own turn ends only after them.
   */
  async announced({ withinMs }: { readonly withinMs: number }): Promise<void> {
    await withTimeout(this.#clock, withinMs, Promise.all([...[...this.#announced].map(doneOf), this.#silent()]));
  }

  async #silent(): Promise<void> {
    if (this.#session.agentState !== 'speaking') return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const onChange = ({ newState }: voice.AgentStateChangedEvent): void => {
      if (newState !== 'speaking') resolve();
    };
    this.#session.on(events.AgentStateChanged, onChange);
    await promise;
    this.#session.off(events.AgentStateChanged, onChange);
  }
}

/** Not `waitForPlayout`, which refuses to wait inside a tool. */
function doneOf(handle: voice.SpeechHandle): Promise<void> {
  if (handle.done()) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  handle.addDoneCallback(() => resolve());
  return promise;
}
