/** What goes on while the installation is changed under it: requests, events with their deliveries, and a call. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  readonly url: string;
  readonly apiKey: string;
  /** Runs `parley` with arguments. */
  readonly run: (...args: string[]) => Promise<string>;
  /** A call that lasts as long as a person talks. */
  readonly call: (...args: string[]) => Promise<string>;
}

interface Delivery {
  readonly status: string;
}

export class Load {
  readonly #options: LoadOptions;
  #going = true;
  #requests = 0;
  #events = 0;
  readonly #refused: string[] = [];
  #parts: readonly Promise<unknown>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#parts = [this.#ask(), this.#emit(), this.#options.call('--say', 'And on Saturday?', '--say', 'Thank you, goodbye.')];
    // Told by finish(), however early it happens.
    for (const part of this.#parts) part.catch(() => undefined);
  }

  /** @throws Error when something was lost */
  async finish(): Promise<string> {
    this.#going = false;
    await Promise.all(this.#parts);
    if (this.#refused.length > 0)
      throw new Error(`${this.#refused.length} of ${this.#requests} requests failed: ${this.#refused.slice(0, 5).join('; ')}`);
    const deadline = Date.now() + 60_000;
    for (;;) {
      const deliveries = await this.#deliveries();
      const done = deliveries.filter(({ status }) => status === 'succeeded').length;
      if (done >= this.#events) return `${this.#requests} requests, ${this.#events} events, 1 call`;
      if (Date.now() > deadline) throw new Error(`${this.#events} events were taken, and ${done} deliveries succeeded`);
      await sleep(1000);
    }
  }

  async #deliveries(): Promise<readonly Delivery[]> {
    const answer = JSON.parse(await this.#options.run('webhooks', 'deliveries', 'call-log', '--limit', '100', '--json')) as
      | readonly Delivery[]
      | { readonly items?: readonly Delivery[]; readonly data?: readonly Delivery[] };
    return 'length' in answer ? answer : (answer.items ?? answer.data ?? []);
  }

  /** Each on a connection of its own, as many clients have. */
  async #ask(): Promise<void> {
    const { url, apiKey } = this.#options;
    while (this.#going) {
      this.#requests += 1;
      try {
        const headers = { authorization: `Bearer ${apiKey}`, connection: 'close' };
        const response = await fetch(`${url}/v2/ai-agents/receptionist`, { headers, signal: AbortSignal.timeout(30_000) });
        await response.text();
        if (!response.ok) this.#refused.push(String(response.status));
      } catch (error) {
        const { message, cause } = error as Error;
        this.#refused.push(`${message} ${cause instanceof Error ? cause.message : ''}`);
      }
      await sleep(100);
    }
  }

  async #emit(): Promise<void> {
    while (this.#going && this.#events < 40) {
      await this.#options.run('events', 'emit', '--name', 'CallHandler.CallEnded', '--agent', 'receptionist');
      this.#events += 1;
      await sleep(200);
    }
  }
}
