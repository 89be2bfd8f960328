/** Carries out commands for a call that goes on: the API stores each, and wakes the job by a message in the room. */
import { RoomEvent, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import { CONTROL_TOPIC } from '../../calls/names.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRef, CallStore, CommandRecord } from '../../store/index.ts';
import type { TransferOutcome, TransferTarget } from '../tools/tool-host.ts';
import { persist } from './persist.ts';

/** Longest time for storing what came of a command, in milliseconds. */
const OUTCOME_MS = 20_000;

/** The conversation, as commands change it. Each returns why it can't; undefined where it does. */
export interface Controlled {
  tell(text: string, options: { readonly interrupt: boolean }): string | undefined;
  instruct(text: string): string | undefined;
  mute(on: boolean): string | undefined;
  transfer(target: TransferTarget): Promise<TransferOutcome>;
}

export interface LiveControlOptions {
  readonly room: Room;
  readonly commands: Pick<CallStore['commands'], 'take' | 'finish'>;
  readonly call: CallRef;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LiveControl {
  readonly #options: LiveControlOptions;
  #controlled: Controlled | undefined;
  #redact: ((text: string) => string) | undefined;
  #working: Promise<void> | undefined;
  /** True if a message has come since the last look for commands. */
  #woken = false;

  constructor(options: LiveControlOptions) {
    this.#options = options;
    options.room.on(RoomEvent.DataReceived, this.#onData);
  }

  /** Carries out commands from now on. @param redact takes personal data out of what is kept of their words, where it is to be taken out */
  begin(controlled: Controlled, redact?: (text: string) => string): void {
    this.#controlled = controlled;
    this.#redact = redact;
    this.#wake();
  }

  /** Takes no command any more. Resolves when what came of the last one is stored. */
  async close(): Promise<void> {
    this.#options.room.off(RoomEvent.DataReceived, this.#onData);
    this.#controlled = undefined;
    await this.#working;
  }

  readonly #onData = (_payload: Uint8Array, sender: RemoteParticipant | undefined, _kind: unknown, topic?: string): void => {
    // Only the API, which is no participant, may send this.
    if (sender === undefined && topic === CONTROL_TOPIC) this.#wake();
  };

  #wake(): void {
    this.#woken = true;
    if (this.#controlled === undefined) return;
    this.#working ??= this.#work().finally(() => (this.#working = undefined));
  }

  /** Carries out the commands that wait, one after the other. Never throws: the API asks again for a command that was not taken. */
  async #work(): Promise<void> {
    const { commands, call, logger } = this.#options;
    try {
      while (this.#woken) {
        this.#woken = false;
        for (let controlled = this.#controlled; controlled !== undefined; controlled = this.#controlled) {
          const command = await commands.take(call);
          if (command === undefined) break;
          await this.#finish(command, await this.#carryOut(command, controlled));
        }
      }
    } catch (err) {
      logger.warn({ err }, 'failed to look for commands of the call; looking again with the next message');
    }
  }

  /** @returns why it could not be carried out; undefined where it was */
  async #carryOut({ kind, body }: CommandRecord, controlled: Controlled): Promise<string | undefined> {
    switch (kind) {
      case 'say':
        return controlled.tell(String(body['text']), { interrupt: body['interrupt'] === true });
      case 'instructions':
        return controlled.instruct(String(body['text']));
      case 'mute':
        return controlled.mute(body['muted'] === true);
      case 'transfer': {
        const mode = body['mode'] === 'warm' ? 'Warm' : 'Cold';
        const outcome = await controlled.transfer({ to: String(body['to']), mode, callerID: 'Agent' });
        return outcome.outcome === 'done' ? undefined : outcome.message;
      }
      default:
        return `this version of the voice process knows no command ${kind}`;
    }
  }

  async #finish(
    { id: commandId, kind, body, createdBy, createdByKey, org, callId }: CommandRecord,
    reason: string | undefined,
  ): Promise<void> {
    const { commands, clock, logger } = this.#options;
    const line = { commandId, kind, user: createdBy, keyId: createdByKey };
    // The reason, which the row has, may name the number that a call was to be transferred to.
    logger.info(line, reason === undefined ? 'carried out a command' : 'refused a command');
    const { text } = body;
    const kept = typeof text === 'string' && this.#redact !== undefined ? { ...body, text: this.#redact(text) } : undefined;
    const store = (): Promise<void> => commands.finish({ org, callId, id: commandId }, reason, kept);
    await persist(store, { clock, logger, withinMs: OUTCOME_MS, what: 'store what came of a command' }).catch((err: unknown) =>
      logger.error({ err, commandId }, 'failed to store what came of a command'),
    );
  }
}
