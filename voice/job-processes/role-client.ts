/** Lets a job process use the services of its role. */
import type { Clock } from '../../platform/clock.ts';
import type { FromJobProcess, RoleServices, ServiceName, ToJobProcess } from './messages.ts';

/** The part of Node's `process` that a child of the agent server uses. */
export interface ChildOfServer {
  readonly connected: boolean;
  send?(message: FromJobProcess): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'uncaughtException', listener: (error: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** Longest wait for the role, in milliseconds: longer than the role waits for the Kubernetes API. */
const TIMEOUT_MS = 10_000;

export class RoleClient {
  readonly #process: ChildOfServer;
  readonly #clock: Clock;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  constructor({ process, clock }: { readonly process: ChildOfServer; readonly clock: Clock }) {
    this.#process = process;
    this.#clock = clock;
    process.on('message', (message) => this.#receive(message as ToJobProcess));
    process.once('disconnect', () => {
      for (const { reject } of this.#asked.values()) reject(new Error('the voice role is gone'));
    });
  }

  /** Asks the role for a service. @throws Error where the role does not answer in time, is gone, or fails */
  async ask<N extends ServiceName>(service: N, ...args: Parameters<RoleServices[N]>): Promise<Awaited<ReturnType<RoleServices[N]>>> {
    if (!this.#process.connected) throw new Error('the voice role is gone');
    const id = (this.#lastId += 1);
    const answer = Promise.withResolvers<unknown>();
    this.#asked.set(id, answer);
    const late = this.#clock.after(TIMEOUT_MS, () => answer.reject(new Error(`the voice role has not answered ${service} in time`)));
    this.#process.send?.({ case: 'ask', id, service, args });
    try {
      return (await answer.promise) as Awaited<ReturnType<RoleServices[N]>>;
    } finally {
      late.cancel();
      this.#asked.delete(id);
    }
  }

  #receive(message: ToJobProcess): void {
    if (message.case !== 'answer') return;
    const answer = this.#asked.get(message.id);
    if (message.error === undefined) answer?.resolve(message.value);
    else answer?.reject(new Error(message.error));
  }
}
