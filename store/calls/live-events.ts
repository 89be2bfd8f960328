/** Passes on what happens in live calls while somebody follows it, from the call's job to every api: nothing of it is stored. */
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { ChannelListener, type Listening } from '../channel-listener.ts';
import { Repository } from '../repository.ts';

const CHANNEL = 'parley_call_events';
/** Longest payload of a notification, in bytes: Postgres takes 7,999. */
const LONGEST_PAYLOAD = 7_900;
/** Longest text, in characters: of a longer one its end is passed on. Each takes six bytes at most. */
const LONGEST_TEXT = 1_200;

export type LiveEvent =
  /** Words that may still change. @property id a later event with the same id replaces it */
  | { readonly type: 'words'; readonly id: string; readonly role: 'agent' | 'user'; readonly text: string; readonly final: boolean }
  | { readonly type: 'tool_started'; readonly name: string; readonly at: number }
  | {
      readonly type: 'state';
      readonly agent: 'listening' | 'thinking' | 'speaking';
      /** True while the agent neither speaks nor answers. */
      readonly muted: boolean;
      /** True while the caller is on hold. */
      readonly held: boolean;
      /** True while a person speaks in place of the agent. */
      readonly takenOver: boolean;
    }
  /** The call's log has new rows. */
  | { readonly type: 'stored' };

export interface ListenOptions {
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  readonly onEvents: (callId: string, events: readonly LiveEvent[]) => void;
  /** Called when it listens, for the first time or again: events may have been missed until now. */
  readonly onListening: () => void;
}

export class CallEvents extends Repository {
  /** Passes events on, in their order. Who doesn't listen at this moment misses them. @throws StoreError */
  async publish(callId: string, events: readonly LiveEvent[]): Promise<void> {
    let together: LiveEvent[] = [];
    const payloadOf = (some: readonly LiveEvent[]): string => JSON.stringify([callId, some]);
    for (const event of events.map(bounded)) {
      if (Buffer.byteLength(payloadOf([...together, event])) > LONGEST_PAYLOAD) {
        await this.database.publish(CHANNEL, payloadOf(together));
        together = [];
      }
      together.push(event);
    }
    if (together.length > 0) await this.database.publish(CHANNEL, payloadOf(together));
  }

  /** Listens to the events of all calls, until it is stopped. */
  listen({ clock = systemClock, logger, onEvents, onListening }: ListenOptions): Listening {
    const listener = new ChannelListener({
      database: this.database,
      channel: CHANNEL,
      words: { what: 'events of live calls', meanwhile: 'who follows a call gets what is stored every two seconds meanwhile' },
      clock,
      logger,
      onMessage: (payload) => onEvents(...(JSON.parse(payload) as [string, readonly LiveEvent[]])),
      onListening,
    });
    listener.start();
    return { stop: () => listener.stop() };
  }
}

function bounded(event: LiveEvent): LiveEvent {
  return event.type === 'words' ? { ...event, text: event.text.slice(-LONGEST_TEXT) } : event;
}
