/** Puts files into a knowledge base and follows them until they can be found. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { UserError } from '../../platform/user-error.ts';
import type { RestClient } from './rest-client.ts';

export interface AddOptions {
  readonly knowledgeBase: string;
  readonly files: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Called at each change of each file's state. */
  readonly onState: (state: DocumentState) => void;
  readonly signal?: AbortSignal;
}

export interface DocumentState {
  readonly file: string;
  readonly document_id: string;
  readonly status: 'processing' | 'completed' | 'failed';
  readonly message: string;
  readonly progress?: { readonly stage: string; readonly done: number; readonly total: number | null };
}

/** Between two looks at a document, in milliseconds. */
const LOOK_EVERY_MS = 300;

/** @returns the last state of each file, in their order */
export async function addFiles(client: RestClient, options: AddOptions): Promise<readonly DocumentState[]> {
  const documents = `/api/v1/knowledge-bases/${encodeURIComponent(options.knowledgeBase)}/documents`;
  const states: DocumentState[] = [];
  for (const file of options.files) {
    const form = new FormData();
    if (options.metadata !== undefined) form.set('metadata', JSON.stringify(options.metadata));
    form.set('file', await openFile(file), basename(file));
    const accepted = (await client.request('POST', `${documents}/file`, form, { signal: options.signal })) as Omit<DocumentState, 'file'>;
    states.push({ ...accepted, file });
  }
  return Promise.all(states.map((state) => follow(client, documents, state, options)));
}

async function follow(
  client: RestClient,
  documents: string,
  first: DocumentState,
  { onState, signal }: AddOptions,
): Promise<DocumentState> {
  let shown = '';
  for (let state = first; ;) {
    const line = `${state.status} ${state.progress?.stage} ${state.progress?.done}`;
    if (line !== shown) onState(state);
    shown = line;
    if (state.status !== 'processing') return state;
    await pause(LOOK_EVERY_MS, undefined, { signal });
    const now = await client.request('GET', `${documents}/${first.document_id}/status`, undefined, { signal });
    state = { ...(now as DocumentState), file: first.file };
  }
}

async function openFile(file: string): Promise<Blob> {
  try {
    return await openAsBlob(file);
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
