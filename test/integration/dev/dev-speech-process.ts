/** Runs dev-speech as a process of its own, and asks it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { afterAll, expect } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { parleyEntry } from '../../support/stack.ts';

export interface DevSpeech {
  readonly url: string;
  readonly process: ChildProcess;
  readonly log: () => string;
}

/** @returns a function that starts one, ended with the suite */
export function devSpeechProcesses(): (env: NodeJS.ProcessEnv) => Promise<DevSpeech> {
  const running: DevSpeech[] = [];

  async function start(env: NodeJS.ProcessEnv): Promise<DevSpeech> {
    const port = await freePort();
    const child = spawn(process.execPath, [parleyEntry, 'dev-speech', '--port', String(port)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
    const started = { url: `http://127.0.0.1:${port}`, process: child, log: () => log };
    running.push(started);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`it has ended: ${log}`);
      expect((await fetch(`${started.url}/healthz`)).status).toBe(200);
    });
    return started;
  }

  afterAll(async () => {
    for (const { process: child } of running.filter((each) => each.process.exitCode === null)) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      expect((await ended)[0]).toBe(0);
    }
  });

  return start;
}

export async function say({ url }: DevSpeech, input: string, more: Readonly<Record<string, unknown>> = {}): Promise<Buffer> {
  const body = JSON.stringify({ model: 'any', input, voice: 'alloy', response_format: 'wav', ...more });
  const response = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

export async function hear(
  { url }: DevSpeech,
  file: Buffer,
  language = 'en',
): Promise<{ readonly text: string; readonly doubtful: boolean }> {
  const form = new FormData();
  form.append('file', new File([new Uint8Array(file)], 'audio.wav'));
  form.append('model', 'any');
  form.append('language', language);
  const response = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
  expect(response.status).toBe(200);
  return (await response.json()) as { text: string; doubtful: boolean };
}
