/**
 * Keeps requests, events with their deliveries, documents, and calls going while the installation is changed under them. All but the calls
 * is done in this one process, at a steady rate: a load that starts programs all the time would measure the machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import { Agent, type Dispatcher, fetch, FormData } from 'undici';

import { wavOf } from '../../platform/wav.ts';
import { anAgent, aKnowledgeBase, aWebhookSubscription } from '../support/builders.ts';
import { callLines, spokenByAgent } from '../support/call-lines.ts';
import { startWebhookSink, type WebhookSink } from '../support/webhook-sink.ts';
import { output } from './output.ts';

interface LoadOptions {
  readonly url: string;
  readonly apiKey: string;
  /** Command of kubectl in the organisation's namespace. */
  readonly kubectl: readonly [string, ...string[]];
  readonly parley: readonly [string, ...string[]];
  /** Environment of `parley`. */
  readonly env: NodeJS.ProcessEnv;
  /** Host at which pods reach a server of this process. */
  readonly host: string;
  readonly work: string;
}

const NAME = 'under-load';
/** Requests a second of each of the two clients, and events a second. */
const PER_SECOND = 5;
/** Milliseconds between two documents, and between two short calls. */
const DOCUMENT_EVERY_MS = 3_000;
const CALL_EVERY_MS = 15_000;
/** Milliseconds in which accepted work has to be done. */
const PATIENCE_MS = 180_000;
const LONG_CALLS = 2;

interface Call {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<number | null>;
}

export class Load {
  readonly #options: LoadOptions;
  readonly #stop = new AbortController();
  readonly #problems: string[] = [];
  readonly #documents: string[] = [];
  readonly #events: string[] = [];
  readonly #long: Call[] = [];
  /** Welcome message of the last acknowledged change. */
  #welcome = '';
  #requests = 0;
  #shortCalls = 0;
  #sink: WebhookSink | undefined;
  #emitter: ChildProcess | undefined;
  #parts: readonly Promise<unknown>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Resolves when everything goes: the calls are being talked in, the events arrive. */
  async start(): Promise<void> {
    const { host } = this.#options;
    const sink = await startWebhookSink({ host });
    this.#sink = sink;
    await this.#apply([
      anAgent(NAME, undefined, { call: { endAfterSilence: '600s', maxDuration: '30m' }, welcomeMessage: 'Hello, how can I help you?' }),
      aKnowledgeBase(NAME),
      aWebhookSubscription(NAME, undefined, { url: sink.url('/load'), scope: { type: 'AgentRefs', agentRefs: [{ name: NAME }] } }),
    ]);
    for (let number = 0; number < LONG_CALLS; number += 1)
      this.#long.push(this.#call('--stay', '--max-seconds', '1700', ...questions(20, this.#pause())));
    for (const call of this.#long) await this.#answered(call, 2);
    this.#emit();
    await until('the first events to arrive', () => sink.ids('/load').size > 0);
    const fresh = new Agent({ pipelining: 0 });
    const kept = new Agent({ connections: 2, keepAliveTimeout: 60_000 });
    this.#parts = [this.#ask(fresh), this.#ask(kept), this.#change(kept), this.#upload(kept), this.#talk()];
  }

  /**
   * Ends what was begun, and waits for what was promised.
   * @throws Error that names what was lost
   */
  async finish(): Promise<string> {
    await this.#end();
    await Promise.all([this.#allDelivered(), this.#allCompleted(), this.#nothingTakenBack()]);
    if (this.#problems.length > 0) throw new Error(`${this.#problems.length} things were lost: ${this.#problems.slice(0, 8).join('; ')}`);
    const calls = `${LONG_CALLS} calls all the time, ${this.#shortCalls} short ones`;
    return `${this.#requests} requests, ${this.#events.length} events, ${this.#documents.length} documents, ${calls}`;
  }

  /** Stops everything, whatever has come of it. */
  async stop(): Promise<void> {
    await this.#end();
    await this.#sink?.close();
  }

  /** Ends the work as its users would. */
  async #end(): Promise<void> {
    this.#stop.abort();
    for (const part of await Promise.allSettled(this.#parts))
      if (part.status === 'rejected') this.#problems.push(`a part of the load ended by itself: ${String(part.reason)}`);
    this.#emitter?.kill('SIGTERM');
    // Calls that were live all the time are talked to once more, and hung up by the one who called.
    for (const call of this.#long.splice(0)) await this.#hangUp(call);
  }

  async #apply(items: readonly object[]): Promise<void> {
    const [file, ...args] = this.#options.kubectl;
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await output([file, ...args, 'apply', '--server-side', '-f', '-'], { input: list });
    const names = [`agent/${NAME}`, `knowledgebase/${NAME}`, `webhooksubscription/${NAME}`];
    await output([file, ...args, 'wait', ...names, '--for=condition=Ready', '--timeout=60s']);
  }

  async #request(what: string, path: string, init: { method?: string; body?: string | FormData; dispatcher: Dispatcher }): Promise<string> {
    this.#requests += 1;
    const { url, apiKey } = this.#options;
    const json = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {};
    try {
      const signal = AbortSignal.timeout(30_000);
      const response = await fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...json }, signal });
      const text = await response.text();
      if (response.ok) return text;
      this.#problems.push(`${what}: ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      const { message, cause } = error as Error;
      this.#problems.push(`${what}: ${message} ${cause instanceof Error ? cause.message : ''}`);
    }
    return '';
  }

  async #steadily(everyMs: number, body: () => Promise<void>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const begun = performance.now();
      await body();
      await sleep(Math.max(0, everyMs - (performance.now() - begun)), undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  async #ask(dispatcher: Dispatcher): Promise<void> {
    await this.#steadily(1000 / PER_SECOND, async () => void (await this.#request('GET', `/v2/ai-agents/${NAME}`, { dispatcher })));
  }

  /** Changes the agent over REST, by force: kubectl has made it. */
  async #change(dispatcher: Dispatcher): Promise<void> {
    let number = 0;
    await this.#steadily(1000, async () => {
      number += 1;
      const welcome = `Hello number ${number}`;
      const body = JSON.stringify({ welcome_message: welcome });
      const answer = await this.#request('PUT', `/v2/ai-agents/${NAME}?force=true`, { method: 'PUT', body, dispatcher });
      if (answer !== '') this.#welcome = welcome;
    });
  }

  async #upload(dispatcher: Dispatcher): Promise<void> {
    await this.#steadily(DOCUMENT_EVERY_MS, async () => {
      const form = new FormData();
      const number = this.#documents.length;
      const text = `Note ${number}. ${`The ladder of shelf ${number} stands in corner ${number % 4}, behind the green door. `.repeat(40)}`;
      form.set('file', new Blob([text]), `note-${number}.txt`);
      const path = `/api/v1/knowledge-bases/${NAME}/documents/file`;
      const answer = await this.#request('upload', path, { method: 'POST', body: form, dispatcher });
      if (answer !== '') this.#documents.push((JSON.parse(answer) as { readonly document_id: string }).document_id);
    });
  }

  #emit(): void {
    const [file, ...args] = this.#options.parley;
    const flags = ['--name', 'CallHandler.CallStarted', '--agent', NAME, '--count', '1000000', '--rate', String(PER_SECOND)];
    const emitter = spawn(file, [...args, 'events', 'emit', ...flags], { env: this.#options.env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#emitter = emitter;
    createInterface({ input: emitter.stdout }).on('line', (line) => this.#events.push((JSON.parse(line) as { readonly id: string }).id));
  }

  #call(...flags: string[]): Call {
    const [file, ...args] = this.#options.parley;
    const command = [...args, 'call', NAME, '--json', ...flags];
    const process = spawn(file, command, { env: this.#options.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const lines: string[] = [];
    for (const input of [process.stdout, process.stderr]) createInterface({ input }).on('line', (line) => lines.push(line));
    return { process, lines, ended: new Promise((done) => process.on('close', done)) };
  }

  /** Makes a file of silence: a user who talks all the time keeps a machine busy with understanding. */
  #pause(): string {
    const file = join(this.#options.work, 'silence.wav');
    writeFileSync(file, wavOf({ samples: new Int16Array(16_000 * 15), sampleRate: 16_000 }));
    return file;
  }

  /** Waits until the agent has spoken that often. */
  async #answered(call: Call, times: number): Promise<void> {
    await until(`the agent's answer number ${times}, instead of ${tail(call)}`, () => {
      if (call.process.exitCode !== null) throw new Error(`a call ended by itself: ${tail(call)}`);
      return spokenByAgent(callLines(call.lines)).length >= times;
    });
  }

  /** Makes calls that begin while pods come and go. */
  async #talk(): Promise<void> {
    await this.#steadily(CALL_EVERY_MS, async () => {
      const call = this.#call('--max-seconds', '60', ...questions(1));
      await call.ended;
      this.#shortCalls += 1;
      this.#judge('a short call', call);
    });
  }

  async #hangUp(call: Call): Promise<void> {
    if (call.process.exitCode === null) {
      call.process.kill('SIGINT');
      await call.ended;
    }
    this.#judge('a call that was live all the time', call);
  }

  #judge(what: string, call: Call): void {
    const result = callLines(call.lines).find(({ type }) => type === 'result');
    if (result?.status === 'ended' && result.reason === 'user_ended_call') return;
    this.#problems.push(`${what} ended as ${result?.status} ${result?.reason} (exit code ${call.process.exitCode}): ${tail(call)}`);
  }

  async #allDelivered(): Promise<void> {
    const missing = () => this.#events.filter((id) => this.#sink?.ids('/load').has(id) !== true);
    await until('', () => missing().length === 0).catch(() => undefined);
    if (missing().length > 0) this.#problems.push(`${missing().length} of ${this.#events.length} events were not delivered`);
  }

  async #allCompleted(): Promise<void> {
    const dispatcher = new Agent();
    for (const id of this.#documents) {
      let state = '';
      await until('', async () => {
        const answer = await this.#request('status', `/api/v1/knowledge-bases/${NAME}/documents/${id}/status`, { dispatcher });
        state = (JSON.parse(answer || '{}') as { readonly status?: string }).status ?? 'unknown';
        return state === 'completed' || state === 'failed';
      }).catch(() => undefined);
      if (state !== 'completed') this.#problems.push(`document ${id} is ${state}`);
    }
    await dispatcher.close();
  }

  /** Checks that the last acknowledged change is what is there. */
  async #nothingTakenBack(): Promise<void> {
    const [file, ...args] = this.#options.kubectl;
    const found = await output([file, ...args, 'get', 'agent', NAME, '-o', 'jsonpath={.spec.welcomeMessage}']);
    if (found !== this.#welcome) this.#problems.push(`the agent says "${found}", and "${this.#welcome}" was acknowledged`);
  }
}

function questions(count: number, pause?: string): string[] {
  return Array.from({ length: count }, () => [
    '--say',
    'What are your opening hours?',
    ...(pause === undefined ? [] : ['--audio', pause]),
  ]).flat();
}

function tail({ lines }: Call): string {
  return lines.slice(-6).join(' | ').slice(-1_500);
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await sleep(250);
  }
}
