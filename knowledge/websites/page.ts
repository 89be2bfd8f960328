/** What comes of one address of a website. */

/** Why a page was not read. */
export type PageFailureCode =
  /** The address itself may not be called: spelling, scheme, port, or not on the public internet. */
  | 'forbidden_address'
  /** The site's robots.txt asks not to read it, or can't be had. */
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
  /** It redirects to where another address of the list has led already. */
  | 'duplicate';

export interface FetchedPage {
  readonly status: 'fetched';
  /** Of the list that was asked for. */
  readonly index: number;
  /** As it was asked for. */
  readonly url: string;
  /** After redirects. */
  readonly finalUrl: string;
  /** As the server has it; absent where it doesn't say. */
  readonly contentType?: string;
  /** Lower case, from the content type. */
  readonly charset?: string;
  /** Which parser reads it. */
  readonly extension: 'html' | 'pdf' | 'txt';
  readonly body: Buffer;
}

export interface FailedPage {
  readonly status: 'failed';
  readonly index: number;
  readonly url: string;
  readonly finalUrl: string;
  readonly code: PageFailureCode;
  /** For a person: what happened, to which address, what to do. */
  readonly reason: string;
}

export type PageResult = FetchedPage | FailedPage;

/** Ends the fetching of one page; it becomes a {@link FailedPage}. */
export class PageFailure extends Error {
  override readonly name = 'PageFailure';
  readonly code: PageFailureCode;

  constructor(code: PageFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
