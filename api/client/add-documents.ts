/** Puts files into a knowledge base, a few at a time, and follows them until searches find them. */
import { createHash } from 'node:crypto';

import { awakeClock, sleep, type Clock } from '../../platform/clock.ts';
import { causeOf, UserError } from '../../platform/user-error.ts';
import { judgeFileName } from '../knowledge-bases/file-name.ts';
import { fileExtensions, maxFileBytes } from '../knowledge-bases/schema.ts';
import { documentPages, documentsPath, KnownContent, type ListedDocument } from './document-list.ts';
import { RestError, type RestClient } from './rest-client.ts';

export interface DocumentUpload {
  /** As the person knows it. */
  readonly file: string;
  /** As the document is called. */
  readonly filename: string;
  /** @throws UserError when it cannot be read */
  readonly open: () => Promise<Blob>;
}

export interface AddedDocument {
  readonly file: string;
  /** null: nothing was uploaded. */
  readonly document_id: string | null;
  /** `skipped`: its content was there before; `processing`: uploaded, and not followed to its end; `unsent`: left out after an interruption. */
  readonly status: 'completed' | 'skipped' | 'failed' | 'processing' | 'unsent';
  readonly message: string;
}

export interface AddOptions {
  readonly knowledgeBase: string;
  readonly uploads: readonly DocumentUpload[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Leaves out what is there with the same content; what has failed with the same content is replaced. */
  readonly skipExisting: boolean;
  /** Uploads at a time. */
  readonly concurrency?: number;
  /** An upload has begun to be ingested. */
  readonly onAccepted?: (file: string) => void;
  /** Called once for each file, in the order in which they end. */
  readonly onEnd: (document: AddedDocument) => void;
  /** Lets the uploads end that have begun, starts no other, and follows none. */
  readonly stop?: AbortSignal | undefined;
  readonly clock?: Clock;
}

const CONCURRENCY = 4;
/** Between two looks at the list, in milliseconds. */
const LOOK_EVERY_MS = 500;
/** How long the list may be unreadable while documents are followed, in milliseconds. */
const UNREADABLE_FOR_MS = 60_000;
/** Uploads in a row that got no answer, after which the rest is left. */
const UNANSWERED_IN_A_ROW = 4;

/**
 * @returns one for each upload, in their order
 * @throws UserError when the list of documents cannot be read at the start: nothing was uploaded then
 */
export async function addDocuments(client: RestClient, options: AddOptions): Promise<readonly AddedDocument[]> {
  const addition = new Addition(client, options);
  await addition.readList();
  await Promise.all([addition.upload(), addition.follow()]);
  return addition.results();
}

class Addition {
  readonly #client: RestClient;
  readonly #options: AddOptions;
  readonly #clock: Clock;
  readonly #known = new KnownContent();
  readonly #ended = new Map<DocumentUpload, AddedDocument>();
  /** Accepted and not at an end, by document id: two files of the same content may wait for one document. */
  readonly #followed = new Map<string, { readonly upload: DocumentUpload; readonly known: boolean }[]>();
  /** Page of the list before which nothing is followed. */
  #from: string | undefined;
  #uploading = true;
  #unanswered = 0;

  constructor(client: RestClient, options: AddOptions) {
    this.#client = client;
    this.#options = options;
    this.#clock = options.clock ?? awakeClock;
  }

  async readList(): Promise<void> {
    let unsettled: string | undefined;
    let isUnsettled = false;
    for await (const { token, documents } of documentPages(this.#client, this.#options.knowledgeBase)) {
      for (const document of documents) this.#known.add(document);
      this.#from = token;
      if (!isUnsettled && documents.some(({ status }) => status === 'processing')) [unsettled, isUnsettled] = [token, true];
    }
    if (isUnsettled) this.#from = unsettled;
  }

  async upload(): Promise<void> {
    const { uploads, concurrency = CONCURRENCY } = this.#options;
    const queue = uploads.values();
    const worker = async (): Promise<void> => {
      for (const upload of queue) {
        if (this.#isInterrupted || this.#isUnanswered) return;
        await this.#uploadOne(upload);
      }
    };
    // Also after a failure: nothing would end the watching otherwise.
    await Promise.all(Array.from({ length: concurrency }, worker)).finally(() => (this.#uploading = false));
  }

  async follow(): Promise<void> {
    let readableAt = this.#clock.monotonic();
    while (!this.#isInterrupted && (this.#uploading || this.#followed.size > 0)) {
      await sleep(this.#clock, LOOK_EVERY_MS, this.#options.stop).catch(() => undefined);
      if (this.#followed.size === 0 || this.#isInterrupted) continue;
      try {
        await this.#look();
        readableAt = this.#clock.monotonic();
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        if (this.#clock.monotonic() - readableAt < UNREADABLE_FOR_MS && !isRefusal(error)) continue;
        for (const [id] of this.#followed) this.#settle(id, 'processing', `no longer followed: ${error.message}`);
      }
    }
    for (const [id] of this.#followed) this.#settle(id, 'processing', 'being ingested; not followed to its end');
  }

  results(): readonly AddedDocument[] {
    const message = this.#isUnanswered ? 'not uploaded, as the api did not answer' : 'not uploaded';
    const unsent = { document_id: null, status: 'unsent', message } as const;
    return this.#options.uploads.map((upload) => this.#ended.get(upload) ?? { file: upload.file, ...unsent });
  }

  get #isInterrupted(): boolean {
    return this.#options.stop?.aborted === true;
  }

  get #isUnanswered(): boolean {
    return this.#unanswered >= UNANSWERED_IN_A_ROW;
  }

  async #uploadOne(upload: DocumentUpload): Promise<void> {
    try {
      const content = await openChecked(upload);
      const sha256 = await sha256Of(content);
      const twin = this.#options.skipExisting ? this.#known.find(sha256) : undefined;
      if (twin?.status === 'completed') return this.#end(upload, twin.document_id, 'skipped', `its content is there as ${twin.filename}`);
      if (twin !== undefined) return this.#accepted(upload, twin.document_id, true);
      if (this.#options.skipExisting) for (const id of this.#known.takeFailed(sha256)) await this.#delete(id);
      this.#accepted(upload, await this.#send(upload, content), false);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#end(upload, null, 'failed', error instanceof RestError ? error.said : error.message);
    }
  }

  async #send({ filename }: DocumentUpload, content: Blob): Promise<string> {
    const { metadata, knowledgeBase } = this.#options;
    const form = new FormData();
    if (metadata !== undefined) form.set('metadata', JSON.stringify(metadata));
    form.set('file', content, filename);
    try {
      const answer = (await this.#client.request('POST', `${documentsPath(knowledgeBase)}/file`, form)) as { readonly document_id: string };
      this.#unanswered = 0;
      return answer.document_id;
    } catch (error) {
      this.#unanswered = error instanceof RestError ? 0 : this.#unanswered + 1;
      throw error;
    }
  }

  async #delete(id: string): Promise<void> {
    await this.#client.request('DELETE', `${documentsPath(this.#options.knowledgeBase)}/${id}`).catch((error: unknown) => {
      if (!(error instanceof RestError && error.status === 404)) throw error;
    });
  }

  #accepted(upload: DocumentUpload, id: string, known: boolean): void {
    this.#followed.set(id, [...(this.#followed.get(id) ?? []), { upload, known }]);
    this.#options.onAccepted?.(upload.file);
  }

  async #look(): Promise<void> {
    const unseen = new Set(this.#followed.keys());
    let from: string | undefined;
    let isWaiting = false;
    for await (const { token, documents } of documentPages(this.#client, this.#options.knowledgeBase, this.#from)) {
      for (const document of documents) {
        unseen.delete(document.document_id);
        this.#see(document);
      }
      if (!isWaiting) from = token;
      isWaiting ||= documents.some(({ document_id: id }) => this.#followed.has(id));
    }
    this.#from = from;
    for (const id of unseen) await this.#ask(id);
  }

  /** Of a document that the list doesn't show from where it was read: deleted, or committed before others that were created later. */
  async #ask(id: string): Promise<void> {
    try {
      this.#see((await this.#client.request('GET', `${documentsPath(this.#options.knowledgeBase)}/${id}`)) as ListedDocument);
    } catch (error) {
      if (!(error instanceof RestError && error.status === 404)) throw error;
      this.#settle(id, 'failed', 'deleted while it was being ingested');
    }
  }

  #see({ document_id: id, status, message }: ListedDocument): void {
    if (status !== 'processing') this.#settle(id, status, message);
  }

  #settle(id: string, status: 'completed' | 'failed' | 'processing', message: string): void {
    for (const { upload, known } of this.#followed.get(id) ?? [])
      this.#end(upload, id, known && status === 'completed' ? 'skipped' : status, message);
    this.#followed.delete(id);
  }

  #end(upload: DocumentUpload, id: string | null, status: AddedDocument['status'], message: string): void {
    const ended = { file: upload.file, document_id: id, status, message };
    this.#ended.set(upload, ended);
    this.#options.onEnd(ended);
  }
}

/** The answer won't be another one later. */
function isRefusal(error: UserError): boolean {
  return error instanceof RestError && error.status < 500;
}

/** Refused here, too: a server that ends a large upload early is not always heard. */
async function openChecked({ filename, open }: DocumentUpload): Promise<Blob> {
  const content = await open();
  const judged = judgeFileName(filename);
  if (judged.verdict === 'unusable') throw new UserError(judged.reason);
  if (judged.verdict !== 'sound') {
    throw new UserError(`files of this kind are not read: only ${fileExtensions.map((each) => `.${each}`).join(', ')}`);
  }
  if (content.size > maxFileBytes) {
    throw new UserError(`it has ${Math.ceil(content.size / 1024 / 1024)} MB, and at most ${maxFileBytes / 1024 / 1024} MB are taken`);
  }
  return content;
}

/** @throws UserError for a file that has changed since it was opened */
async function sha256Of(content: Blob): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of content.stream()) hash.update(chunk);
  } catch (error) {
    throw new UserError(`it cannot be read: ${causeOf(error)}`, { cause: error });
  }
  return hash.digest('hex');
}
