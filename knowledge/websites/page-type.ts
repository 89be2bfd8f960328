/** Which of the fetched pages can be read, and by which parser. */
import { type FetchedPage, PageFailure } from './page.ts';

const extensionOfType: Readonly<Record<string, FetchedPage['extension']>> = {
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

/** What is asked for: anything, but rather this. */
export const acceptedTypes = 'text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.1';

/** @throws PageFailure `unsupported_content` */
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
  const extension = name === '' || name === 'application/octet-stream' ? sniff(body) : extensionOfType[name];
  if (extension !== undefined) return { ...said, extension };
  const what = name === '' ? 'content of an unknown type' : name.slice(0, 100);
  throw new PageFailure('unsupported_content', `It is ${what}: give addresses of web pages, plain text or PDF`);
}

function sniff(body: Buffer): FetchedPage['extension'] | undefined {
  const head = body.subarray(0, 1024).toString('latin1');
  if (head.includes('%PDF-')) return 'pdf';
  return /^\s*(?:<!--(?:(?!-->)[^])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(head.replace(/^(?:\xef\xbb\xbf)?/, ''))
    ? 'html'
    : undefined;
}
