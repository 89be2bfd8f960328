/** Outcomes of one address of a website. */

export type PageFailureCode =
  /** The address itself is forbidden: spelling, scheme, port, or not on the public internet. */
  | 'forbidden_address'
  /** The site's robots.txt forbids to read it, or can't be had. */
  | 'robots'
  /** The server can't be reached, or its answer can't be read. */
  | 'unreachable'
  | 'timeout'
  /** The server answered, but not with the page. */
  | 'http_status'
  | 'redirect'
  | 'too_large'
  | 'unsupported_content'
  | 'empty'
  /** The address redirects to a page that another address of the list has led to already. */
  | 'duplicate';

export interface FetchedPage {
  readonly status: 'fetched';
  /** Index in the requested list. */
  readonly index: number;
  /** The requested address. */
  readonly url: string;
  /** The address after redirects. */
  readonly finalUrl: string;
  /** The server's content type; absent where it names none. */
  readonly contentType?: string;
  /** Charset of the content type, in lower case. */
  readonly charset?: string;
  /** Extension of the parser that reads it. */
  readonly extension: 'html' | 'pdf' | 'txt';
  readonly body: Buffer;
}

export interface FailedPage {
  readonly status: 'failed';
  readonly index: number;
  readonly url: string;
  readonly finalUrl: string;
  readonly code: PageFailureCode;
  /** The message for a person: what happened, to which address, and what to do. */
  readonly reason: string;
}

export type PageResult = FetchedPage | FailedPage;

/** Ends the fetching of one page; it becomes a {@link FailedPage}. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly code: PageFailureCode;

  constructor(code: PageFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const EXTENSION_OF_TYPE: Readonly<Record<string, FetchedPage['extension']>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/pdf': 'pdf',
  'application/x-pdf': 'pdf',
  'text/plain': 'txt',
  'text/markdown': 'txt',
  'text/x-markdown': 'txt',
  'text/csv': 'txt',
  'text/tab-separated-values': 'txt',
};

/** `Accept`: anything, but preferably these. */
export const ACCEPTED_TYPES = 'text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.1';

/** @throws PageError `unsupported_content` */
export function pageType(
  body: Buffer,
  contentType: string | undefined,
): { readonly extension: FetchedPage['extension']; readonly contentType?: string; readonly charset?: string } {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim());
  const charset = parameters
    .map((parameter) => /^charset\s*=\s*"?([A-Za-z0-9_.:-]{1,40})"?$/i.exec(parameter)?.[1]?.toLowerCase())
    .find((name) => name !== undefined);
  const said = { ...(contentType === undefined ? {} : { contentType }), ...(charset === undefined ? {} : { charset }) };
  const name = type.toLowerCase();
  // Servers that don't know their files say nothing, or this.
  const extension = name === '' || name === 'application/octet-stream' ? sniff(body) : EXTENSION_OF_TYPE[name];
  if (extension !== undefined) return { ...said, extension };
  const what = name === '' ? 'content of an unknown type' : name.slice(0, 100);
  throw new PageError('unsupported_content', `It is ${what}: give addresses of web pages, plain text or PDF`);
}

function sniff(body: Buffer): FetchedPage['extension'] | undefined {
  const head = body.subarray(0, 1024).toString('latin1');
  if (head.includes('%PDF-')) return 'pdf';
  return /^\s*(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(head.replace(/^(?:\xef\xbb\xbf)?/, ''))
    ? 'html'
    : undefined;
}
