/** Learns whether the API server answers, from every request, and from a probe when there are none. */
import { Gauge, type Registry } from 'prom-client';

import { KubeError } from '../../kube/error.ts';
import type { KubeRequest, Transport } from '../../kube/transport.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { currentRequest } from '../http/request-state.ts';
import { KUBERNETES_TIMEOUTS, type KubernetesTimeouts } from './kubernetes-timeouts.ts';

export interface AvailabilityOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly kubernetesTimeouts?: KubernetesTimeouts | undefined;
}

/** Silence after which the server is probed, in milliseconds. */
const ASK_AFTER_MS = 2_000;
/** Time between probes while the server is unavailable, in milliseconds. */
const ASK_AGAIN_MS = 1_000;
/** Probes in a row that have to fail before the server counts as away. */
const QUESTIONS = 2;

/**
 * Wraps the facade's transport. While the API server is unavailable it fails at once, so that no request waits in vain; requests under way
 * are aborted. It probes every second whether the server is back.
 */
export class ApiServerAvailability {
  readonly transport: Transport;
  readonly #options: AvailabilityOptions;
  readonly #timeouts: KubernetesTimeouts;
  readonly #stop = new AbortController();
  readonly #regained = new Set<() => void>();
  readonly #answers = new Set<() => void>();
  #lost = false;
  #whileHere = new AbortController();
  #checking: Promise<void> | undefined;
  #lastAnswer: number | undefined;
  #running: Promise<void> | undefined;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#timeouts = options.kubernetesTimeouts ?? KUBERNETES_TIMEOUTS;
    const { transport } = options;
    this.transport = {
      server: transport.server,
      request: <T>(request: KubeRequest) => this.#request<T>(request),
      stream: (request) => transport.stream(request),
      close: () => transport.close(),
    };
    const up: Gauge = new Gauge({
      name: 'parley_kubernetes_reachable',
      help: '1 while the API server answers, 0 while answers come from the cache.',
      registers: [],
      collect: () => {
        up.set(this.#lost ? 0 : 1);
      },
    });
    options.registry.registerMetric(up);
  }

  /** Set while the server doesn't answer. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Aborts when the server no longer answers; a new signal replaces it once the server does again. */
  get whileHere(): AbortSignal {
    return this.#whileHere.signal;
  }

  /** Milliseconds since the server last answered; Infinity when it never did. */
  get silentMs(): number {
    return this.#lastAnswer === undefined ? Infinity : this.#options.clock.monotonic() - this.#lastAnswer;
  }

  /** Notes that the answer of the present request rests on the state when the server last answered. */
  answerFromMemory(): void {
    currentRequest()?.answeredFromMemory(Math.ceil(this.silentMs / 1000));
  }

  onAnswer(listener: () => void): void {
    this.#answers.add(listener);
  }

  onRegained(listener: () => void): void {
    this.#regained.add(listener);
  }

  start(): void {
    this.#running ??= this.#watch(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stopped'));
    await this.#running;
  }

  async #request<T>(request: KubeRequest): Promise<T> {
    if (this.#lost) throw unreachable(this.#options.transport.server);
    const state = currentRequest();
    const signals = [this.#whileHere.signal, state?.signal, request.signal].filter((signal) => signal !== undefined);
    const send = (): Promise<T> =>
      this.#observed(
        this.#options.transport.request<T>({ timeoutMs: this.#timeouts.answerMs, ...request, signal: AbortSignal.any(signals) }),
      );
    return state === undefined ? send() : state.timed('kubernetes', send);
  }

  async #observed<T>(answer: Promise<T>): Promise<T> {
    try {
      const result = await answer;
      this.#answered();
      return result;
    } catch (error) {
      if (error instanceof KubeError && error.code !== 0) this.#answered();
      else if (!(error instanceof KubeError && error.reason === 'Aborted')) void this.#check();
      throw error;
    }
  }

  async #watch(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await sleep(this.#options.clock, this.#lost ? ASK_AGAIN_MS : ASK_AFTER_MS, stop).catch(() => undefined);
      if (!stop.aborted && (this.#lost || this.silentMs >= ASK_AFTER_MS)) await this.#check();
    }
  }

  /** Probes the server: a single failed request proves little, and so does silence. */
  #check(): Promise<void> {
    this.#checking ??= this.#ask().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #ask(): Promise<void> {
    for (let question = 0; question < (this.#lost ? 1 : QUESTIONS); question += 1) {
      const since = this.#lastAnswer;
      try {
        // Any client with credentials may ask for the version, and even a refusal is an answer.
        const signal = this.#stop.signal;
        await this.#options.transport.request({
          method: 'GET',
          path: '/version',
          timeoutMs: this.#timeouts.probeMs,
          idempotent: false,
          signal,
        });
        return this.#answered();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (error instanceof KubeError && error.code !== 0) return this.#answered();
        // The server has answered another request meanwhile.
        if (this.#lastAnswer !== since) return;
      }
    }
    if (this.#lost) return;
    this.#lost = true;
    this.#options.logger.warn('the API server does not answer: reads come from the cache, writes are refused');
    this.#whileHere.abort(unreachable(this.#options.transport.server));
  }

  #answered(): void {
    this.#lastAnswer = this.#options.clock.monotonic();
    for (const listener of this.#answers) listener();
    if (!this.#lost) return;
    this.#lost = false;
    this.#whileHere = new AbortController();
    this.#options.logger.info('the API server answers again');
    for (const listener of this.#regained) listener();
  }
}

/** Returns whether the server is unavailable or overloaded, which says nothing about the requested object. */
export function isAway(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 0 || error.code >= 500);
}

function unreachable(server: string): KubeError {
  return new KubeError({ code: 0, reason: 'Unreachable', message: `the API server ${server} does not answer at the moment` });
}
