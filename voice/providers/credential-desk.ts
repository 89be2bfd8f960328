/**
 * Keys for the jobs of a voice role, read and remembered by the role itself: a job lives as long as one call, and what it has read is gone with it.
 * So the next call gets a key without asking the Kubernetes API again, and gets it while that is away.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { CredentialError, type CredentialErrorReason, type Credentials, type SecretKeyRef } from '../calls/providers/index.ts';

/** Where a job finds the desk of its role: in its environment, for it is started with the role's. */
export const deskVariable = 'PARLEY_VOICE_CREDENTIAL_DESK';

export interface CredentialDesk {
  /** Of the socket; its folder is for this user alone. */
  readonly path: string;
  close(): Promise<void>;
}

interface Question {
  readonly org: string;
  readonly ref: SecretKeyRef;
}

type Answer = { readonly value: string } | { readonly reason: CredentialErrorReason; readonly message: string };

/** How long a job waits for an answer, in milliseconds: longer than the role waits for the Kubernetes API. */
const patienceMs = 10_000;
/** Names are short. */
const mostBytes = 4_096;

export async function openCredentialDesk({ credentials }: { readonly credentials: Credentials }): Promise<CredentialDesk> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-voice-'));
  const path = join(folder, 'keys');
  const server = createServer((asked, response) => {
    let text = '';
    asked.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > mostBytes) asked.destroy();
    });
    asked.on('error', () => undefined);
    asked.on('end', () => {
      void answerTo(credentials, text).then((answer) => response.end(JSON.stringify(answer)));
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  return {
    path,
    async close() {
      await new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answerTo(credentials: Credentials, text: string): Promise<Answer> {
  try {
    const { org, ref } = JSON.parse(text) as Question;
    return { value: await credentials.read(org, ref) };
  } catch (error) {
    if (error instanceof CredentialError) return { reason: error.reason, message: error.message };
    return { reason: 'unavailable', message: 'the voice role could not read the Secret: see its log' };
  }
}

/** @param options.otherwise asked when there is nobody at the desk */
export function credentialsFromDesk({ path, otherwise }: { readonly path: string; readonly otherwise: Credentials }): Credentials {
  return {
    async read(org, ref) {
      const answer = await ask(path, { org, ref }).catch(() => undefined);
      if (answer === undefined) return otherwise.read(org, ref);
      if ('value' in answer) return answer.value;
      throw new CredentialError(answer.reason, answer.message);
    },
  };
}

function ask(path: string, question: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: path, method: 'POST', path: '/', agent: false, timeout: patienceMs }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject).on('end', () => {
        try {
          resolve(JSON.parse(text) as Answer);
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer'))).on('error', reject);
    sent.end(JSON.stringify(question));
  });
}
