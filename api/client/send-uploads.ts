/** Sends the requests that carry files. */
import { awakeClock } from '../../platform/clock.ts';
import { retry } from '../../platform/retry.ts';
import { UserError } from '../../platform/user-error.ts';
import { documentsPath } from './document-list.ts';
import { base64Of, isSmall, type PreparedUpload } from './prepare-uploads.ts';
import { RestError, type RestClient } from './rest-client.ts';

export interface SendOptions {
  readonly knowledgeBase: string;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Doesn't store a file again whose content is there. */
  readonly skipExisting: boolean;
}

export type SendOutcome =
  | { readonly documentId: string }
  | { readonly failure: string; /** Set where the server gave no answer. */ readonly unanswered: boolean };

interface EntryAnswer {
  readonly index: number;
  readonly status: 'accepted' | 'failed';
  readonly document_id?: string;
  readonly error?: { readonly message: string };
}

/** Most attempts to send files whose answer did not come; repeating stores none twice. */
const ATTEMPTS = 3;
/** Wait before the next attempt, in milliseconds. */
const AGAIN_AFTER_MS = 1_000;

export class UploadSender {
  readonly #client: RestClient;
  readonly #options: SendOptions;
  /** An older api has no route for many files. */
  #takesMany = true;

  constructor(client: RestClient, options: SendOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** @param onOutcome called once for each file, as its answer comes */
  async send(uploads: readonly PreparedUpload[], onOutcome: (upload: PreparedUpload, outcome: SendOutcome) => void): Promise<void> {
    const open = new Set(uploads);
    const settle = (upload: PreparedUpload, outcome: SendOutcome): void => {
      if (open.delete(upload)) onOutcome(upload, outcome);
    };
    if (this.#takesMany && uploads.every(isSmall)) await this.#sendMany(open, settle);
    for (const upload of open) settle(upload, await this.#sendOne(upload));
  }

  /** Sends many files at once, and leaves in `open` those that have to be sent one by one. */
  async #sendMany(open: ReadonlySet<PreparedUpload>, settle: (upload: PreparedUpload, outcome: SendOutcome) => void): Promise<void> {
    const { knowledgeBase } = this.#options;
    const path = `${documentsPath(knowledgeBase)}/bulk`;
    const attempt = async (): Promise<void> => {
      const sent = await this.#lines([...open], settle);
      if (sent.length === 0) return;
      await this.#client.lines(
        path,
        sent.map(({ line }) => line),
        (answer) => {
          const { index, document_id: documentId, error } = answer as EntryAnswer;
          const upload = sent[index]?.upload;
          if (upload !== undefined) settle(upload, documentId === undefined ? refused(error?.message ?? 'it was refused') : { documentId });
        },
      );
      for (const upload of open) settle(upload, refused('the api has not said what became of it'));
    };
    const delayMs = (error: unknown, failures: number): number | undefined =>
      error instanceof UserError && !(error instanceof RestError) && failures < ATTEMPTS ? AGAIN_AFTER_MS : undefined;
    try {
      await retry(attempt, { delayMs, clock: awakeClock });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (error instanceof RestError && error.status === 405) this.#takesMany = false;
      else for (const upload of open) settle(upload, toFailure(error));
    }
  }

  async #lines(
    uploads: readonly PreparedUpload[],
    settle: (upload: PreparedUpload, outcome: SendOutcome) => void,
  ): Promise<readonly { readonly upload: PreparedUpload; readonly line: string }[]> {
    const { metadata, skipExisting } = this.#options;
    const lines: { upload: PreparedUpload; line: string }[] = [];
    for (const upload of uploads) {
      try {
        const entry = { name: upload.upload.filename, content_base64: await base64Of(upload), metadata };
        lines.push({ upload, line: JSON.stringify(skipExisting ? entry : { ...entry, idempotency_key: upload.key }) });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        settle(upload, toFailure(error));
      }
    }
    return lines;
  }

  async #sendOne({ upload: { filename }, content }: PreparedUpload): Promise<SendOutcome> {
    const { metadata, knowledgeBase } = this.#options;
    const form = new FormData();
    if (metadata !== undefined) form.set('metadata', JSON.stringify(metadata));
    form.set('file', content, filename);
    try {
      const answer = (await this.#client.request('POST', `${documentsPath(knowledgeBase)}/file`, form)) as { readonly document_id: string };
      return { documentId: answer.document_id };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return toFailure(error);
    }
  }
}

function refused(failure: string): SendOutcome {
  return { failure, unanswered: false };
}

function toFailure(error: UserError): SendOutcome {
  return error instanceof RestError ? refused(error.said) : { failure: error.message, unanswered: true };
}
