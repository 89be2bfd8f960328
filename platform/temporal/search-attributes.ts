import type { Connection } from '@temporalio/client';

import type { Logger } from '../logging.ts';

/** `INDEXED_VALUE_TYPE_KEYWORD`. */
const KEYWORD = 2;

/**
 * Makes keyword search attributes known to a Temporal namespace, where it may.
 *
 * @returns false where they are neither known nor can be made: workflows are started without them then
 */
export async function ensureSearchAttributes(
  connection: Connection,
  { namespace, names, logger }: { readonly namespace: string; readonly names: readonly string[]; readonly logger: Logger },
): Promise<boolean> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = names.filter((name) => customAttributes[name] === undefined);
  if (missing.length === 0) return true;
  try {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD])),
    });
    return true;
  } catch (error) {
    logger.warn(
      { err: error, namespace, missing },
      'Temporal does not know these search attributes and does not let us add them: workflows cannot be found by them; add them as Keyword',
    );
    return false;
  }
}
