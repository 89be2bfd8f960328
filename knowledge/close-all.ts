/** Closes them side by side, each whatever becomes of the others. @throws what the first of them failed with, once all have ended */
export async function closeAll(...opened: readonly { close(): Promise<void> | void }[]): Promise<void> {
  const ended = await Promise.allSettled(opened.map(async (one) => one.close()));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}
