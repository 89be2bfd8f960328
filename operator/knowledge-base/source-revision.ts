/** Identifies the state of a source that a document holds. */

export interface SourceRevision {
  /** Hash of everything that makes the document what it is. */
  readonly content: string;
  /** Counts the attempts at this content, from 1: each is a document of its own. */
  readonly attempt: number;
  /** Stands for the request that this attempt answers; see {@link requestMark}. */
  readonly request: string;
}

/** Writes the revision as Postgres stores it, which accepts each state of a source once however often it is tried. */
export function printRevision({ content, attempt, request }: SourceRevision): string {
  return `${content}.${attempt}.${request}`;
}

/** A text that {@link printRevision} did not print matches no content. */
export function parseRevision(text: string): SourceRevision {
  const [content = '', attempt, request = ''] = text.split('.');
  return { content, attempt: Number(attempt) || 0, request };
}
