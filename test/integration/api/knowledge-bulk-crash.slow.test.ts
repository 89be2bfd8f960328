/** Kills an api in the middle of a bulk upload: files that it answered as accepted are there, and a repetition doubles nothing. */
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { pathToFileURL } from 'node:url';

import { expect, it } from 'vitest';

import { controlPlane } from '../../support/control-plane.ts';
import { makeZip } from '../../support/documents/make-zip.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { freePort } from '../../support/free-port.ts';
import { spawnRole, type RoleProcess } from '../../support/role-process.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { organization, startFacade } from './facade.ts';

interface Result {
  readonly status: string;
  readonly document_id?: string;
  readonly name: string;
}

const all = '/api/v1/knowledge-bases';
const FILES = 3_000;
const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));
const folder = suiteFolder();

async function anApi(): Promise<{ readonly url: string; readonly role: RoleProcess }> {
  const port = await freePort();
  const { kubeconfigs } = await controlPlane();
  const role = spawnRole('api', {
    DATABASE_URL: facade.database.url,
    KUBECONFIG: kubeconfigs.api,
    STORAGE_URL: pathToFileURL(folder).href,
    TEMPORAL_ADDRESS: await temporalAddress(),
    TEMPORAL_TASK_QUEUE: 'parley-bulk-crash',
    PARLEY_API_PORT: String(port),
    PARLEY_LOG_LEVEL: 'error',
    LIVEKIT_URL: 'ws://127.0.0.1:9',
    LIVEKIT_API_KEY: 'none',
    LIVEKIT_API_SECRET: 'none-none-none-none-none-none-none',
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
  return { url, role };
}

/** @param onResults gets the results so far @returns all results, also where the connection broke */
async function send(
  url: string,
  { type, body, onResults }: { readonly type: string; readonly body: Buffer; readonly onResults?: (count: number) => void },
): Promise<readonly Result[]> {
  let text = '';
  await new Promise<void>((resolve) => {
    const sending = request(url, { method: 'POST', agent: false, headers: { 'content-type': type, authorization: `Bearer ${org.key}` } });
    sending.on('error', () => resolve());
    sending.on('response', (answer) => {
      answer.on('error', () => resolve());
      answer.on('close', () => resolve());
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        onResults?.(text.split('\n').length - 1);
      });
    });
    sending.end(body);
  });
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Result);
}

const name = (n: number): string => `note-${n}.md`;
const content = (n: number): string => `# Note ${n}\n\n${'The gate opens at nine. '.repeat(40)}${n}\n`;
const numbers = Array.from({ length: FILES }, (_, n) => n);
const bodies = {
  'application/x-ndjson': Buffer.from(numbers.map((n) => `${JSON.stringify({ name: name(n), content: content(n) })}\n`).join('')),
  'application/zip': makeZip(numbers.map((n) => ({ name: name(n), content: content(n) }))),
} as const;

it.each(Object.entries(bodies))(
  'loses and doubles nothing of %s',
  async (type, body) => {
    const base = (await org.call('POST', all, { name: `Manuals ${type}` })).body.id as string;
    const path = `${all}/${base}/documents/bulk`;
    const accepted = new Map<string, string>();
    for (const killAt of [1, 700, 1_500]) {
      const { url, role } = await anApi();
      let killed: Promise<void> | undefined;
      const results = await send(`${url}${path}`, {
        type,
        body,
        onResults: (count) => {
          if (count >= killAt) killed ??= role.kill();
        },
      });
      await killed;
      expect(results.length).toBeGreaterThanOrEqual(killAt);
      expect(results.length).toBeLessThan(FILES);
      for (const { name: file, status, document_id: id = '' } of results) {
        expect(status).toBe('accepted');
        // What was accepted before is the same document again.
        expect(accepted.get(file) ?? id).toBe(id);
        accepted.set(file, id);
      }
    }
    const { url } = await anApi();
    const results = await send(`${url}${path}`, { type, body });
    expect(results).toHaveLength(FILES);
    for (const { name: file, status, document_id: id } of results) {
      expect(status).toBe('accepted');
      if (accepted.has(file)) expect(accepted.get(file)).toBe(id);
    }
    expect((await org.call('GET', `${all}/${base}`)).body.documents).toMatchObject({ total: FILES });
    const stored = new Set((await readdir(folder, { recursive: true })).map((file) => /doc_[0-9a-f-]{36}/.exec(file)?.[0]));
    for (const { document_id: id } of results) expect(stored.has(id)).toBe(true);
  },
  300_000,
);
