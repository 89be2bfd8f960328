/** Where a document's files stand in the storage. */

/** Everything of one document; ends with a slash. */
export const documentFolder = (org: string, documentId: string): string => `${org}/${documentId}/`;

/** The uploaded file itself. */
export const fileKey = (org: string, documentId: string): string => `${documentFolder(org, documentId)}file`;

/** What was read from one address of a website. */
export const pageKey = (org: string, documentId: string, page: number): string => `${documentFolder(org, documentId)}page-${page}`;
