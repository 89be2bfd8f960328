/** Puts files into a knowledge base, a few at a time, and follows them until searches find them. */
import { awakeClock, sleep } from '../../platform/clock.ts';
import { UserError } from '../../platform/user-error.ts';
import { documentPages, documentsPath, KnownContent, type ListedDocument } from './document-list.ts';
import { patiently } from './patiently.ts';
import { inRequests, prepare, type DocumentUpload, type PreparedUpload } from './prepare-uploads.ts';
import { RestError, type RestClient } from './rest-client.ts';
import { UploadSender, type SendOutcome } from './send-uploads.ts';

export interface AddedDocument {
  readonly file: string;
  /** null where nothing was uploaded. */
  readonly document_id: string | null;
  /** `skipped`: its content was stored before; `processing`: not followed to its end; `unsent`: left out after an interruption. */
  readonly status: 'completed' | 'skipped' | 'failed' | 'processing' | 'unsent';
  readonly message: string;
}

export interface AddOptions {
  readonly knowledgeBase: string;
  readonly uploads: readonly DocumentUpload[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Leaves out files whose content is stored already; failed documents of the same content are replaced. */
  readonly skipExisting: boolean;
  /** Most requests with uploads at a time. */
  readonly concurrency?: number;
  /** Follows documents until searches find them, unless it is false. */
  readonly wait?: boolean;
  /** Called when the ingestion of an upload has begun. */
  readonly onAccepted?: (file: string) => void;
  /** Called once for each file, in the order in which they end. */
  readonly onEnd: (document: AddedDocument) => void;
  /** Lets the uploads end that have begun, starts no other, and follows none. */
  readonly stop?: AbortSignal | undefined;
}

const CONCURRENCY = 4;
/** Time between two readings of the list, in milliseconds, for each page of it that has to be read: two requests a second in all. */
const LOOK_EVERY_MS = 500;
/** Requests in a row without an answer, after which the rest is left out. */
const UNANSWERED_IN_A_ROW = 4;

/**
 * @returns one document for each upload, in their order
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
  readonly #known = new KnownContent();
  readonly #ended = new Map<DocumentUpload, AddedDocument>();
  /** Accepted uploads that haven't ended, by document id: two files of the same content may wait for one document. */
  readonly #followed = new Map<string, { readonly upload: DocumentUpload; readonly known: boolean }[]>();
  /** Page of the list before which there is no followed document. */
  #from: string | undefined;
  #uploading = true;
  #unanswered = 0;
  #pagesRead = 1;
  readonly #sender: UploadSender;
  /** By content: the outcome of this run's first file of it, and the other files of the same content, which wait for that outcome. */
  readonly #firsts = new Map<string, { outcome?: SendOutcome; readonly twins: DocumentUpload[] }>();

  constructor(client: RestClient, options: AddOptions) {
    this.#client = client;
    this.#options = options;
    this.#sender = new UploadSender(client, options);
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
    const { concurrency = CONCURRENCY } = this.#options;
    const requests = inRequests(this.#prepared());
    const worker = async (): Promise<void> => {
      for (let next = await requests.next(); next.done !== true; next = await requests.next()) {
        if (this.#isInterrupted || this.#isUnanswered) return;
        await this.#send(next.value);
      }
    };
    // This runs also after a failure: nothing would end the watching otherwise.
    await Promise.all(Array.from({ length: concurrency }, worker)).finally(() => (this.#uploading = false));
  }

  async follow(): Promise<void> {
    const read = patiently(awakeClock);
    const isWanted = this.#options.wait !== false;
    while (isWanted && !this.#isInterrupted && (this.#uploading || this.#followed.size > 0)) {
      await sleep(awakeClock, LOOK_EVERY_MS * this.#pagesRead, this.#options.stop).catch(() => undefined);
      if (this.#followed.size === 0 || this.#isInterrupted) continue;
      try {
        await read(() => this.#look());
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        for (const [id] of this.#followed) this.#settle(id, 'processing', `no longer followed: ${error.message}`);
      }
    }
    if (isWanted) this.#leave();
  }

  results(): readonly AddedDocument[] {
    this.#leave();
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

  /** Yields the files that have to be uploaded, in order, and settles all others on the way. */
  async *#prepared(): AsyncGenerator<PreparedUpload> {
    for (const upload of this.#options.uploads) {
      if (this.#isInterrupted || this.#isUnanswered) return;
      try {
        const prepared = await prepare(upload);
        if (await this.#isToBeSent(prepared)) yield prepared;
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        this.#end(upload, null, 'failed', error instanceof RestError ? error.said : error.message);
      }
    }
  }

  async #isToBeSent({ upload, sha256 }: PreparedUpload): Promise<boolean> {
    if (!this.#options.skipExisting) return true;
    const there = this.#known.find(sha256);
    if (there?.status === 'completed') {
      this.#end(upload, there.document_id, 'skipped', `its content is there as ${there.filename}`);
      return false;
    }
    if (there !== undefined) {
      this.#accepted(upload, there.document_id, true);
      return false;
    }
    const first = this.#firsts.get(sha256);
    if (first !== undefined) {
      first.twins.push(upload);
      this.#settleTwins(sha256);
      return false;
    }
    for (const id of this.#known.takeFailed(sha256)) await this.#delete(id);
    this.#firsts.set(sha256, { twins: [] });
    return true;
  }

  async #send(uploads: readonly PreparedUpload[]): Promise<void> {
    let isUnanswered = false;
    await this.#sender.send(uploads, ({ upload, sha256 }, outcome) => {
      if ('documentId' in outcome) this.#accepted(upload, outcome.documentId, false);
      else this.#end(upload, null, 'failed', outcome.failure);
      isUnanswered = 'unanswered' in outcome && outcome.unanswered;
      const first = this.#firsts.get(sha256);
      if (first === undefined) return;
      first.outcome = outcome;
      this.#settleTwins(sha256);
    });
    this.#unanswered = isUnanswered ? this.#unanswered + 1 : 0;
  }

  /** Settles the files that have the content of another file: they share its document. */
  #settleTwins(sha256: string): void {
    const { outcome, twins = [] } = this.#firsts.get(sha256) ?? {};
    if (outcome === undefined) return;
    for (const upload of twins.splice(0)) {
      if ('documentId' in outcome) this.#accepted(upload, outcome.documentId, true);
      else this.#end(upload, null, 'failed', outcome.failure);
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
    let pages = 0;
    for await (const { token, documents } of documentPages(this.#client, this.#options.knowledgeBase, this.#from)) {
      pages += 1;
      for (const document of documents) {
        unseen.delete(document.document_id);
        this.#see(document);
      }
      if (!isWaiting) from = token;
      isWaiting ||= documents.some(({ document_id: id }) => this.#followed.has(id));
    }
    this.#from = from;
    this.#pagesRead = Math.max(1, pages);
    for (const id of unseen) await this.#ask(id);
  }

  /** Asks for a document that the list doesn't show: it was deleted, or committed before others that were created later. */
  async #ask(id: string): Promise<void> {
    try {
      this.#see((await this.#client.request('GET', `${documentsPath(this.#options.knowledgeBase)}/${id}`)) as ListedDocument);
    } catch (error) {
      if (!(error instanceof RestError && error.status === 404)) throw error;
      this.#settle(id, 'failed', 'deleted while it was being ingested');
    }
  }

  /** Settles the documents that are no longer followed. */
  #leave(): void {
    for (const [id] of this.#followed) this.#settle(id, 'processing', 'being ingested; not followed to its end');
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
